/**
 * Renews the authentication of a live session. All methods end up here: password, passkey, upstream provider and code.
 * The rule about second factors is here too, so that no method can bypass it.
 */
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { newSessionKey, type SessionCookie, type SessionCredentials } from '#domain/records/browser-session.ts';
import {
  type DueFactor,
  type DueFactorParams,
  dueFactorCte,
  dueFactorParams,
  type SecondFactorRules,
} from '#domain/records/due-factor.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import {
  insertPendingLogin,
  newPendingLogin,
  type PendingLoginParams,
} from '#domain/second-factors/begin-pending-login.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { reachesAcr, strengthOf, TWO_FACTORS_ACR, type VerifiedFactor } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';
import { insertAuthentications } from './start-browser-session.ts';

/** Parameters of `renewalCtes`. */
export interface RenewalParams extends DueFactorParams, PendingLoginParams {
  readonly now: Date;
  readonly isStep: boolean;
  readonly sessionId: string;
  readonly keyHash: Buffer;
  readonly newKeyHash: Buffer;
  readonly acr: string;
  readonly amr: readonly string[];
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly authenticationIds: readonly string[];
  readonly authenticationKinds: readonly string[];
  readonly auditEventId: string;
  readonly detail: string | null;
}

/** Where the user continues, and whether that requires another factor regardless of the operator's settings. */
export interface ReauthStep {
  readonly action: PostAuthAction | undefined;
  readonly isFactorNeeded: boolean;
}

interface Renewal {
  readonly cookie: SessionCookie;
  /** The factors just proven, in this order. */
  readonly factors: readonly VerifiedFactor[];
  /** Undefined: this request cannot ask for another factor. */
  readonly step: ReauthStep | undefined;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** One factor was proven. The session stays unchanged until the user proves this one as well. */
export interface FactorDue {
  readonly ok: false;
  readonly reason: 'factor-due';
  readonly pending: PendingLoginId;
  readonly factor: DueFactor;
}

/** The columns of `RENEWAL_COLUMNS`. */
export interface RenewalRow {
  /** False if the session has ended, belongs to a different user, or another factor is due. */
  readonly is_renewed: boolean;
  /** False if a concurrent request has just rotated the key; the browser gets that key. */
  readonly is_rotated: boolean;
  /** The factor that is still missing. */
  readonly due_factor: DueFactor | null;
  /** Whether the session waits for that factor; false if it has ended. */
  readonly is_waiting: boolean;
}

/** Two factors, or a passkey (which counts as two), are sufficient. */
function isEnough(factors: readonly VerifiedFactor[]): boolean {
  return reachesAcr(strengthOf(factors).acr, TWO_FACTORS_ACR);
}

export function newRenewal(
  { isRequiredOnReauth }: Pick<SecondFactorRules, 'isRequiredOnReauth'>,
  { cookie, factors, step, address, userAgent, now }: Renewal,
): {
  readonly params: RenewalParams;
  /** Returns the new content of the cookie; undefined: keep it. */
  readonly rotated: (row: RenewalRow | undefined) => SessionCredentials | undefined;
  /** Returns the next factor, if one is due. */
  readonly due: (row: RenewalRow | undefined) => FactorDue | undefined;
} {
  const isRequested = !isEnough(factors) && (isRequiredOnReauth || step?.isFactorNeeded === true);
  const next = newSessionKey();
  const pending = newPendingLogin(step?.action, now);
  const [first, second] = factors;
  const detail = { method: first?.kind, second_factor: second?.kind };
  const params = {
    // A trusted browser only helps with sign-in: re-authentication must prove that the user is present.
    ...dueFactorParams(isRequested ? 'optional' : 'off', undefined),
    ...pending.params,
    now: new Date(now),
    isStep: step !== undefined,
    sessionId: toUuid(cookie.id),
    keyHash: cookie.keyHash,
    newKeyHash: next.keyHash,
    userAgent: userAgent ?? null,
    ip: address ?? null,
    authenticationIds: factors.map(() => toUuid(newId(now))).toSorted(),
    authenticationKinds: factors.map(({ kind }) => kind),
    auditEventId: newAuditEventId(now),
    detail: JSON.stringify(detail),
    ...strengthOf(factors),
  };
  return {
    params,
    rotated: (row) => (row?.is_rotated === true ? { id: cookie.id, key: next.key } : undefined),
    due: (row) =>
      row !== undefined && row.due_factor !== null && row.is_waiting
        ? { ok: false, reason: 'factor-due', pending: pending.id, factor: row.due_factor }
        : undefined,
  };
}

/**
 * Returns CTEs that renew the authentication of a live session, rotate its key and record an audit event. If another
 * factor is due, the session stays unchanged, and `:isStep` starts a pending login. They follow the CTE `proven`;
 * `RENEWAL_COLUMNS` selects the result.
 * @param proven name of a CTE with the `user_id` of the authenticated user
 * @param first SQL expressions of the pending login; omit if the factors are always sufficient
 */
export function renewalCtes(
  verified: string,
  first?: Pick<Parameters<typeof insertPendingLogin>[0], 'firstFactor' | 'passwordId' | 'authorizationId' | 'amr'>,
): string {
  const begun =
    first === undefined
      ? ''
      : `,
  step_begun as (
    ${insertPendingLogin({ ...first, userId: 'waiting.user_id', sessionId: 'waiting.id' })}
    from waiting where :isStep::boolean
  )`;
  return `${dueFactorCte(verified)},
  enough as (
    select ${verified}.user_id from ${verified} cross join due where due.factor is null
  ),
  renewed as (
    update user_sessions s set
      authenticated_at = :now::timestamptz,
      acr = :acr::text,
      amr = :amr::text[],
      failed_reauths = 0,
      key_hash = case when s.key_hash = :keyHash::bytea then :newKeyHash::bytea else s.key_hash end,
      previous_key_hash = case when s.key_hash = :keyHash::bytea then s.key_hash else s.previous_key_hash end,
      key_rotated_at = case when s.key_hash = :keyHash::bytea then :now::timestamptz else s.key_rotated_at end
    from enough
    where s.id = :sessionId::uuid and s.user_id = enough.user_id and ${browserSessionIsLive('s')}
    returning s.id, s.user_id, s.key_hash = :newKeyHash::bytea as is_rotated
  ),
  waiting as (
    update user_sessions s set failed_reauths = 0
    from ${verified} cross join due
    where s.id = :sessionId::uuid and s.user_id = ${verified}.user_id and ${browserSessionIsLive('s')}
      and due.factor is not null
    returning s.id, s.user_id
  )${begun},
  authenticated as (
    ${insertAuthentications('renewed')}
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'reauthenticated', renewed.user_id, null, renewed.id, :ip::inet, :userAgent::text,
           :detail::jsonb, :now::timestamptz from renewed
  )`;
}

/** Select list for a statement with `renewalCtes`. */
export const RENEWAL_COLUMNS = `exists (select from renewed) as is_renewed,
    exists (select from renewed where renewed.is_rotated) as is_rotated,
    (select due.factor from due) as due_factor,
    exists (select from waiting) as is_waiting`;
