/**
 * The authorization endpoint (RFC 6749 4.1, OpenID Connect Core 1.0 3.1.2) and the pages between a request and its
 * response:
 *
 * - `GET /authorize`: a request; the response is the next step, or goes to the client at once
 * - `POST /authorize`: a request in a form, or with `grant_id` the decision of the consent page
 * - `GET /authorize/{grant_id}`: the next step of a stored request, until the client gets its response
 * - `GET /consent/{grant_id}`: the consent page
 *
 * A request is a row of `domain/authorizations`. On every visit, `next-step.ts` derives from the row what is still
 * missing. Sign-in, reauthentication and registration are separate features, reached by redirects to their pages.
 */
import type { Browser } from '#browser/browser.ts';
import type { Decision } from '#domain/authorizations/authorization-grant.ts';
import { recordDecision } from '#domain/authorizations/record-progress.ts';
import type { Core } from '#domain/core.ts';
import { ClientDocuments } from '#oauth-endpoint/client-documents.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { EmbeddableRequest, Route } from '#platform/http/route.ts';
import { deliveryOf } from '#protocol/oauth/authorization-response.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import { handlePostedRequest, handleRequest } from './authorization-request.ts';
import { EMBEDDED } from './check-request.ts';
import { showConsent, showOtherAccount, showRefusedForm } from './decision-pages.tsx';
import { cancelRequest, fulfillRequest, respondFinished } from './finish-request.tsx';
import { type ActiveViewer, maySeeConsentPage, nextStep } from './next-step.ts';
import { type AuthorizationDeps, type OpenRequest, openRequest } from './stored-request.ts';
import { takeStep } from './take-step.ts';

export function mount(core: Core, browser: Browser): Route[] {
  const { account, adminArea, oauth } = core.config;
  const deps: AuthorizationDeps = {
    ...core,
    ...browser,
    reauthMaxAgeSeconds: account.reauthMaxAgeSeconds,
    adminArea,
    rememberConsent: oauth.rememberConsent,
    clientDocuments: new ClientDocuments(core),
  };
  const page = { resource: 'human', errorFormat: 'page' } as const;
  return [
    {
      ...page,
      method: 'GET',
      path: '/authorize',
      headRefused: true,
      embedding: (request) => isSilentInFrame(request) || logEmbedding(deps, request),
      handle: (context) => handleRequest(deps, context),
    },
    {
      ...page,
      method: 'POST',
      path: '/authorize',
      formRules: 'protocol',
      embedding: (request) => logEmbedding(deps, request),
      handle: (context) => handlePost(deps, context),
    },
    {
      ...page,
      method: 'GET',
      path: '/authorize/:grant_id',
      headRefused: true,
      handle: (context) => handleContinuation(deps, context),
    },
    { ...page, method: 'GET', path: '/consent/:grant_id', handle: (context) => handleConsentPage(deps, context) },
  ];
}

async function handlePost(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await readPostedForm(deps, context);
  const grantId = form.get('grant_id');
  if (grantId === undefined) return await handlePostedRequest(deps, context, form);
  if (form.has('client_id')) {
    const description = 'grant_id and client_id must not be used together';
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined, parameters: form });
    throw new LatchkeyError('invalid_request', { description });
  }
  try {
    return await handleDecision(deps, context, form, grantId);
  } catch (error) {
    if (!(error instanceof LatchkeyError) || !FORM_CODES.has(error.code)) throw error;
    return showRefusedForm(deps, context, error, grantId);
  }
}

/** Throws the errors of `readForm`. */
async function readPostedForm(deps: AuthorizationDeps, context: RequestContext): Promise<FormParameters> {
  try {
    return await context.readForm();
  } catch (error) {
    if (error instanceof LatchkeyError && error.code !== 'internal') {
      const { code, description = ERRORS[code].description ?? 'the body is not a valid form' } = error;
      logRefusal(deps.log, { code, description, client: undefined });
    }
    throw error;
  }
}

const FORM_CODES: ReadonlySet<LatchkeyError['code']> = new Set(['cross_site_request', 'csrf_mismatch', 'csrf_missing']);

