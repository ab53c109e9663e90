import type { LogFields } from '#platform/base/log.ts';
import { currentTask } from '#platform/base/tasks.ts';
import { LogWriter, type LogWriterOptions } from '#platform/log/log-writer.ts';
import { FakeClock } from './fake-clock.ts';

export interface RecordedLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly event: string;
  readonly message: string;
  readonly fields: LogFields;
  /** The task that wrote it. */
  readonly taskId: string | undefined;
}

/** A log whose lines a test can look at, as they were asked for and as they are written. */
export class RecordingLog extends LogWriter {
  /** Requests left out. */
  readonly lines: RecordedLine[] = [];
  /** What a file would hold, without line ends. */
  readonly written: string[];

  /** Writes all levels but `trace` unless told otherwise. */
  constructor(options: Partial<LogWriterOptions> = {}) {
    const written: string[] = [];
    super({
      clock: new FakeClock(),
      level: 'debug',
      targetLevels: {},
      format: 'text',
      padLevel: false,
      hasColor: false,
      sink: { write: (text) => written.push(text.slice(0, -1)) },
      ...options,
    });
    this.written = written;
  }

  override error(event: string, message: string, fields: LogFields = {}): void {
    this.#add('error', event, message, fields);
    super.error(event, message, fields);
  }

  override warn(event: string, message: string, fields: LogFields = {}): void {
    this.#add('warn', event, message, fields);
    super.warn(event, message, fields);
  }

  override info(event: string, message: string, fields: LogFields = {}): void {
    this.#add('info', event, message, fields);
    super.info(event, message, fields);
  }

  override debug(event: string, message: string, fields: LogFields = {}): void {
    this.#add('debug', event, message, fields);
    super.debug(event, message, fields);
  }

  #add(level: RecordedLine['level'], event: string, message: string, fields: LogFields): void {
    this.lines.push({ level, event, message, fields, taskId: currentTask()?.id });
  }
}
