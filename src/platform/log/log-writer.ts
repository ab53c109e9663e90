import type { Clock } from '#platform/base/clock.ts';
import type { Log, LogFields } from '#platform/base/log.ts';
import { bankCurrentStretch, currentTask } from '#platform/base/tasks.ts';
import { escapeQuoted, escapeText, jsonString } from './escaping.ts';
import type { LogLevel, LogOptions } from './log-options.ts';
import type { LogSink } from './log-sink.ts';
import { REQUEST_EVENT, type RequestRecord, requestLineJson, requestLineText } from './request-line.ts';
import { Timestamps } from './timestamps.ts';

const SEVERITY: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3, trace: 4 };
const NAMES = { error: 'ERROR', warn: 'WARN', info: 'INFO', debug: 'DEBUG', trace: 'TRACE' } as const;
const COLORS = { error: 31, warn: 33, info: 32, debug: 34, trace: 35 } as const;
type WrittenLevel = keyof typeof NAMES;

export interface LogWriterOptions extends Pick<LogOptions, 'level' | 'targetLevels' | 'format' | 'padLevel'> {
  readonly sink: LogSink;
  readonly clock: Clock;
  /** Whether levels are coloured in the text format. */
  readonly hasColor: boolean;
}

/** Formats lines by hand and hands them to the sink; lines written on behalf of a task carry its identifier. */
export class LogWriter implements Log {
  readonly trace: Log['trace'];
  readonly #sink: LogSink;
  readonly #timestamps: Timestamps;
  readonly #isJson: boolean;
  readonly #levels: LevelFilter;
  readonly #levelTexts: Record<WrittenLevel, string>;

  constructor(options: LogWriterOptions) {
    this.#sink = options.sink;
    this.#timestamps = new Timestamps(options.clock);
    this.#isJson = options.format === 'json';
    this.#levels = new LevelFilter(options.level, options.targetLevels);
    const text = (level: WrittenLevel): string => levelText(level, options);
    this.#levelTexts = {
      error: text('error'),
      warn: text('warn'),
      info: text('info'),
      debug: text('debug'),
      trace: text('trace'),
    };
    const isTracing = [options.level, ...Object.values(options.targetLevels)].includes('trace');
    this.trace = isTracing ? (event, message, fields) => this.#write('trace', event, message, fields) : undefined;
  }

  error(event: string, message: string, fields?: LogFields): void {
    this.#write('error', event, message, fields);
  }

  warn(event: string, message: string, fields?: LogFields): void {
    this.#write('warn', event, message, fields);
  }

  info(event: string, message: string, fields?: LogFields): void {
    this.#write('info', event, message, fields);
  }

  debug(event: string, message: string, fields?: LogFields): void {
    this.#write('debug', event, message, fields);
  }

  /** The one `http.server.response` line of a request, whose answer has to be complete. */
  request(record: RequestRecord): void {
    const level = requestLevel(record.status);
    if (!this.#levels.lets(level, REQUEST_EVENT)) return;
    bankCurrentStretch();
    const elapsedMs = performance.now() - record.task.startedAt;
    const time = this.#timestamps.now();
    this.#sink.write(
      this.#isJson
        ? `{"timestamp":"${time}","level":"${NAMES[level]}","event":"${REQUEST_EVENT}",${requestLineJson(record, elapsedMs)}}\n`
        : `${time} ${this.#levelTexts[level]} ${requestLineText(record, elapsedMs)}\n`,
    );
  }

  #write(level: WrittenLevel, event: string, message: string, fields: LogFields | undefined): void {
    if (!this.#levels.lets(level, event)) return;
    const time = this.#timestamps.now();
    const task = currentTask();
    if (this.#isJson) {
      const id = task === undefined ? '' : `"request_id":${jsonString(task.id)},`;
      const trace = task?.traceId === undefined ? '' : `,"trace.id":"${task.traceId}"`;
      this.#sink.write(
        `{"timestamp":"${time}","level":"${NAMES[level]}","event":${jsonString(event)},${id}` +
          `"message":${jsonString(message)}${jsonFields(fields)}${trace}}\n`,
      );
      return;
    }
    const id = task === undefined ? '' : `${task.id} - `;
    const trace = task?.traceId === undefined ? '' : ` trace.id=${task.traceId}`;
    this.#sink.write(
      `${time} ${this.#levelTexts[level]} ${event} ${id}${escapeText(message)}${textFields(fields)}${trace}\n`,
    );
  }
}

/** The level of a request's line: 4xx is a warning, 5xx an error. */
function requestLevel(status: number): WrittenLevel {
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'info';
}

function levelText(level: WrittenLevel, options: LogWriterOptions): string {
  const name = options.padLevel ? NAMES[level].padStart(5) : NAMES[level];
  return options.hasColor ? `\x1b[${COLORS[level]}m${name}\x1b[0m` : name;
}

const BARE_VALUE = /^[\x21\x23-\x3c\x3e-\x5b\x5d-\x7e]+$/;

function textFields(fields: LogFields | undefined): string {
  let text = '';
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue;
    const plain = String(value);
    text += ` ${name}=${BARE_VALUE.test(plain) ? plain : `"${escapeQuoted(plain)}"`}`;
  }
  return text;
}

function jsonFields(fields: LogFields | undefined): string {
  let text = '';
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue;
    text += `,${jsonString(name)}:${typeof value === 'string' ? jsonString(value) : JSON.stringify(value)}`;
  }
  return text;
}

/** `logging.level`, with other levels for single events or groups of them (`http.server`, `db`). */
class LevelFilter {
  readonly #level: LogLevel;
  readonly #targets: readonly [target: string, level: LogLevel][];
  readonly #severityByEvent = new Map<string, number>();

  constructor(level: LogLevel, targets: Readonly<Record<string, LogLevel>>) {
    this.#level = level;
    // The longest target that fits decides.
    this.#targets = Object.entries(targets).sort(([one], [other]) => other.length - one.length);
  }

  lets(level: WrittenLevel, event: string): boolean {
    let limit = this.#severityByEvent.get(event);
    if (limit === undefined) {
      const target = this.#targets.find(([name]) => event === name || event.startsWith(`${name}.`));
      limit = SEVERITY[target?.[1] ?? this.#level];
      this.#severityByEvent.set(event, limit);
    }
    return SEVERITY[level] <= limit;
  }
}
