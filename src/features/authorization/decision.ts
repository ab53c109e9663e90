import type { Decision } from '#domain/authorizations/authorization-grant.ts';
import { recordDecision } from '#domain/authorizations/record-progress.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { showConsent, showOtherAccount } from './decision-pages.tsx';
import { type AuthorizationDeps, type Flow, openFlow } from './flow.ts';
import { type ActiveViewer, maySeeConsentPage, nextStep } from './next-step.ts';
import { answerFinished, cancelFlow, fulfillFlow, takeStep } from './take-step.tsx';

/** `GET /consent/{grant_id}`: shows the page once nothing else is missing; never makes a code. */
export async function answerConsentPage(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openFlow(deps, context, context.params['grant_id'] ?? '');
  if (opened.state !== 'open') return answerFinished(deps, context, opened);
  const { flow } = opened;
  if (isSilent(flow)) return redirect(deps.urls.authorizationGrant(flow.grant.id));
  const step = nextStep({ ...flow.facts, decision: undefined }, deps);
  if (step.kind === 'other-account') return await showOtherAccount(deps, context, flow, step);
  if (!maySeeConsentPage(step)) return await takeStep(deps, context, flow, step);
  return showConsent(deps, context, flow, step.viewer);
}

/** `POST /authorize` with `grant_id`: what the person chose. Only the stored request counts, no field beside it. */
export async function answerDecision(
  deps: AuthorizationDeps,
  context: RequestContext,
  form: FormParameters,
  grantId: string,
): Promise<HttpResponse> {
  if (form.firstRepeated() !== undefined) throw new LatchkeyError('malformed_request');
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const opened = await openFlow(deps, context, grantId);
  if (opened.state !== 'open') return answerFinished(deps, context, opened);
  const { flow } = opened;
  if (isSilent(flow)) return redirect(deps.urls.authorizationGrant(flow.grant.id));
  const { viewer } = flow.facts;
  const step = nextStep({ ...flow.facts, decision: undefined }, deps);
  const action = form.get('action');
  // Whoever is signed in may give up, also when policy or an old authentication keeps them from going on.
  const mayDecide = maySeeConsentPage(step) || (action === 'cancel' && viewer.kind === 'active' && !isExpired);
  if (viewer.kind !== 'active' || !mayDecide) return await takeStep(deps, context, flow, step);
  if (isExpired) return showConsent(deps, context, flow, viewer, 'csrf_expired');
  if (action !== 'consent' && action !== 'cancel') return showConsent(deps, context, flow, viewer, 'invalid_action');
  return await carryOut(deps, context, flow, viewer, action);
}

async function carryOut(
  deps: AuthorizationDeps,
  context: RequestContext,
  flow: Flow,
  viewer: ActiveViewer,
  decision: Decision,
): Promise<HttpResponse> {
  const { grant } = flow;
  if (grant.target.responseMode === 'form_post') {
    // The answer to a POST must not be a page that posts again: a reload would repeat this one.
    await recordDecision(deps.database, grant.id, decision, viewer.session.id, deps.clock.now());
    return redirect(deps.urls.authorizationGrant(grant.id));
  }
  if (decision === 'cancel') return await cancelFlow(deps, context, flow, 'user');
  return await fulfillFlow(deps, context, flow, viewer, true);
}

/** `prompt=none`: no page is ever shown for it. */
function isSilent(flow: Flow): boolean {
  return flow.grant.prompts.includes('none');
}
