/** Detects whether emails arrive too late to be promised (operations 9.4). */
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type Backlog, readBacklogOf } from '#platform/jobs/backlog.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/** Queues of jobs that send email. The backlog of other queues does not matter. */
export const MAIL_QUEUES = {
  code: 'send-email-authentication-code',
  recovery: 'send-account-recovery-emails',
  notice: 'send-security-notice',
  invitation: 'send-invitation',
} as const;

/** Beyond this delay, no further email is promised. */
const MAX_LATE_MS = 600_000;
const MAX_DUE_JOBS = 100_000;
const RETRY_AFTER_SECONDS = 60;

/** Email state of the instance, implemented by `InstanceState`. */
export interface QueueState {
  areMailsLate: boolean;
}

/** Returns the emails that are due but not sent. */
export async function readMailBacklog(
  database: Queryable,
  now: number,
): Promise<Pick<Backlog, 'due' | 'oldestMs'> & { readonly isLate: boolean }> {
  const { due, oldestMs } = await readBacklogOf(database, Object.values(MAIL_QUEUES), now, MAX_DUE_JOBS + 1);
  return { due, oldestMs, isLate: oldestMs > MAX_LATE_MS || due > MAX_DUE_JOBS };
}

/**
 * Rejects a request if its email would arrive too late to be useful. Measures once more before it rejects, because
 * after an interruption the backlog is sent within seconds.
 * @throws LatchkeyError `mails_delayed`
 */
export async function requireMailsInTime(database: Queryable, clock: Clock, state: QueueState): Promise<void> {
  if (!state.areMailsLate) return;
  state.areMailsLate = (await readMailBacklog(database, clock.now())).isLate;
  if (state.areMailsLate) throw new LatchkeyError('mails_delayed', { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
