import type { HomeserverFailure } from '#domain/homeserver/homeserver.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';

export const HOMESERVER_ERRORS: readonly ErrorCode[] = ['homeserver_error', 'homeserver_timeout'];

/** Returns the error that an administrator sees for a failed homeserver call. The log has the cause. */
export function homeserverFailure({ detail, isTimeout, retryAfterSeconds }: HomeserverFailure): LatchkeyError {
  return new LatchkeyError(isTimeout === true ? 'homeserver_timeout' : 'homeserver_error', {
    details: { detail },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Runs a homeserver update about a device, and converts its failures to errors of this API. */
export async function onHomeserverFailure<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LatchkeyError)) throw error;
    if (error.code !== 'homeserver_unavailable' && error.code !== 'homeserver_refused') throw error;
    const { retryAfterSeconds } = error;
    throw new LatchkeyError('homeserver_error', {
      cause: error,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}
