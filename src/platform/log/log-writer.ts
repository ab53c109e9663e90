/**
 * The process log: text or JSON lines with time, level, event, task and fields (operations 5), filtered by level and
 * passed to a sink. Lines are formatted by hand, because every request pays for its line.
 */
import { type Clock, systemClock } from '#platform/base/clock.ts';
import type { Log, LogFields } from '#platform/base/log.ts';
import { bankCurrentStretch, currentTask } from '#platform/base/tasks.ts';
import { type DescriptorSink, type LogSink, openSink } from './descriptor-sink.ts';
import { escapeQuoted, escapeText, jsonString } from './escaping.ts';
import { requestLineJson, requestLineText } from './format-request-line.ts';
import type { LogLevel, LogOptions } from './log-options.ts';
import { REQUEST_EVENT, type RequestRecord } from './request-line.ts';

const SEVERITY: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3, trace: 4 };
const NAMES = { error: 'ERROR', warn: 'WARN', info: 'INFO', debug: 'DEBUG', trace: 'TRACE' } as const;
const COLORS = { error: 31, warn: 33, info: 32, debug: 34, trace: 35 } as const;
type WrittenLevel = keyof typeof NAMES;

/** A log that is open but not yet in use. */
export interface PreparedLog {
  /** Replaces the current log with it. */
  use(): void;
  /** Closes it. */
  discard(): void;
}

/** The process log. A reload can change its destination and format. */
export class OpenLog {
  readonly log: LogWriter;
  readonly #clock: Clock;
  #config: LogOptions;
  #sink: DescriptorSink;

