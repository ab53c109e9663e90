import { ERRORS, type LatchkeyError } from '#platform/base/errors.ts';
import { describeError, type Log } from '#platform/base/log.ts';

/**
 * Logs what ended a request. Faults with their cause; refusals by their code at DEBUG: what an operator has to know of
 * one, only the code that refused can tell (`auth.refused`), and the request's own line tells the rest.
 */
export function logError(log: Log, error: LatchkeyError): void {
  if (ERRORS[error.code].kind === 'fault') logFault(log, error);
  else log.debug('http.refused', 'request refused', { code: error.code, ...error.details });
}

function logFault(log: Log, fault: LatchkeyError): void {
  const { stack } = describeError(fault);
  if (fault.code === 'internal') log.error('error', fault.message, { ...fault.details, stack });
  // Without a cause the service just had too much to do, and its request lines say so.
  else if (fault.cause !== undefined) log.warn('error', fault.message, { ...fault.details, stack });
}
