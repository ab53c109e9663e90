import type { HomeserverFailure } from '#domain/homeserver/homeserver.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';

export const HOMESERVER_ERRORS: readonly ErrorCode[] = ['homeserver_error', 'homeserver_timeout'];

/** What an administrator hears of a call that came to nothing; the log says why. */
export function homeserverFailure({ detail, isTimeout, retryAfterSeconds }: HomeserverFailure): LatchkeyError {
  return new LatchkeyError(isTimeout === true ? 'homeserver_timeout' : 'homeserver_error', {
    details: { detail },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
