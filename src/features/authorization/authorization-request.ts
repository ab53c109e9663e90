import { bindGrant, isGrantBound } from '#browser/grants-cookie.ts';
import { query } from '#browser/urls.ts';
import { createAuthorizationGrant, type GrantOutcome } from '#domain/authorizations/create-authorization-grant.ts';
import {
  type PushedRequest,
  type PushedRequestRow,
  pushedRequestColumns,
  toPushedRequest,
} from '#domain/authorizations/pushed-request.ts';
import { type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import { type FactorRow, factorColumns } from '#domain/records/due-factor.ts';
import {
  type OpenSessionsRow,
  openSessionsColumns,
  openSessionsJoin,
  toOpenSessions,
} from '#domain/records/session-limit.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { verifyRequestObject } from '#oauth-endpoint/request-object.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { describeError } from '#platform/base/log.ts';
import { sha256 } from '#platform/base/secret.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, type Responded, redirect, responseFor } from '#platform/http/response.ts';
import { isMissingReference } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';
import { deliveryOf, type ResponseMode } from '#protocol/oauth/authorization-response.ts';
import { tellingParameters } from '#protocol/oauth/request-parameters.ts';
import { strongestAcr } from '#protocol/oidc/authentication-classes.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { sealBindTicket } from './browser-binding.ts';
import {
  type AcceptedRequest,
  type CheckedRequest,
  checkRequest,
  identifyClient,
  refuseUnreadable,
  unknownClient,
} from './check-request.ts';
import { nextStep, type Step } from './next-step.ts';
import { refuseClient } from './refuse-client.tsx';
import {
  type AdmissionColumn,
  type AuthorizationDeps,
  admissionColumn,
  type ConsentColumn,
  judgeRequest,
  reachableFactors,
} from './stored-request.ts';
import { takeStep } from './take-step.ts';

/**
 * Handles an authorization request sent by GET. Unless the request is rejected at once, it is stored. The response
 * redirects to the next step, or to the client with a code if nothing is missing.
 */
export async function handleRequest(deps: AuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const parameters = FormParameters.parse(context.rawQuery);
  if (parameters === undefined) {
    const description = 'the query cannot be decoded: it must be form-encoded UTF-8 without NUL';
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined });
    throw unknownClient();
  }
  const requested = await identifyClient(deps, context, parameters);
  const stored = requested.reference === undefined ? undefined : await readStored(deps, context, requested);
  const accepted = await acceptRequest(deps, context, requested, stored);
  if (!accepted.ok) return accepted.response;
  return await reportFaultsToClient(deps, context, accepted, async () =>
    startRequest(deps, context, accepted, stored ?? (await readStored(deps, context, requested))),
  );
}

/**
 * Handles an authorization request sent by POST (OpenID Connect Core 1.0 3.1.2.1). It may come from any site, so no
 * cookies are read. The page that follows reads them. A ticket proves to it that this browser has just sent the
 * request.
 */
export async function handlePostedRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  parameters: FormParameters,
): Promise<HttpResponse> {
  const requested = await identifyClient(deps, context, parameters);
  const pushed = requested.reference === undefined ? undefined : await readPushed(deps, requested);
  const accepted = await acceptRequest(deps, context, requested, pushed);
  if (!accepted.ok) return accepted.response;
  return await reportFaultsToClient(deps, context, accepted, async () => {
    const now = deps.clock.now();
    const made = await storeGrant(deps, context, accepted, undefined, now);
    if (!made.ok) return made.response;
    return redirect(
      deps.urls.authorizationGrant(made.id) + query([['bind', sealBindTicket(deps.keyRing, made.id, now)]]),
    );
  });
}

/** Why a reference to a pushed request cannot be used, for the client's developer. */
const UNUSABLE: Readonly<Record<Exclude<PushedRequest['state'], 'waiting'>, string>> = {
  unknown: 'request_uri does not match a request that this client has pushed',
  expired: 'the pushed request has expired: push it immediately before redirecting the browser',
  used: 'the pushed request was already used: each is valid for only one authorization request',
};

/**
 * Steps 3 to 14 of oauth 6.3. A reference that this browser has already used is valid until it expires, because the
 * user may have reloaded the page (RFC 9126 4).
 * @param stored row of the pushed request; undefined if the request carries its own parameters
 */
