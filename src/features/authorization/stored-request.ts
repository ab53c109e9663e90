import type { PageDeps } from '#browser/browser.ts';
import { bindGrant, isGrantBound } from '#browser/grants-cookie.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import type { LanguageRequest, Pages } from '#browser/pages.ts';
import {
  type AuthorizationGrant,
  type GrantRow,
  grantColumns,
  grantState,
  type PendingRequest,
  toGrant,
} from '#domain/authorizations/authorization-grant.ts';
import { cancelAuthorizationGrant } from '#domain/authorizations/cancel-authorization-grant.ts';
import { type Viewer, type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import type { Client } from '#domain/clients/client.ts';
import { judgeGrant } from '#domain/policy/judge-grant.ts';
import type { Violation } from '#domain/policy/violations.ts';
import { type FactorRow, factorColumns } from '#domain/records/due-factor.ts';
import { clientAdmits } from '#domain/records/liveness/clients.ts';
import {
  type OpenSessionsRow,
  openSessionsColumns,
  openSessionsJoin,
  type SessionLimit,
  toOpenSessions,
} from '#domain/records/session-limit.ts';
import type { ClientDocuments } from '#oauth-endpoint/client-documents.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { statement } from '#platform/postgres/statement.ts';
import { redirectUriMatches } from '#protocol/oauth/redirect-uris.ts';
import { strongestAcr } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { AuthorizationGrantId } from '#vocabulary/ids.ts';
import { opensBindTicket } from './browser-binding.ts';
import type { StepFacts, StepRules } from './next-step.ts';

/** Core and browser, with the rules of `nextStep`. */
export type AuthorizationDeps = PageDeps &
  StepRules & { readonly sessionLimit: SessionLimit; readonly clientDocuments: ClientDocuments };

/** A request with a row, so that it can continue. */
export interface StoredRequest {
  readonly grant: PendingRequest & Pick<AuthorizationGrant, 'id'>;
  readonly client: Client;
}

/** A stored request with everything that was read for it. */
export interface OpenRequest extends StoredRequest {
  readonly facts: StepFacts;
}

export type Opened =
  | { readonly state: 'open'; readonly request: OpenRequest }
  /** `client` is undefined if the response must no longer be sent to it. */
  | { readonly state: 'expired'; readonly grant: AuthorizationGrant; readonly client: Client | undefined }
  /** `isOpening`: this browser session has just received the code. */
  | { readonly state: 'used'; readonly isOpening: boolean };

const DOUBLE_SUBMIT_MS = 10_000;

/**
 * Reads a stored request with one statement, and determines whether it can continue: steps 1 to 3 of oauth 7.3. Sets
 * the viewer as the request's requester. Throws `not_found`, or `invalid_redirect_uri` if the client no longer has that
 * URI.
 */
export async function openRequest(deps: AuthorizationDeps, context: RequestContext, idText: string): Promise<Opened> {
  const { database, clients, clock, viewers } = deps;
  const id = parseId<'authorization-grant'>(idText);
  const cookie = viewers.cookie(context);
  const now = clock.now();
  const row = await database.first(readContinuation, {
    grantId: id === undefined ? null : toUuid(id),
    browserSessionId: cookie === undefined ? null : toUuid(cookie.id),
    countedSince: deps.sessionLimit.countedSince(now),
    now: new Date(now),
  });
  const viewer = await viewers.accept(context, row);
  if (row === undefined || row.grant_id === null) throw new LatchkeyError('not_found');
  const grant = toGrant(row);
  const state = grantState(grant, now);
  if (state !== 'pending' && state !== 'expired') {
    return { state: 'used', isOpening: state === 'fulfilled' && isOpening(grant, viewer, now) };
  }
  const client = await clients.find(grant.clientId);
  const mayRespond = client !== undefined && mayReceiveResponse(client, grant);
  if (state === 'expired') return { state, grant, client: mayRespond ? client : undefined };
  if (!mayRespond) {
    await cancelAuthorizationGrant(database, grant.id, 'redirect-uri-removed', now);
    const description = 'the client or its redirect_uri was removed while the request was pending';
    logRefusal(deps.log, { code: 'invalid_redirect_uri', description, client, redirectUri: grant.target.redirectUri });
    throw new LatchkeyError('invalid_redirect_uri', { description });
  }
  const openSessions = toOpenSessions(row);
  const facts = {
    request: grant,
    client,
    viewer,
    remembered: row.consent_scope ?? [],
    rememberedResources: row.consent_resources ?? [],
    strongestAcr: strongestAcr(reachableFactors(deps, row)),
    openSessions,
    isAdmitted: row.is_admitted === true,
    refusals: await judgeRequest(deps, context, { client, viewer, scope: grant.scope, openSessions }),
    isBound: isBoundHere(deps, context, grant.id, now),
    isRegistrationOffered: grant.isRegistrationOffered,
    decision: isOwn(grant, viewer) ? grant.decision : undefined,
    now,
  };
  return { state: 'open', request: { grant, client, facts } };
}

/**
 * Checks the signed-in user's request against the operator's rules. Without a signed-in user there is nothing to check.
 */
export async function judgeRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  {
    viewer,
    openSessions,
    ...requested
  }: Pick<StepFacts, 'client' | 'viewer' | 'openSessions'> & Pick<PendingRequest, 'scope'>,
): Promise<readonly Violation[]> {
  if (viewer.kind !== 'active') return [];
  const sessionCount = deps.sessionLimit.isCounting ? openSessions.count : undefined;
  return await judgeGrant(
    deps,
    { ...requested, user: viewer.user, grantType: 'authorization_code', sessionCount },
    context,
  );
}

