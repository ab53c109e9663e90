import {
  ACCEPTED_ACCOUNT_COLUMNS,
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from '#domain/accounts/passwords/accepted-password.ts';
import type { Overloaded, PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { SessionCookie, SessionCredentials } from '#domain/records/browser-session.ts';
import type { SecondFactorRules } from '#domain/records/due-factor.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { toUser, type User, type UserRow } from '#domain/records/user.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { KnownBrowser } from './known-browsers.ts';
import {
  type FactorDue,
  newRenewal,
  RENEWAL_COLUMNS,
  type ReauthStep,
  type RenewalParams,
  type RenewalRow,
  renewalCtes,
} from './renew-session.ts';

export interface ReauthDeps {
  readonly secondFactors: Pick<SecondFactorRules, 'isRequiredOnReauth'>;
  readonly database: Database;
  readonly clock: Clock;
  readonly passwordChecks: PasswordChecks;
}

export interface ReauthAttempt {
  /** The cookie that identified the viewer. */
  readonly cookie: SessionCookie;
  /** The session's user. */
  readonly user: User;
  /** As typed. */
  readonly password: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly knownBrowsers: readonly KnownBrowser[];
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

export type ReauthOutcome =
  /** `session`: new content of the cookie; undefined if a concurrent request has just replaced the key. */
  | { readonly ok: true; readonly session: SessionCredentials | undefined }
  | { readonly ok: false; readonly reason: 'required' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | Overloaded
  /** `ended`: after the fifth consecutive wrong password, or ended elsewhere in the meantime. */
  | { readonly ok: false; readonly reason: 'ended' | 'locked' | 'deactivated'; readonly user: User };

/** The current account. Without a row, the password was changed since the check. */
type RenewedAuthenticationRow = UserRow & RenewalRow;

const renewSession = statement<RenewedAuthenticationRow, AcceptedPasswordParams & RenewalParams>(
  'renew-authentication',
  `with ${acceptedPasswordCtes},
  ${renewalCtes('proven', { firstFactor: 'password', passwordId: ':passwordId::uuid' })}
  select ${ACCEPTED_ACCOUNT_COLUMNS}, ${RENEWAL_COLUMNS} from account`,
);

/** Counts a wrong password for the session, and ends the session at the limit. */
const countFailedReauth = statement<
  { is_ended: boolean },
  {
    readonly now: Date;
    readonly id: string;
    readonly maxFailures: number;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'count-failed-reauth',
  `with counted as (
    update user_sessions set
      failed_reauths = failed_reauths + 1,
      finished_at = case when failed_reauths + 1 >= :maxFailures::integer then :now::timestamptz end,
      finish_reason = case when failed_reauths + 1 >= :maxFailures::integer then 'too_many_reauths' end
    where id = :id::uuid and ${browserSessionIsLive('user_sessions')}
    returning id, user_id, finished_at is not null as is_ended
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', counted.user_id, null, counted.id, :ip::inet, :userAgent::text,
      '{"reason": "too_many_reauths"}'::jsonb, :now::timestamptz
    from counted where counted.is_ended
  )
  select counted.is_ended from counted`,
);

const MAX_FAILURES = 5;

/**
 * Checks the password of an active session's user for the current request. Unless another factor is due, this also
 * renews the session's authentication.
 */
export async function reauthenticate(deps: ReauthDeps, attempt: ReauthAttempt): Promise<ReauthOutcome> {
  const proof = await provePassword(deps, attempt);
  if (!proof.ok) return proof;
  return countReauth(await renewAuthentication(deps, deps.database, attempt, proof.accepted));
}

/**
 * Re-authenticates the user of an active session (browser-flows 3.4). If another factor is due, the user enters it
 * next.
 */
export async function beginReauthentication(
  deps: ReauthDeps,
  attempt: ReauthAttempt,
  step: ReauthStep,
): Promise<ReauthOutcome | FactorDue> {
  const proof = await provePassword(deps, attempt);
  if (!proof.ok) return proof;
  const { due, outcome } = await renew(deps, deps.database, attempt, proof.accepted, step);
  return due ?? countReauth(outcome);
}

/** Counts the outcome in the metrics. An empty password is a mistake rather than a failed attempt, and not counted. */
export function countReauth<Outcome extends ReauthOutcome>(outcome: Outcome): Outcome {
  const result = metrics === undefined ? undefined : resultOf(outcome);
  if (result !== undefined) metrics?.count('latchkey_reauths_total', { method: 'password', result });
  return outcome;
}

function resultOf(outcome: ReauthOutcome): string | undefined {
  if (outcome.ok) return 'success';
  switch (outcome.reason) {
    case 'required':
      return undefined;
    case 'invalid-credentials':
      return 'bad_password';
    case 'rate-limited':
      return 'rate_limited';
    case 'locked':
    case 'deactivated':
      return 'locked';
    case 'ended':
      return 'ended';
    case 'overloaded':
      return 'error';
  }
}

type RefusedReauth = Exclude<ReauthOutcome, { readonly ok: true }>;

/**
 * Checks the password of an active session's user, for an operation that makes its change together with
 * `renewAuthentication`. Consecutive wrong passwords end the session, no matter where they were entered.
 */
export async function provePassword(
  deps: ReauthDeps,
  attempt: ReauthAttempt,
): Promise<{ readonly ok: true; readonly accepted: AcceptedPassword } | RefusedReauth> {
  const { user, password, address, userAgent, knownBrowsers, signal } = attempt;
  if (password === '') return { ok: false, reason: 'required' };
  const check = await deps.passwordChecks.check({
    account: user.id,
    password,
    address,
    userAgent,
    knownBrowsers,
    signal,
  });
  if (check.ok) return check;
  return countReauth(check.reason === 'invalid-credentials' ? await countFailure(deps, attempt) : check);
}

/**
 * Renews the session's authentication and rotates its key, unless another factor is due. In that case the password
 * authorizes only the current operation. Uses one statement, which also works outside a transaction. Inside one, it
 * locks the password against concurrent changes.
 */
export async function renewAuthentication(
  deps: Pick<ReauthDeps, 'clock' | 'secondFactors'>,
  queryable: Queryable,
  attempt: ReauthAttempt,
  accepted: AcceptedPassword,
): Promise<ReauthOutcome> {
  const { due, outcome } = await renew(deps, queryable, attempt, accepted, undefined);
  return due === undefined ? outcome : { ok: true, session: undefined };
}

async function renew(
  { clock, secondFactors }: Pick<ReauthDeps, 'clock' | 'secondFactors'>,
  queryable: Queryable,
  attempt: ReauthAttempt,
  accepted: AcceptedPassword,
  step: ReauthStep | undefined,
): Promise<{
  readonly due: FactorDue | undefined;
  /** The outcome if no further factor is due. */
  readonly outcome: ReauthOutcome;
}> {
  const now = clock.now();
  const renewal = newRenewal(secondFactors, { ...attempt, factors: [{ kind: 'password' }], step, now });
  const row = await queryable.first(renewSession, { ...acceptedPasswordParams(accepted, now), ...renewal.params });
  return { due: renewal.due(row), outcome: judge(row, renewal.rotated(row)) };
}

function judge(row: RenewedAuthenticationRow | undefined, rotated: SessionCredentials | undefined): ReauthOutcome {
  if (row === undefined) return { ok: false, reason: 'invalid-credentials' };
  if (row.is_renewed) return { ok: true, session: rotated };
  const user = toUser(row);
  if (user.isDeactivated) return { ok: false, reason: 'deactivated', user };
  return { ok: false, reason: user.isLocked ? 'locked' : 'ended', user };
}

async function countFailure(deps: ReauthDeps, attempt: ReauthAttempt): Promise<RefusedReauth> {
  const now = deps.clock.now();
  const row = await deps.database.first(countFailedReauth, {
    now: new Date(now),
    id: toUuid(attempt.cookie.id),
    maxFailures: MAX_FAILURES,
    auditEventId: newAuditEventId(now),
    ip: attempt.address ?? null,
    userAgent: attempt.userAgent ?? null,
  });
  if (row === undefined || row.is_ended) return { ok: false, reason: 'ended', user: attempt.user };
  return { ok: false, reason: 'invalid-credentials' };
}
