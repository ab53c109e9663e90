import { LatchkeyError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';

/** Too many passwords wait to be hashed or estimated. Nothing was checked, so nothing counts against the caller. */
export interface Overloaded {
  readonly ok: false;
  readonly reason: 'overloaded';
  readonly retryAfterSeconds: number;
}

const RETRY_AFTER_SECONDS = 5;

/** The outcome for an error of the password queues; throws any other error again. */
export function overloadedOutcome(error: unknown, log: Log): Overloaded {
  if (!(error instanceof LatchkeyError) || error.code !== 'overloaded') throw error;
  log.info('auth.refused', 'no password could be checked', { code: error.code, reason: error.description });
  return { ok: false, reason: 'overloaded', retryAfterSeconds: error.retryAfterSeconds ?? RETRY_AFTER_SECONDS };
}
