import type { Log, LogFields } from '#platform/base/log.ts';
import { currentTask } from '#platform/base/tasks.ts';

export interface RecordedLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly event: string;
  readonly message: string;
  readonly fields: LogFields;
  /** On whose behalf it was written. */
  readonly taskId: string | undefined;
}

/** A log whose lines a test can look at. */
export class RecordingLog implements Log {
  readonly lines: RecordedLine[] = [];

  error(event: string, message: string, fields: LogFields = {}): void {
    this.#add('error', event, message, fields);
  }

  warn(event: string, message: string, fields: LogFields = {}): void {
    this.#add('warn', event, message, fields);
  }

  info(event: string, message: string, fields: LogFields = {}): void {
    this.#add('info', event, message, fields);
  }

  debug(event: string, message: string, fields: LogFields = {}): void {
    this.#add('debug', event, message, fields);
  }

  #add(level: RecordedLine['level'], event: string, message: string, fields: LogFields): void {
    this.lines.push({ level, event, message, fields, taskId: currentTask()?.id });
  }
}