/** `GET /authorize/{grant_id}`: takes the next step of a stored request. */
async function handleContinuation(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openRequest(deps, context, context.params['grant_id'] ?? '');
  if (opened.state !== 'open') return await respondFinished(deps, context, opened);
  const { request } = opened;
  return await takeStep(deps, context, request, nextStep(request.facts, deps));
}

/** `GET /consent/{grant_id}`: shows the page when nothing else is missing. Never creates a code. */
async function handleConsentPage(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openRequest(deps, context, context.params['grant_id'] ?? '');
  if (opened.state !== 'open') return await respondFinished(deps, context, opened);
  const { request } = opened;
  if (isSilent(request)) return redirect(deps.urls.authorizationGrant(request.grant.id));
  const step = nextStep({ ...request.facts, decision: undefined }, deps);
  if (step.kind === 'other-account') return await showOtherAccount(deps, context, request, step);
  if (!maySeeConsentPage(step)) return await takeStep(deps, context, request, step);
  return await showConsent(deps, context, request, step.viewer);
}

/**
 * `POST /authorize` with `grant_id`: the user's decision. Only the stored request counts. The form's other fields are
 * ignored.
 */
async function handleDecision(
  deps: AuthorizationDeps,
  context: RequestContext,
  form: FormParameters,
  grantId: string,
): Promise<HttpResponse> {
  if (form.firstRepeated() !== undefined) throw new LatchkeyError('malformed_request');
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const opened = await openRequest(deps, context, grantId);
  if (opened.state !== 'open') return await respondFinished(deps, context, opened);
  const { request } = opened;
  if (isSilent(request)) return redirect(deps.urls.authorizationGrant(request.grant.id));
  const { viewer } = request.facts;
  const step = nextStep({ ...request.facts, decision: undefined }, deps);
  const action = form.get('action');
  // Every signed-in user may cancel, even if the policy or an old authentication prevents them from continuing.
  const mayDecide = maySeeConsentPage(step) || (action === 'cancel' && viewer.kind === 'active' && !isExpired);
  if (viewer.kind !== 'active' || !mayDecide) return await takeStep(deps, context, request, step);
  if (isExpired) return await showConsent(deps, context, request, viewer, 'csrf_expired');
  if (action !== 'consent' && action !== 'cancel')
    return await showConsent(deps, context, request, viewer, 'invalid_action');
  return await carryOut(deps, context, request, viewer, action);
}

async function carryOut(
  deps: AuthorizationDeps,
  context: RequestContext,
  request: OpenRequest,
  viewer: ActiveViewer,
  decision: Decision,
): Promise<HttpResponse> {
  const { grant } = request;
  if (deliveryOf(grant.target.responseMode) === 'form_post') {
    // The response to a POST must not be a page that posts a form, because a reload would repeat this POST.
    await recordDecision(deps.database, grant.id, decision, viewer.session.id, deps.clock.now());
    return redirect(deps.urls.authorizationGrant(grant.id));
  }
  if (decision === 'cancel') return await cancelRequest(deps, context, request);
  return await fulfillRequest(deps, context, request, viewer, true);
}

/** `prompt=none`: no page is ever shown for such a request. */
function isSilent(request: OpenRequest): boolean {
  return request.grant.prompts.includes('none');
}

/**
 * A `prompt=none` request from a frame (OpenID Connect Core 1.0 3.1.2.1). It shows nothing, so clickjacking is
 * impossible. The prompt of a pushed or signed request is read later (`requireSilenceInFrames`).
 */
function isSilentInFrame({ headers, query }: EmbeddableRequest): boolean {
  const isPossible = query.get('prompt') === 'none' || query.has('request') || query.has('request_uri');
  return headers['sec-fetch-dest'] === 'iframe' && isPossible;
}

/** Logs the rejected embedding for the application's developer. Always returns false. */
function logEmbedding({ log }: AuthorizationDeps, { query }: EmbeddableRequest): false {
  logRefusal(log, { code: 'embedding_refused', description: EMBEDDED, client: undefined, parameters: query });
  return false;
}