/** Users cannot use a factor that the operator has disabled. */
export function reachableFactors(
  { secondFactors, signIn }: Pick<AuthorizationDeps, 'secondFactors' | 'signIn'>,
  row: FactorRow | undefined,
) {
  return {
    hasTotp: row?.has_totp === true && secondFactors.policy !== 'off',
    hasPasskey: row?.has_passkey === true && signIn.relyingParty !== undefined,
  };
}

export interface ConsentColumn {
  /** Scopes that the viewer has already granted to the client. */
  readonly consent_scope: readonly string[] | null;
  readonly consent_resources: readonly string[] | null;
}

export interface AdmissionColumn {
  /** Whether the viewer may use the client. */
  readonly is_admitted: boolean;
}

/** Uses the primary key. @param client expression of the ID */
export function admissionColumn(client: string): string {
  return `(select ${clientAdmits('asking', 'viewer_user')} from oauth2_clients asking where asking.id = ${client}) as is_admitted`;
}

type ContinuationRow = ViewerRow &
  FactorRow &
  ConsentColumn &
  AdmissionColumn &
  OpenSessionsRow &
  (GrantRow | { readonly grant_id: null });

/** Reads the grant, the signed-in user, and the user's consent for the client. Returns a row even without the grant. */
const readContinuation = statement<
  ContinuationRow,
  {
    readonly grantId: string | null;
    readonly browserSessionId: string | null;
    readonly countedSince: Date | null;
    readonly now: Date;
  }
>(
  'authorization.continuation',
  `select ${grantColumns('pending')}, ${viewerColumns}, consent.scope as consent_scope,
          consent.resources as consent_resources, ${factorColumns('viewer_user.id')}, ${openSessionsColumns},
          ${admissionColumn('pending.client_id')}
     from (select 1) as one
     left join oauth2_authorization_grants pending on pending.id = :grantId::uuid
     ${viewerJoin(':browserSessionId::uuid')}
     left join oauth2_consents consent on consent.user_id = viewer_user.id and consent.client_id = pending.client_id
     ${openSessionsJoin('viewer_user.id', ':countedSince::timestamptz', ':now::timestamptz')}`,
);

/** Tests whether the request's redirect URI still belongs to the client. */
function mayReceiveResponse(client: Client, grant: AuthorizationGrant): boolean {
  const owner = { ...client, isPublic: client.authMethod === 'none' };
  return redirectUriMatches(owner, grant.target.redirectUri);
}

/** Returns the action that continues this request after sign-in. */
export function continuation(id: AuthorizationGrantId): PostAuthAction {
  return { kind: 'continue_authorization_grant', id };
}

function isOpening(grant: AuthorizationGrant, viewer: Viewer, now: number): boolean {
  return isOwn(grant, viewer) && grant.fulfilledAt !== undefined && now - grant.fulfilledAt < DOUBLE_SUBMIT_MS;
}

function isOwn(grant: AuthorizationGrant, viewer: Viewer): boolean {
  return viewer.kind === 'active' && viewer.session.id === grant.browserSessionId;
}

/** Tests whether the request is bound to this browser, by the cookie or by the ticket of a form posted just now. */
function isBoundHere(deps: AuthorizationDeps, context: RequestContext, id: AuthorizationGrantId, now: number): boolean {
  if (isGrantBound(context, id, now)) return true;
  const ticket = context.method === 'GET' ? context.query.get('bind') : undefined;
  if (ticket === undefined || !opensBindTicket(deps.keyRing, id, ticket, now)) return false;
  bindGrant(context, id, now);
  return true;
}

const NO_QUERY = FormParameters.of({});

/**
 * Returns the language of a page about an authorization request. The query is ignored: `ui_locales` there is the
 * client's wish for this request, and must not be remembered as the user's.
 * @param locale the installed language that the client requested
 */
export function readerLanguage(
  pages: Pages,
  context: Pick<LanguageRequest, 'headers' | 'cookies'>,
  locale: string | undefined,
): Translations {
  return pages.language({ headers: context.headers, cookies: context.cookies, query: NO_QUERY }, locale);
}
