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
  /** Of the request, for the security event. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Of the request, for the mail. */
  readonly language: string;
}

export interface SpendCodeDeps {
  readonly database: Queryable;
  readonly secretKeys: RecoveryCodeKeys;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

export type RecoveryCodeOutcome =
  /** How many of the set are left. */
  | { readonly ok: true; readonly remaining: number }
  /** `wrong`: also one that was used. */
  | { readonly ok: false; readonly reason: 'malformed' | 'wrong' };

/**
 * Accepts a recovery code of a person, once, records it and has the person told: one statement, so that of many at once one is accepted.
 * Pass the transaction of what the code is for. Limits are the caller's business.
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

/** The codes are counted as they were before. */
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
