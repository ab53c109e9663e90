import { systemClock } from '#platform/base/clock.ts';
import { LogWriter } from '#platform/log/log-writer.ts';

/** A log that discards everything, for tests that do not inspect it. */
export const silentLog = new LogWriter({
  sink: { write() {} },
  clock: systemClock,
  level: 'error',
  targetLevels: {},
  format: 'text',
  padLevel: false,
  hasColor: false,
});
