/**
 * The authorization endpoint (RFC 6749 4.1, OpenID Connect Core 1.0 3.1.2) and what lies between a request and its
 * answer:
 *
 * - `GET /authorize`: a request; leads to the next step or at once to the client
 * - `POST /authorize`: a request in a form, or with `grant_id` the decision of the consent page
 * - `GET /authorize/{grant_id}`: goes on after each step, until the client gets its answer
 * - `GET /consent/{grant_id}`: asks
 *
 * A request is a row (`domain/authorization-grants`); `next-step.ts` decides from it, on every visit anew, what is
 * still missing. Signing in and proving presence are other features, reached by their addresses.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { requestByGet, requestByPost } from './authorization-request.ts';
import { answerConsentPage, answerDecision } from './decision.ts';
import { showRefusedForm } from './decision-pages.tsx';
import { type AuthorizationDeps, openFlow } from './flow.ts';
import { nextStep } from './next-step.ts';
import { answerFinished, takeStep } from './take-step.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const { account, oauth } = core.config;
  const deps: AuthorizationDeps = {
    ...core,
    ...browser,
    reauthMaxAgeSeconds: account.reauthMaxAgeSeconds,
    rememberConsent: oauth.rememberConsent,
  };
  const page = { resource: 'human', errorFormat: 'page' } as const;
  return [
    {
      ...page,
      method: 'GET',
      path: '/authorize',
      headRefused: true,
      embedding: 'silent',
      handle: (context) => requestByGet(deps, context),
    },
    {
      ...page,
      method: 'POST',
      path: '/authorize',
      formRules: 'protocol',
      handle: (context) => answerPost(deps, context),
    },
    {
      ...page,
      method: 'GET',
      path: '/authorize/:grant_id',
      headRefused: true,
      handle: (context) => answerContinuation(deps, context),
    },
    { ...page, method: 'GET', path: '/consent/:grant_id', handle: (context) => answerConsentPage(deps, context) },
  ];
}

async function answerPost(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const grantId = form.get('grant_id');
  if (grantId === undefined) return await requestByPost(deps, context, form);
  if (form.has('client_id')) {
    throw new LatchkeyError('invalid_request', { description: 'grant_id and client_id exclude each other' });
  }
  try {
    return await answerDecision(deps, context, form, grantId);
  } catch (error) {
    if (!(error instanceof LatchkeyError) || !FORM_CODES.has(error.code)) throw error;
    return showRefusedForm(deps, context, error, grantId);
  }
}

async function answerContinuation(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openFlow(deps, context, context.params['grant_id'] ?? '');
  if (opened.state !== 'open') return answerFinished(deps, context, opened);
  const { flow } = opened;
  return await takeStep(deps, context, flow, nextStep(flow.facts, deps));
}

const FORM_CODES: ReadonlySet<LatchkeyError['code']> = new Set(['cross_site_request', 'csrf_mismatch', 'csrf_missing']);
