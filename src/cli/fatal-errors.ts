import { failureReports } from '#platform/base/failure-reports.ts';
import { describeError, type Log } from '#platform/base/log.ts';

/** Logs and reports what nothing in this process has caught. @param end is called then: the process has to end */
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
