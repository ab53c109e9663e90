/** Whether mails come too late to be promised (operations 9.4). */
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type Backlog, readBacklogOf } from '#platform/jobs/backlog.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/** Queues whose jobs send mails; no other work that waits says anything of them. */
export const MAIL_QUEUES = {
  code: 'send-email-authentication-code',
  recovery: 'send-account-recovery-emails',
  notice: 'send-security-notice',
} as const;

/** From here on no further mail is promised. */
const MAX_LATE_MS = 600_000;
const MAX_DUE_JOBS = 100_000;
const RETRY_AFTER_SECONDS = 60;

/** What the instance knows of its mails; `InstanceState` has it. */
export interface QueueState {
  areMailsLate: boolean;
}

/** Mails that are due and not sent. */
export async function readMailBacklog(
  database: Queryable,
  now: number,
): Promise<Pick<Backlog, 'due' | 'oldestMs'> & { readonly isLate: boolean }> {
  const { due, oldestMs } = await readBacklogOf(database, Object.values(MAIL_QUEUES), now, MAX_DUE_JOBS + 1);
  return { due, oldestMs, isLate: oldestMs > MAX_LATE_MS || due > MAX_DUE_JOBS };
}

/**
 * Refuses to promise a mail that would come when it is of no use any more. Measures again before it refuses: after a
 * pause the waiting mails are sent within seconds.
 * @throws LatchkeyError `mails_delayed`
 */
export async function requireMailsInTime(database: Queryable, clock: Clock, state: QueueState): Promise<void> {
  if (!state.areMailsLate) return;
  state.areMailsLate = (await readMailBacklog(database, clock.now())).isLate;
  if (state.areMailsLate) throw new LatchkeyError('mails_delayed', { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
