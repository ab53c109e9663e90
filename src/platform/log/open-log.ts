import { type Clock, systemClock } from '#platform/base/clock.ts';
import { type DescriptorSink, openSink } from './descriptor-sink.ts';
import type { LogOptions } from './log-options.ts';
import { LogWriter } from './log-writer.ts';

export interface OpenLog {
  readonly log: LogWriter;
  /** To flush at the end, and to reopen after a rotation. */
  readonly sink: DescriptorSink;
}

/** The log of the process as configured. Throws when its file cannot be opened. */
export function openLog(config: LogOptions, clock: Clock = systemClock): OpenLog {
  const sink = openSink(config.output);
  const hasColor = config.color === 'always' || (config.color === 'auto' && sink.isTerminal);
  const log = new LogWriter({ ...config, sink, clock, hasColor: hasColor && typeof config.output === 'string' });
  sink.onDropped = (count) => log.warn('log.dropped', 'lines were dropped while the log was blocked', { count });
  return { log, sink };
}
