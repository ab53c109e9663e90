/** What commands that make a session with a device have in common. */
import { ExitCode, ExitError, LatchkeyError } from '#platform/base/errors.ts';

/** A command that is stopped ends with its process. */
export const NOBODY_WAITS = { signal: new AbortController().signal, beginWrite: () => true };

/** Nothing was written, and what the homeserver may have made is put right by a job. */
export function explainDeviceError(error: unknown): never {
  const code = error instanceof LatchkeyError ? error.code : undefined;
  switch (code) {
    case 'reserved_device_id':
      throw new ExitError(ExitCode.failure, 'the homeserver does not let a device have this id: choose another one');
    case 'homeserver_refused':
      throw new ExitError(ExitCode.failure, 'the homeserver refused the device; the log says why');
    case 'homeserver_unavailable':
      throw new ExitError(ExitCode.failure, 'the homeserver does not answer: no token was made');
    case 'temporarily_unavailable':
      throw new ExitError(ExitCode.failure, 'the homeserver is being told of this user right now: try again');
    default:
      throw error;
  }
}
