/**
 * The one way in which a live session gets a fresh authentication, whatever the person proved it with: a password, a
 * passkey, another service or a code. The rule about second factors is here, so that no way can leave it out.
 */
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import {
  insertPendingLogin,
  newPendingLogin,
  type PendingLoginParams,
} from '#domain/pending-logins/begin-pending-login.ts';
import {
  type DueFactor,
  type DueFactorParams,
  dueFactorCte,
  dueFactorParams,
  type SecondFactorRules,
} from '#domain/pending-logins/due-factor.ts';
import { newId, type PendingLoginId, toUuid } from '#platform/base/ids.ts';
import { type ProvenFactor, reachesAcr, strengthOf, TWO_FACTORS_ACR } from '#protocol/oidc/authentication-classes.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { newSessionKey, type SessionCookie, type SessionCredentials } from './browser-session.ts';
import { browserSessionIsLive } from './liveness.ts';
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

/** What the person goes on to, and whether that needs a further factor whatever the operator's settings say. */
export interface ReauthStep {
  readonly action: PostAuthAction | undefined;
  readonly isFactorNeeded: boolean;
}

interface Renewal {
  readonly cookie: SessionCookie;
  /** What the person has just given, in this order. */
  readonly factors: readonly ProvenFactor[];
  /** Undefined: no further factor can be asked for in this request. */
  readonly step: ReauthStep | undefined;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** One factor was right, and the session stays as it is until this one is given as well. */
export interface FactorDue {
  readonly ok: false;
  readonly reason: 'factor-due';
  readonly pending: PendingLoginId;
  readonly factor: DueFactor;
}

/** Columns of `RENEWAL_COLUMNS`. */
export interface RenewalRow {
  /** False when the session has ended, is of somebody else, or a further factor is due. */
  readonly is_renewed: boolean;
  /** False when another request has just given the session a new key: the browser gets that one. */
  readonly is_rotated: boolean;
  /** What the session is not renewed without. */
  readonly due_factor: DueFactor | null;
  /** The session waits for that factor; false when it has ended. */
  readonly is_waiting: boolean;
}

/** Two factors, or a passkey, which stands for two, need nothing further. */
function isEnough(factors: readonly ProvenFactor[]): boolean {
  return reachesAcr(strengthOf(factors).acr, TWO_FACTORS_ACR);
}

export function newRenewal(
  { isAskedOnReauth }: Pick<SecondFactorRules, 'isAskedOnReauth'>,
  { cookie, factors, step, address, userAgent, now }: Renewal,
): {
  readonly params: RenewalParams;
  /** What the cookie has to hold then; undefined: it stays. */
  readonly rotated: (row: RenewalRow | undefined) => SessionCredentials | undefined;
  /** The factor that comes next, if one does. */
  readonly due: (row: RenewalRow | undefined) => FactorDue | undefined;
} {
  const isAsked = !isEnough(factors) && (isAskedOnReauth || step?.isFactorNeeded === true);
  const next = newSessionKey();
  const pending = newPendingLogin(step?.action, now);
  const [first, second] = factors;
  const detail = { method: first?.kind, second_factor: second?.kind };
  const params = {
    // Trust in a browser is for signing in: who is asked again is to prove that they are there.
    ...dueFactorParams(isAsked ? 'optional' : 'off', undefined),
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
 * CTEs that give a live session a fresh authentication and another key, with its audit event. Where a further factor is
 * due, the session stays as it is, and with `:isStep` a pending login is begun. They follow the CTE `proven`;
 * `RENEWAL_COLUMNS` reads what came of it.
 * @param proven name of a CTE with the `user_id` of the person who proved who they are
 * @param first SQL expressions of the pending login; left out where the factors are always enough
 */
export function renewalCtes(
  proven: string,
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
  return `${dueFactorCte(proven)},
  enough as (
    select ${proven}.user_id from ${proven} cross join due where due.factor is null
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
    from ${proven} cross join due
    where s.id = :sessionId::uuid and s.user_id = ${proven}.user_id and ${browserSessionIsLive('s')}
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

/** Select list of a statement with `renewalCtes`. */
export const RENEWAL_COLUMNS = `exists (select from renewed) as is_renewed,
    exists (select from renewed where renewed.is_rotated) as is_rotated,
    (select due.factor from due) as due_factor,
    exists (select from waiting) as is_waiting`;
