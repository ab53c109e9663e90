import { failureReports } from '#platform/base/failure-reports.ts';
import { describeError, type Log } from '#platform/base/log.ts';

/**
 * Logs and reports uncaught errors of this process.
 * @param end called afterwards to end the process
 */
export function onFatalError(log: Log, end: () => void): void {
  const fail = (error: unknown): void => {
    const { message, stack } = describeError(error);
    log.error('error', message, { stack });
    failureReports?.report(error, { name: 'process', isFatal: true });
    end();
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
