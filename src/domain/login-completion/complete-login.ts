/**
 * Opens or renews a session for a user who proved their identity with a passkey alone or with the last factor of a
 * pending login. Owns no table: one statement writes the session, the pending login, the event and the email, from
 * parts that their modules provide.
 */

import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { KnownBrowser } from '#domain/browser-sessions/known-browsers.ts';
import { isUnknownBrowser, newSigninCtes } from '#domain/browser-sessions/new-signin-notice.ts';
import {
  newRenewal,
  RENEWAL_COLUMNS,
  type RenewalParams,
  type RenewalRow,
  renewalCtes,
} from '#domain/browser-sessions/renew-session.ts';
import { insertAuthentications, insertSession } from '#domain/browser-sessions/start-browser-session.ts';
import { finishSurplusSessions, liveSessionsSql } from '#domain/browser-sessions/surplus-sessions.ts';
import { newSessionKey, type SessionCookie, type SessionCredentials } from '#domain/records/browser-session.ts';
import type { SecondFactorRules } from '#domain/records/due-factor.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import { COMPLETED_LOGIN_CTES, type CompletedLoginParams } from '#domain/second-factors/complete-pending-login.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import { type TrustParams, trustBrowserCte } from '#domain/second-factors/trusted-browsers.ts';
import { bindAuthorization } from '#domain/upstream/bind-authorization.ts';
import { linkAfterFactor, lockForLink } from '#domain/upstream/link-by-name.ts';
import type { EnabledMethods } from '#domain/upstream/login-methods.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { sha256 } from '#platform/base/secret.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { strengthOf, type VerifiedFactor } from '#protocol/oidc/authentication-classes.ts';
import type { UserId } from '#vocabulary/ids.ts';

export interface CompletionDeps {
  readonly signIn: { readonly methods: EnabledMethods };
  readonly clock: Clock;
  readonly log: Log;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
  readonly secondFactors: Pick<SecondFactorRules, 'isRequiredOnReauth'>;
}

/** The request that results in a session. */
export interface CompletionRequest {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly knownBrowsers: readonly KnownBrowser[];
  /** Language of the page, for the email to an owner whose preferred language is unknown. */
  readonly language: string;
  /** The cookie of the session to renew. */
  readonly cookie?: SessionCookie | undefined;
  /** Set if the user asked not to enter a second factor in this browser. */
  readonly trust?: { readonly nonce: string; readonly until: Date } | undefined;
}

export type CompletionOutcome =
  /** `session`: new contents of the cookie; undefined to keep the cookie. */
  | { readonly ok: true; readonly session: SessionCredentials | undefined; readonly user: User }
  | { readonly ok: false; readonly reason: 'locked' | 'deactivated'; readonly user: User }
  /** The session to renew has ended. */
  | { readonly ok: false; readonly reason: 'ended'; readonly user: User }
  /** The login was already completed, has expired, or its first factor was removed. */
  | { readonly ok: false; readonly reason: 'not-open' };

/**
 * Completes a pending login with a further factor, once. Pass the transaction that consumes the factor, and roll it
 * back unless the outcome is `ok`.
 */
export async function completePendingLogin(
  deps: CompletionDeps,
  transaction: Transaction,
  pending: PendingLogin,
  factor: VerifiedFactor,
  request: CompletionRequest,
): Promise<CompletionOutcome> {
  const given = { factors: [pending.firstFactor, factor], userId: pending.user.id, pendingId: toUuid(pending.id) };
  if (pending.sessionId !== undefined) return await renew(deps, transaction, given, request);
  const { link } = pending;
  // Comes first, because opening the session takes a weaker lock on the account.
  const locked = link && (await lockForLink(transaction, pending.user.id, deps.signIn.methods));
  const outcome = await open(deps, transaction, given, request);
  if (!outcome.ok || outcome.session === undefined) return outcome;
  const { id } = outcome.session;
  if (pending.authorizationId !== undefined) await bindAuthorization(transaction, pending.authorizationId, id);
  if (link === undefined) return outcome;
  // Users with a password or passkey must sign in with it before they link.
  if (locked?.hasCredential !== false) return { ok: false, reason: 'not-open' };
  const { address, userAgent, language } = request;
  const { sendsNotices } = deps;
  const wanted = { user: pending.user.id, link, address, userAgent, language, sendsNotices, now: deps.clock.now() };
  return (await linkAfterFactor(transaction, wanted, id)) ? outcome : { ok: false, reason: 'not-open' };
}

/** Opens the session of a user who needs no factor other than this one. Pass the transaction that consumes it. */
export async function openSessionWithFactor(
  deps: CompletionDeps,
  transaction: Transaction,
  userId: UserId,
  factor: Extract<VerifiedFactor, { readonly kind: 'passkey' }>,
  request: CompletionRequest,
): Promise<CompletionOutcome> {
  return await open(deps, transaction, { factors: [factor], userId, pendingId: undefined }, request);
}

/** The proven factors, and the pending login that they complete. */
interface Given {
  readonly factors: readonly VerifiedFactor[];
  readonly userId: UserId;
  readonly pendingId: string | undefined;
}

type OpenedRow = UserRow & { readonly is_opened: boolean; readonly live_sessions: number };

/**
 * @param proven CTEs `account` (columns of `userColumns`) and `completed(user_id, user_session_id)`, which has a row if
 * the account may sign in
 */
