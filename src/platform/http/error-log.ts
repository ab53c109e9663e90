import type { ErrorTable, LatchkeyError } from '#platform/base/errors.ts';
import { describeError, type Log } from '#platform/base/log.ts';

/**
 * Logs the error of a request. Faults are logged with their cause, refusals with their code at DEBUG. The code that
 * refuses a request logs what operators need to know (`auth.refused`), and the request line contains the rest.
 */
export function logError(log: Log, error: LatchkeyError, errors: ErrorTable): void {
  if (errors[error.code].kind === 'fault') logFault(log, error);
  else log.debug('http.refused', 'request rejected', { code: error.code, ...error.details });
}

function logFault(log: Log, fault: LatchkeyError): void {
  const { stack } = describeError(fault);
  if (fault.code === 'internal') log.error('error', fault.message, { ...fault.details, stack });
  // Without a cause the service was just overloaded, which its request lines already show.
  else if (fault.cause !== undefined) log.warn('error', fault.message, { ...fault.details, stack });
}
