import { ERRORS, LatchkeyError } from '#platform/base/errors.ts';
import { describeError, type Log } from '#platform/base/log.ts';

/**
 * Returns what ended a request as an error that an error format can render: anything that was not thrown on purpose becomes
 * `internal`. Faults are logged with their cause. Refusals are logged by their code at DEBUG: what an operator has to
 * know of one, only the code that refused can tell (`auth.refused`), and the request's own line tells the rest.
 */
export function reportFailure(log: Log, thrown: unknown): LatchkeyError {
  if (!(thrown instanceof LatchkeyError)) {
    const { message, stack } = describeError(thrown);
    log.error('error', message, { stack });
    return new LatchkeyError('internal', { cause: thrown });
  }
  if (ERRORS[thrown.code].kind === 'fault') reportFault(log, thrown);
  else log.debug('http.refused', 'request refused', { code: thrown.code, ...thrown.details });
  return thrown;
}

function reportFault(log: Log, fault: LatchkeyError): void {
  const { stack } = describeError(fault);
  if (fault.code === 'internal') log.error('error', fault.message, { ...fault.details, stack });
  // Without a cause the service just had too much to do, and its request lines say so.
  else if (fault.cause !== undefined) log.warn('error', fault.message, { ...fault.details, stack });
}