function openingSql(verified: string): string {
  return `with ${verified},
  opened as (
    ${insertSession('completed.user_id')} from completed where completed.user_session_id is null
    returning id, user_id
  ),
  authenticated as (
    ${insertAuthentications('opened')}
  ),
  ${trustBrowserCte('opened')},
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'login', opened.user_id, null, opened.id, :ip::inet, :userAgent::text, :detail::jsonb,
           :now::timestamptz from opened
  ),
  ${newSigninCtes(':method::text')}
  select account.user_id, account.username, account.display_name, account.locale, account.can_request_admin,
         account.is_locked, account.is_deactivated,
         exists (select from opened) as is_opened, ${liveSessionsSql('account.user_id')} as live_sessions
    from account`;
}

interface EvidenceParams {
  readonly now: Date;
  readonly sessionId: string;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly authenticationIds: readonly string[];
  readonly authenticationKinds: readonly string[];
  readonly auditEventId: string;
  readonly detail: string;
  readonly acr: string;
  readonly amr: readonly string[];
}

type OpeningParams = EvidenceParams &
  TrustParams & {
    readonly keyHash: Buffer;
    readonly method: string;
    readonly isTold: boolean;
    readonly language: string;
    readonly queuedBy: string | null;
  };

const openPending = statement<OpenedRow, OpeningParams & CompletedLoginParams>(
  'open-session-of-pending-login',
  openingSql(COMPLETED_LOGIN_CTES),
);

// With the row lock, a concurrent lock of the account either commits first or waits.
const openAlone = statement<OpenedRow, OpeningParams & { readonly userId: string }>(
  'open-session-with-factor',
  openingSql(`account as (
    select ${userColumns('u')} from users u where u.id = :userId::uuid for share of u
  ),
  completed as (
    select account.user_id, null::uuid as user_session_id from account where not account.is_locked and not account.is_deactivated
  )`),
);

async function open(
  deps: CompletionDeps,
  transaction: Transaction,
  { factors, userId, pendingId }: Given,
  request: CompletionRequest,
): Promise<CompletionOutcome> {
  const now = deps.clock.now();
  const id = newId<'browser-session'>(now);
  const { key, keyHash } = newSessionKey();
  const { knownBrowsers, language, trust } = request;
  const params: OpeningParams = {
    ...evidence(factors, request, now),
    sessionId: toUuid(id),
    keyHash,
    method: factors[0]?.kind ?? '',
    isTold: deps.sendsNotices && isUnknownBrowser(knownBrowsers, userId),
    language,
    queuedBy: queuedBy(),
    trustedNonceHash: trust === undefined ? null : sha256(trust.nonce),
    trustedUntil: trust?.until ?? null,
  };
  const row = await (pendingId === undefined
    ? transaction.first(openAlone, { ...params, userId: toUuid(userId) })
    : transaction.first(openPending, { ...params, pendingId }));
  if (row === undefined) return { ok: false, reason: 'not-open' };
  const user = toUser(row);
  if (!row.is_opened) return refuse(deps.log, user);
  await finishSurplusSessions(transaction, row.user_id, row.live_sessions, now);
  return { ok: true, session: { id, key }, user };
}

const renewPending = statement<UserRow & RenewalRow, RenewalParams & CompletedLoginParams>(
  'renew-session-of-pending-login',
  `with ${COMPLETED_LOGIN_CTES},
  here as (
    select completed.user_id from completed where completed.user_session_id = :sessionId::uuid
  ),
  ${renewalCtes('here')}
  select account.user_id, account.username, account.display_name, account.locale, account.can_request_admin,
         account.is_locked, account.is_deactivated, ${RENEWAL_COLUMNS}
    from account`,
);

async function renew(
  deps: CompletionDeps,
  transaction: Transaction,
  { factors, pendingId }: Given,
  request: CompletionRequest,
): Promise<CompletionOutcome> {
  const { cookie } = request;
  if (cookie === undefined || pendingId === undefined) return { ok: false, reason: 'not-open' };
  const { address, userAgent } = request;
  const now = deps.clock.now();
  const renewal = newRenewal(deps.secondFactors, { cookie, factors, step: undefined, address, userAgent, now });
  const row = await transaction.first(renewPending, { ...renewal.params, pendingId });
  if (row === undefined) return { ok: false, reason: 'not-open' };
  const user = toUser(row);
  if (row.is_renewed) return { ok: true, session: renewal.rotated(row), user };
  return user.isLocked || user.isDeactivated ? refuse(deps.log, user) : { ok: false, reason: 'ended', user };
}

/** Returns what every statement records about how the user signed in. */
function evidence(
  factors: readonly VerifiedFactor[],
  { address, userAgent }: CompletionRequest,
  now: number,
): Omit<EvidenceParams, 'sessionId'> {
  const [first, second] = factors;
  const detail = { method: first?.kind, second_factor: second?.kind };
  return {
    now: new Date(now),
    userAgent: userAgent ?? null,
    ip: address ?? null,
    authenticationIds: factors.map(() => toUuid(newId(now))).toSorted(),
    authenticationKinds: factors.map(({ kind }) => kind),
    auditEventId: newAuditEventId(now),
    detail: JSON.stringify(detail),
    ...strengthOf(factors),
  };
}

function refuse(log: Log, user: User): CompletionOutcome {
  const reason = user.isDeactivated ? 'deactivated' : 'locked';
  log.info('auth.refused', 'sign-in refused: the account is locked or deactivated', { code: reason, user: user.id });
  return { ok: false, reason, user };
}
