/** Shared by commands that create a session with a device. */
import { ExitCode, ExitError, LatchkeyError } from '#platform/base/errors.ts';

/** Commands have no request to abort: an interrupted command ends with its process. */
export const NOBODY_WAITS = { signal: new AbortController().signal, beginWrite: () => true };

/** Nothing was written. A job reverts what the homeserver may have created. */
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
