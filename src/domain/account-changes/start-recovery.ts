import type { Config } from '#config/config.ts';
import type { Limiter } from '#config/sections/rate-limiting.ts';
import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { isUnreachable } from '#domain/accounts/email-authentications/email-policy.ts';
import type { Captcha, CaptchaRefusal, CaptchaResponse } from '#domain/captcha/captcha.ts';
import { MAIL_QUEUES, type QueueState } from '#domain/limits/late-mails.ts';
import { addressBucketKey, mailBucket, type Taken, takeTokens, unknownNameKey } from '#domain/limits/rate-limits.ts';
import { recoverySessionIsOpen } from '#domain/records/liveness/recoveries.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { INSERT_JOB, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import { lacksSmtpUtf8 } from '#platform/mail/smtp-utf8.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { RecoverySessionId } from '#vocabulary/ids.ts';
import type { FlowResult } from '#vocabulary/metric-labels.ts';
import type { RecoverySession } from './recovery-session.ts';

/** Name of the jobs that look up the address and send the email. */
export const RECOVERY_MAIL_QUEUE = MAIL_QUEUES.recovery;

export interface StartRecoveryDeps {
  readonly config: { readonly email: Pick<Config['email'], 'transport'> };
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly instance: QueueState;
  readonly captcha: Pick<Captcha, 'check'>;
  readonly recoveryLimits: { readonly perIp: Limiter; readonly perAddress: Limiter };
}

export interface RecoveryRequest {
  /** As entered by the user. */
  readonly email: string;
  readonly captcha: CaptchaResponse;
  /** Language of the page and the email. */
  readonly locale: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type StartRecoveryOutcome =
  | { readonly ok: true; readonly id: RecoverySessionId }
  | { readonly ok: false; readonly reason: 'invalid' | 'unreachable' }
  | CaptchaRefusal;

/** Limit of open sessions per address. Older ones are closed. */
const MAX_OPEN = 5;

/** If a session already has a waiting job, no second one is added. */
const INSERT_MAIL_JOB = `${INSERT_JOB}
    select :jobId::uuid, '${RECOVERY_MAIL_QUEUE}', jsonb_build_object('session_id', :id::uuid), :id::text,
           :queuedBy::text, :now::timestamptz, :now::timestamptz`;

const startSession = statement<
  never,
  {
    readonly now: Date;
    readonly id: string;
    readonly email: string;
    readonly emailKey: string;
    readonly locale: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly jobId: string;
    readonly queuedBy: string | null;
  }
>(
  'start-recovery',
  `with superseded as materialized (
    select older.id from user_recovery_sessions older
     where older.email_key = :emailKey::text and ${recoverySessionIsOpen('older')}
     order by older.created_at desc, older.id desc offset ${MAX_OPEN - 1}
       for update skip locked
  ), closed as (
    update user_recovery_sessions set consumed_at = :now::timestamptz
     where id = any (array(select superseded.id from superseded))
  ), queued as (
    ${INSERT_MAIL_JOB}
    ${ON_WAITING_JOB}
  )
  insert into user_recovery_sessions (id, email, email_key, locale, ip, user_agent, created_at)
  values (:id::uuid, :email::text, :emailKey::text, :locale::text, :ip::inet, :userAgent::text, :now::timestamptz)`,
);

const queueMail = statement<
  never,
  { readonly now: Date; readonly id: string; readonly jobId: string; readonly queuedBy: string | null }
>(
  'resend-recovery',
  `${INSERT_MAIL_JOB}
   ${ON_WAITING_JOB}`,
);

/**
 * Starts a recovery for an entered address. The job finds out whether an account has it, so that neither the response
 * nor its timing depends on that (security S-81).
 */
export async function startRecovery(deps: StartRecoveryDeps, request: RecoveryRequest): Promise<StartRecoveryOutcome> {
  const outcome = await start(deps, request);
  metrics?.count('latchkey_recoveries_total', { method: 'email', result: resultOf(outcome) });
  return outcome;
}

function resultOf(outcome: StartRecoveryOutcome): FlowResult {
  if (outcome.ok) return 'started';
  switch (outcome.reason) {
    case 'invalid':
    case 'unreachable':
    case 'captcha-unsolved':
      return 'rejected';
    case 'rate-limited':
      return 'rate_limited';
    case 'captcha-unavailable':
      return 'error';
  }
}

async function start(deps: StartRecoveryDeps, request: RecoveryRequest): Promise<StartRecoveryOutcome> {
  const email = parseStoredEmailAddress(request.email);
  if (email === undefined) return { ok: false, reason: 'invalid' };
  // Applies to every such address, whether or not an account has it.
  const isLacking = lacksSmtpUtf8(deps.config.email.transport);
  if (isUnreachable(email, { lacksSmtpUtf8: isLacking })) return { ok: false, reason: 'unreachable' };
  const solved = await deps.captcha.check('recover', request.captcha, request.address);
  if (!solved.ok) return solved;
  const taken = await chargeMail(deps, email.key, request.address);
  if (!taken.ok) return { ...taken, reason: 'rate-limited' };
  const now = deps.clock.now();
  const id = newId<'recovery-session'>(now);
  await deps.database.execute(startSession, {
    now: new Date(now),
    id: toUuid(id),
    email: email.address,
    emailKey: email.key,
    locale: request.locale,
    ip: request.address ?? null,
    userAgent: request.userAgent ?? null,
    jobId: toUuid(newId(now)),
    queuedBy: queuedBy(),
  });
  return { ok: true, id };
}

/** Sends another email for an open session, within the rate limits of a new one. */
export async function resendRecovery(
  deps: StartRecoveryDeps,
  session: Pick<RecoverySession, 'id' | 'emailKey'>,
  address: string | undefined,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number }> {
  const taken = await chargeMail(deps, session.emailKey, address);
  if (!taken.ok) return taken;
  const now = deps.clock.now();
  const jobId = toUuid(newId(now));
  await deps.database.execute(queueMail, { now: new Date(now), id: toUuid(session.id), jobId, queuedBy: queuedBy() });
  return { ok: true };
}

/** The bucket key contains a digest of the entered address, so that the table does not list these addresses. */
async function chargeMail(deps: StartRecoveryDeps, emailKey: string, address: string | undefined): Promise<Taken> {
  const { clock, database, instance, keyRing, log, recoveryLimits } = deps;
  return await takeTokens(database, clock, [
    mailBucket({ key: `recovery:ip:${addressBucketKey(log, address)}`, limiter: recoveryLimits.perIp }, instance),
    { key: `recovery:address:${unknownNameKey(keyRing, emailKey)}`, limiter: recoveryLimits.perAddress },
  ]);
}
