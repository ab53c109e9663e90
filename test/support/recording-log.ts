import type { LogFields } from '#platform/base/log.ts';
import { currentTask } from '#platform/base/tasks.ts';
import { LogWriter, type LogWriterOptions } from '#platform/log/log-writer.ts';
import { FakeClock } from './fake-clock.ts';

export interface RecordedLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly event: string;
  readonly message: string;
  readonly fields: LogFields;
  /** ID of the task that wrote the line. */
  readonly taskId: string | undefined;
}

/** A log that records its lines, both as structured events and as written text. */
export class RecordingLog extends LogWriter {
  /** Without request lines. */
  readonly lines: RecordedLine[] = [];
  /** The written lines, without line ends. */
  readonly written: string[];

  /** Logs all levels except `trace` by default. */
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
