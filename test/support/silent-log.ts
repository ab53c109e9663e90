import { systemClock } from '#platform/base/clock.ts';
import { LogWriter } from '#platform/log/log-writer.ts';

/** A log that keeps nothing, for tests that do not look at it. */
export const silentLog = new LogWriter({
  sink: { write() {} },
  clock: systemClock,
  level: 'error',
  targetLevels: {},
  format: 'text',
  padLevel: false,
  hasColor: false,
});