  /** Throws if the log file cannot be opened. */
  constructor(config: LogOptions, clock: Clock) {
    this.#clock = clock;
    this.#config = config;
    this.#sink = this.#open(config);
    this.log = new LogWriter(writerOptions(config, this.#sink, clock));
  }

  /** The sink to flush on exit. */
  get sink(): DescriptorSink {
    return this.#sink;
  }

  /**
   * Opens the log for a new configuration. A file of the same name is reopened, since it may have been moved. Throws if
   * that fails, without changing anything.
   */
  prepare(config: LogOptions): PreparedLog {
    const before = this.#sink;
    const isSame = typeof config.output === 'string' && config.output === this.#config.output;
    const next = isSame ? before : this.#open(config);
    // The old sink closes when its lines are written. Nothing waits for that, since its reader may have stopped.
    const leave = (sink: DescriptorSink, other: DescriptorSink): void => {
      if (sink !== other) void sink.close();
    };
    return {
      use: () => {
        this.#config = config;
        this.#sink = next;
        this.log.configure(writerOptions(config, next, this.#clock));
        leave(before, next);
      },
      discard: () => leave(next, before),
    };
  }

  /** Reopens the same destination, after a log rotation has moved the file. */
  reopen(): void {
    this.prepare(this.#config).use();
  }

  #open({ output }: LogOptions): DescriptorSink {
    const sink = openSink(output);
    sink.onDropped = (count) =>
      this.log.warn('log.dropped', 'log lines dropped: the reader or the disk did not accept them', { count });
    return sink;
  }
}

/** Opens the process log as configured. Throws if its file cannot be opened. */
export function openLog(config: LogOptions, clock: Clock = systemClock): OpenLog {
  return new OpenLog(config, clock);
}

function writerOptions(config: LogOptions, sink: DescriptorSink, clock: Clock): LogWriterOptions {
  const hasColor = config.color === 'always' || (config.color === 'auto' && sink.isTerminal);
  return { ...config, sink, clock, hasColor: hasColor && typeof config.output === 'string' };
}

export interface LogWriterOptions extends Pick<LogOptions, 'level' | 'targetLevels' | 'format' | 'padLevel'> {
  readonly sink: LogSink;
  readonly clock: Clock;
  /** Whether levels are colored in text format. */
  readonly hasColor: boolean;
}

/** Writes one line per event. Lines written while a task runs include the task's identifier. */
export class LogWriter implements Log {
  trace: Log['trace'];
  readonly #timestamps: Timestamps;
  #form: LineForm;

  constructor(options: LogWriterOptions) {
    this.#timestamps = new Timestamps(options.clock);
    this.#form = lineForm(options);
    this.trace = this.#traceOf(options);
  }

  /** Changes the format and destination from now on. */
  configure(options: LogWriterOptions): void {
    this.#form = lineForm(options);
    this.trace = this.#traceOf(options);
  }

  #traceOf(options: LogWriterOptions): Log['trace'] {
    const isTracing = [options.level, ...Object.values(options.targetLevels)].includes('trace');
    return isTracing ? (event, message, fields) => this.#write('trace', event, message, fields) : undefined;
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

  /** Writes the `http.server.response` line of a request with a complete response. */
  request(record: RequestRecord): void {
    const level = requestLevel(record.status);
    const { isJson, levels, levelTexts, sink } = this.#form;
    if (!levels.lets(level, REQUEST_EVENT)) return;
    bankCurrentStretch();
    const elapsedMs = performance.now() - record.task.startedAt;
    const time = this.#timestamps.now();
    sink.write(
      isJson
        ? `{"timestamp":"${time}","level":"${NAMES[level]}","event":"${REQUEST_EVENT}",${requestLineJson(record, elapsedMs)}}\n`
        : `${time} ${levelTexts[level]} ${requestLineText(record, elapsedMs)}\n`,
    );
  }

  #write(level: WrittenLevel, event: string, message: string, fields: LogFields | undefined): void {
    const { isJson, levels, levelTexts, sink } = this.#form;
    if (!levels.lets(level, event)) return;
    const time = this.#timestamps.now();
    const task = currentTask();
    if (isJson) {
      const id = task === undefined ? '' : `"request_id":${jsonString(task.id)},`;
      const trace = task?.traceId === undefined ? '' : `,"trace.id":"${task.traceId}"`;
      sink.write(
        `{"timestamp":"${time}","level":"${NAMES[level]}","event":${jsonString(event)},${id}` +
          `"message":${jsonString(message)}${jsonFields(fields)}${trace}}\n`,
      );
      return;
    }
    const id = task === undefined ? '' : `${task.id} - `;
    const trace = task?.traceId === undefined ? '' : ` trace.id=${task.traceId}`;
    sink.write(`${time} ${levelTexts[level]} ${event} ${id}${escapeText(message)}${textFields(fields)}${trace}\n`);
  }
}

interface LineForm {
  readonly sink: LogSink;
  readonly isJson: boolean;
  readonly levels: LevelFilter;
  readonly levelTexts: Record<WrittenLevel, string>;
}

function lineForm(options: LogWriterOptions): LineForm {
  const text = (level: WrittenLevel): string => levelText(level, options);
  return {
    sink: options.sink,
    isJson: options.format === 'json',
    levels: new LevelFilter(options.level, options.targetLevels),
    levelTexts: {
      error: text('error'),
      warn: text('warn'),
      info: text('info'),
      debug: text('debug'),
      trace: text('trace'),
    },
  };
}

/** Returns the level of a request's line: warning for 4xx, error for 5xx. */
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

/** `logging.level`, with overrides for individual events or groups of events (`http.server`, `db`). */
class LevelFilter {
  readonly #level: LogLevel;
  readonly #targets: readonly [target: string, level: LogLevel][];
  readonly #severityByEvent = new Map<string, number>();

  constructor(level: LogLevel, targets: Readonly<Record<string, LogLevel>>) {
    this.#level = level;
    // The longest matching target applies.
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

const MAX_DRIFT_MS = 5;

/**
 * Formats UTC times with microseconds. Adds an offset to the monotonic clock, and updates the offset when the two
 * clocks drift apart (the system clock was set, or the machine slept).
 */
export class Timestamps {
  readonly #clock: Clock;
  #offsetMs = 0;
  #second = -1;
  /** `2026-06-17T10:49:22.` for the current second. Formatting it for each line would cost six times as much. */
  #prefix = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For example `2026-06-17T10:49:22.419912Z`. */
  now(): string {
    const wall = this.#clock.now();
    const monotonic = performance.now();
    if (Math.abs(monotonic + this.#offsetMs - wall) > MAX_DRIFT_MS) this.#offsetMs = wall - monotonic;
    const micros = Math.floor((monotonic + this.#offsetMs) * 1000);
    const second = Math.floor(micros / 1_000_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#prefix = new Date(second * 1000).toISOString().slice(0, 20);
    }
    return `${this.#prefix}${String(micros - second * 1_000_000).padStart(6, '0')}Z`;
  }
}
