import { LatchkeyError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';

/** The password queue had no room: the form is shown again, with status 503. */
export interface Overloaded {
  readonly ok: false;
  readonly reason: 'overloaded';
  readonly retryAfterSeconds: number;
}

const RETRY_AFTER_SECONDS = 5;

/** The outcome of the domain, and one more, which the forms that hash a password can show as a problem of theirs. */
export async function orOverloaded<Outcome>(log: Log, working: Promise<Outcome>): Promise<Outcome | Overloaded> {
  try {
    return await working;
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== 'overloaded') throw error;
    log.info('auth.refused', 'no password could be checked', { code: error.code, reason: error.description });
    return { ok: false, reason: 'overloaded', retryAfterSeconds: error.retryAfterSeconds ?? RETRY_AFTER_SECONDS };
  }
}