async function acceptRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  requested: CheckedRequest,
  stored: PushedRequestRow | undefined,
): Promise<AcceptedRequest | Responded> {
  const { client, plain } = requested;
  if (plain.has('request')) {
    if (plain.has('request_uri')) {
      const description = 'request and request_uri must not be used together';
      return responseFor(await refuseUnreadable(deps, context, requested, 'invalid_request', description));
    }
    const read = await verifyRequestObject(deps, client, plain);
    if (!read.ok)
      return responseFor(await refuseUnreadable(deps, context, requested, 'invalid_request_object', read.problem));
    return await checkRequest(deps, context, requested, {
      parameters: read.parameters,
      isPushed: false,
      isSigned: true,
    });
  }
  if (requested.reference === undefined) {
    return await checkRequest(deps, context, requested, { parameters: plain, isPushed: false, isSigned: false });
  }
  const now = deps.clock.now();
  const pushed = toPushedRequest(stored, client.id, now);
  if (pushed.state === 'used' && context.method === 'GET' && isGrantBound(context, pushed.grantId, now)) {
    return responseFor(redirect(deps.urls.authorizationGrant(pushed.grantId)));
  }
  if (pushed.state !== 'waiting') {
    return responseFor(await refuseUnreadable(deps, context, requested, 'invalid_request_uri', UNUSABLE[pushed.state]));
  }
  const { parameters, isSigned } = pushed;
  return await checkRequest(deps, context, requested, {
    parameters: FormParameters.of(parameters),
    isPushed: true,
    isSigned,
  });
}

async function startRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  accepted: AcceptedRequest,
  stored: StoredRow | undefined,
): Promise<HttpResponse> {
  const { client, request, expectedSubjects, locale } = accepted;
  const now = deps.clock.now();
  const viewer = await deps.viewers.accept(context, stored);
  const openSessions = toOpenSessions(stored);
  const facts = {
    request: { ...request, expectedSubjects, locale, createdAt: now },
    client,
    viewer,
    remembered: stored?.consent_scope ?? [],
    rememberedResources: stored?.consent_resources ?? [],
    strongestAcr: strongestAcr(reachableFactors(deps, stored)),
    openSessions,
    isAdmitted: stored?.is_admitted === true,
    refusals: await judgeRequest(deps, context, { client, viewer, scope: request.scope, openSessions }),
    isBound: true,
    isRegistrationOffered: false,
    decision: undefined,
    now,
  };
  const step = nextStep(facts, deps);
  // Nothing is stored for a request that ends here (security S-10).
  if (step.kind === 'refuse') {
    const { redirectUri } = request.target;
    logRefusal(deps.log, {
      code: step.error,
      description: step.description,
      client,
      redirectUri,
      setting: step.setting,
    });
    return await refuseClient(deps, context, { client, target: request.target, isSilent: true }, step, locale);
  }

  const made = await storeGrant(deps, context, accepted, viewer.kind === 'active' ? viewer.user.id : undefined, now);
  if (!made.ok) return made.response;
  const { id } = made;
  bindGrant(context, id, now);
  if (isPage(step, request.target.responseMode)) return redirect(deps.urls.authorizationGrant(id));
  return await takeStep(deps, context, { grant: { ...facts.request, id }, client }, step);
}

/** Steps with a page show it at the URL of the stored request, where a reload does not create another request. */
function isPage(step: Step, responseMode: ResponseMode): boolean {
  if (step.kind === 'fulfill') return deliveryOf(responseMode) === 'form_post';
  return step.kind === 'interstitial' || step.kind === 'forbidden';
}

type StoredRow = ViewerRow & FactorRow & ConsentColumn & AdmissionColumn & PushedRequestRow & OpenSessionsRow;

/**
 * Reads what the database knows about the request before a grant is created. Returns undefined if the request has
 * neither a session cookie nor a reference.
 */
async function readStored(
  { database, viewers, clock, sessionLimit }: AuthorizationDeps,
  context: RequestContext,
  { client, reference }: CheckedRequest,
): Promise<StoredRow | undefined> {
  const cookie = viewers.cookie(context);
  if (cookie === undefined && reference === undefined) return undefined;
  return await database.first(findStored, {
    browserSessionId: cookie === undefined ? null : toUuid(cookie.id),
    clientId: toUuid(client.id),
    requestUriHash: reference === undefined ? null : sha256(reference),
    countedSince: sessionLimit.countedSince(clock.now()),
    now: new Date(clock.now()),
  });
}

