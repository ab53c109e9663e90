/** Shared by commands that create a session with a device. */
import { ExitCode, ExitError, LatchkeyError } from '#platform/base/errors.ts';

/** Commands have no request to abort: an interrupted command ends with its process. */
export const NOT_WAITING = { signal: new AbortController().signal, beginWrite: () => true };

/** Nothing was written. A job reverts what the homeserver may have created. */
export function explainDeviceError(error: unknown): never {
  const code = error instanceof LatchkeyError ? error.code : undefined;
  switch (code) {
    case 'reserved_device_id':
      throw new ExitError(ExitCode.failure, 'the homeserver does not allow this device id; choose another one');
    case 'homeserver_refused':
      throw new ExitError(ExitCode.failure, 'the homeserver rejected the device; see the log for the reason');
    case 'homeserver_unavailable':
      throw new ExitError(ExitCode.failure, 'the homeserver does not respond; no token was issued');
    case 'temporarily_unavailable':
      throw new ExitError(ExitCode.failure, 'this user is being synced to the homeserver; retry later');
    default:
      throw error;
  }
}
