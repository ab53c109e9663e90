import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import { toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseRecoveryCode } from '#protocol/one-time-codes/recovery-codes.ts';
import type { TypedCode } from './consume-totp-code.ts';
import { type RecoveryCodeKeys, recoveryCodeHmac } from './recovery-code-set.ts';

export interface TypedRecoveryCode extends TypedCode {
  /** IP address of the request, for the security event. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Language of the request, for the email. */
  readonly language: string;
}

export interface SpendCodeDeps {
  readonly database: Queryable;
  readonly secretKeys: RecoveryCodeKeys;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export type RecoveryCodeOutcome =
  /** Number of codes left in the set. */
  | { readonly ok: true; readonly remaining: number }
  /** `wrong`: also if the code was already used. */
  | { readonly ok: false; readonly reason: 'malformed' | 'wrong' };

/**
 * Accepts a recovery code, once, records its use and notifies the user. A single statement does this, so that of
 * several concurrent requests one succeeds. Pass the transaction of the operation that the code is for. Callers enforce
 * the rate limits.
 */
export async function spendRecoveryCode(
  { database, secretKeys, sendsNotices }: SpendCodeDeps,
  { user, code: typed, address, userAgent, language, now }: TypedRecoveryCode,
): Promise<RecoveryCodeOutcome> {
  const code = parseRecoveryCode(typed);
  if (code === undefined) return { ok: false, reason: 'malformed' };
  const row = await database.first(spendCode, {
    userId: toUuid(user),
    codeHmac: recoveryCodeHmac(secretKeys, user, code),
    auditEventId: newAuditEventId(now),
    ip: address ?? null,
    userAgent: userAgent ?? null,
    isTold: sendsNotices,
    language,
    queuedBy: queuedBy(),
    now: new Date(now),
  });
  return row === undefined ? { ok: false, reason: 'wrong' } : { ok: true, remaining: row.remaining };
}

/** The count does not see the update of the same statement yet, hence `- 1`. */
const spendCode = statement<
  { remaining: number },
  {
    readonly userId: string;
    readonly codeHmac: Buffer;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly isTold: boolean;
    readonly language: string;
    readonly queuedBy: string | null;
    readonly now: Date;
  }
>(
  'spend-recovery-code',
  `with spent as (
    update user_recovery_codes set used_at = :now::timestamptz
     where user_id = :userId::uuid and code_hmac = :codeHmac::bytea and used_at is null
    returning id
  ), remaining as materialized (
    select count(*)::integer - 1 as codes from user_recovery_codes c
     where c.user_id = :userId::uuid and c.used_at is null
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'recovery_code_used', :userId::uuid, null, null, :ip::inet, :userAgent::text,
           jsonb_build_object('remaining', remaining.codes), :now::timestamptz
      from spent cross join remaining
  ), ${noticeCtes({
    told: 'select :userId::uuid as user_id, remaining.codes from spent cross join remaining where :isTold::boolean',
    notice: 'recovery_code_used',
    eventId: ':auditEventId::uuid',
    detail: `jsonb_build_object('remaining', told_user.codes)`,
    language: ':language::text',
    now: ':now::timestamptz',
  })}
  select remaining.codes as remaining from spent cross join remaining`,
);