/** Reads the signed-in user, the user's consent for this client, and the pushed request, with one lookup each. */
const findStored = statement<
  StoredRow,
  {
    readonly browserSessionId: string | null;
    readonly clientId: string;
    readonly requestUriHash: Buffer | null;
    readonly countedSince: Date | null;
    readonly now: Date;
  }
>(
  'authorization.viewer-consent-and-pushed-request',
  `select ${viewerColumns}, ${factorColumns('viewer_user.id')}, consent.scope as consent_scope, consent.resources as consent_resources,
          ${pushedRequestColumns('pushed')}, ${openSessionsColumns}, ${admissionColumn(':clientId::uuid')}
     from (select 1) as one
     left join oauth2_pushed_requests pushed on pushed.request_uri_hash = :requestUriHash::bytea
     ${viewerJoin(':browserSessionId::uuid')}
     left join oauth2_consents consent on consent.user_id = viewer_user.id and consent.client_id = :clientId::uuid
     ${openSessionsJoin('viewer_user.id', ':countedSince::timestamptz', ':now::timestamptz')}`,
);

async function readPushed(
  { database }: AuthorizationDeps,
  { reference }: CheckedRequest,
): Promise<PushedRequestRow | undefined> {
  return await database.first(findPushed, { requestUriHash: sha256(reference ?? '') });
}

/** Lookup by primary key. */
const findPushed = statement<PushedRequestRow, { readonly requestUriHash: Buffer }>(
  'authorization.pushed-request',
  `select ${pushedRequestColumns('pushed')}
     from oauth2_pushed_requests pushed where pushed.request_uri_hash = :requestUriHash::bytea`,
);

/**
 * Stores the grant. Returns the response instead if the pushed request has just been used. Throws if there are too many
 * grants.
 */
async function storeGrant(
  deps: AuthorizationDeps,
  context: RequestContext,
  accepted: AcceptedRequest,
  userId: UserId | undefined,
  now: number,
): Promise<Extract<GrantOutcome, { readonly ok: true }> | Responded> {
  const { client, request, parameters, reference, expectedSubjects, locale } = accepted;
  const made = await createAuthorizationGrant(deps.database, {
    clientId: client.id,
    request,
    parameters: deps.upstream.providers.anyReceivesRequests ? tellingParameters(parameters) : undefined,
    reference,
    expectedSubjects,
    locale,
    address: context.clientAddress,
    userId,
    now,
    lifetimeSeconds: deps.config.oauth.authorizationGrantTtlSeconds,
  }).catch((error: unknown) => {
    // The client was deleted after it was read, possibly by another instance.
    if (!isMissingReference(error)) throw error;
    deps.clients.forget(client.id);
    const description = 'the client was deleted while the request was processed';
    logRefusal(deps.log, { code: 'invalid_request', description, client, redirectUri: request.target.redirectUri });
    throw unknownClient();
  });
  if (made.ok) return made;
  if (made.reason === 'reference-used') {
    return responseFor(await refuseUnreadable(deps, context, accepted, 'invalid_request_uri', UNUSABLE.used));
  }
  const description = 'too many unfinished authorization requests from this address or user in the last hour';
  logRefusal(deps.log, { code: 'rate_limited', description, client, redirectUri: request.target.redirectUri });
  throw new LatchkeyError('rate_limited', { description, retryAfterSeconds: made.retryAfterSeconds });
}

/**
 * Reports internal errors to the client once its redirect URI is verified (RFC 6749 4.1.2.1). Overload shows a page
 * with status 503 instead, where the user can retry. A client that receives this error would only send the next
 * request.
 */
async function reportFaultsToClient(
  deps: AuthorizationDeps,
  context: RequestContext,
  { client, request: { target } }: AcceptedRequest,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof LatchkeyError ? error.code : 'internal';
    if (code !== 'internal') throw error;
    deps.log.error('error', 'authorization request failed', describeError(error));
    const description = `internal error, reference ${context.task.id}`;
    const refused = { client, target, isSilent: false };
    return await refuseClient(deps, context, refused, { error: 'server_error', description }, undefined);
  }
}
