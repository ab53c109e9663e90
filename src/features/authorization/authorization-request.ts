import { bindGrant } from '#browser/grants-cookie.ts';
import { query } from '#browser/urls.ts';
import { createAuthorizationGrant } from '#domain/authorizations/create-authorization-grant.ts';
import { type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type AuthorizationGrantId, toUuid, type UserId } from '#platform/base/ids.ts';
import { describeError } from '#platform/base/log.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ResponseMode, ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import { sealBindTicket } from './browser-binding.ts';
import { type AcceptedRequest, checkRequest, unknownClient } from './check-request.ts';
import { answerClient } from './finish-request.tsx';
import { nextStep, type Step } from './next-step.ts';
import { logRefusal } from './refusal-log.ts';
import type { AuthorizationDeps, ConsentColumn } from './stored-request.ts';
import { takeStep } from './take-step.ts';

/**
 * An authorization request by GET: stored, unless it can be refused at once, and answered by the address of the next
 * step, or by the code when nothing is missing.
 */
export async function answerRequest(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const parameters = FormParameters.parse(context.rawQuery);
  if (parameters === undefined) {
    const description = 'the query cannot be decoded: it has to be form-encoded UTF-8 without NUL';
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined });
    throw unknownClient();
  }
  const accepted = await checkRequest(deps, context, parameters);
  if (!('client' in accepted)) return accepted;
  return await reportFaultsToClient(deps, context, accepted.request.target, () =>
    startRequest(deps, context, accepted),
  );
}

/**
 * The same by POST (OpenID Connect Core 1.0 3.1.2.1). It may come from any site, so nothing is read from cookies: the
 * page that follows does that, and knows by a ticket that this browser has just asked.
 */
export async function answerPostedRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  parameters: FormParameters,
): Promise<HttpResponse> {
  const accepted = await checkRequest(deps, context, parameters);
  if (!('client' in accepted)) return accepted;
  return await reportFaultsToClient(deps, context, accepted.request.target, async () => {
    const now = deps.clock.now();
    const id = await storeGrant(deps, context, accepted, undefined, now);
    return redirect(deps.urls.authorizationGrant(id) + query([['bind', sealBindTicket(deps.keyRing, id, now)]]));
  });
}

async function startRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  accepted: AcceptedRequest,
): Promise<HttpResponse> {
  const { client, request, expectedUserId, locale } = accepted;
  const { database, viewers } = deps;
  const now = deps.clock.now();
  const cookie = viewers.cookie(context);
  const row =
    cookie === undefined
      ? undefined
      : await database.first(readViewerAndConsent, {
          browserSessionId: toUuid(cookie.id),
          clientId: toUuid(client.id),
        });
  const viewer = await viewers.accept(context, row);
  const facts = {
    request: { ...request, expectedUserId, locale, createdAt: now },
    client,
    viewer,
    remembered: row?.consent_scope ?? [],
    rememberedResources: row?.consent_resources ?? [],
    isBound: true,
    isRegistrationOffered: false,
    decision: undefined,
    now,
  };
  const step = nextStep(facts, deps);
  // Nothing is stored for a request that ends here (security S-10).
  if (step.kind === 'refuse') {
    const { redirectUri } = request.target;
    logRefusal(deps.log, { code: step.error, description: step.description, client, redirectUri });
    return answerClient(deps, context, request.target, step, locale);
  }

  const id = await storeGrant(deps, context, accepted, viewer.kind === 'active' ? viewer.user.id : undefined, now);
  bindGrant(context, id, now);
  if (isPage(step, request.target.responseMode)) return redirect(deps.urls.authorizationGrant(id));
  return await takeStep(deps, context, { grant: { ...facts.request, id }, client }, step);
}

/** A step that shows a page does so at the address of the stored request, where a reload does not make another one. */
function isPage(step: Step, responseMode: ResponseMode): boolean {
  if (step.kind === 'fulfill') return responseMode === 'form_post';
  return step.kind === 'interstitial' || step.kind === 'forbidden';
}

/** Who is signed in, and what they have allowed this client before; one look-up each. */
const readViewerAndConsent = statement<
  ViewerRow & ConsentColumn,
  { readonly browserSessionId: string; readonly clientId: string }
>(
  'authorization.viewer-and-consent',
  `select ${viewerColumns}, consent.scope as consent_scope, consent.resources as consent_resources
     from (select 1) as one
     ${viewerJoin(':browserSessionId::uuid')}
     left join oauth2_consents consent on consent.user_id = viewer_user.id and consent.client_id = :clientId::uuid`,
);

async function storeGrant(
  deps: AuthorizationDeps,
  context: RequestContext,
  { client, request, expectedUserId, locale }: AcceptedRequest,
  userId: UserId | undefined,
  now: number,
): Promise<AuthorizationGrantId> {
  const id = await createAuthorizationGrant(deps.database, {
    clientId: client.id,
    request,
    expectedUserId,
    locale,
    address: context.clientAddress,
    userId,
    now,
    lifetimeSeconds: deps.config.oauth.authorizationGrantTtlSeconds,
  });
  if (id === undefined) {
    const description = 'too many authorization requests of this address or user led to nothing in the last hour';
    logRefusal(deps.log, { code: 'rate_limited', description, client, redirectUri: request.target.redirectUri });
    throw new LatchkeyError('rate_limited', { description });
  }
  return id;
}

/**
 * Once the client's redirect URI is proven, the client learns of our defects (RFC 6749 4.1.2.1). Overload is a page
 * with status 503, on which the person can try again: a client that is told so would only send the next request.
 */
async function reportFaultsToClient(
  deps: AuthorizationDeps,
  context: RequestContext,
  target: ResponseTarget,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof LatchkeyError ? error.code : 'internal';
    if (code !== 'internal') throw error;
    deps.log.error('error', 'an authorization request could not be answered', describeError(error));
    const description = `internal error, reference ${context.task.id}`;
    return answerClient(deps, context, target, { error: 'server_error', description });
  }
}
