/**
 * The log of the process: text or JSON lines with time, level, event, task and fields (operations 5), filtered by level
 * and handed to a sink. Lines are formatted by hand, since a request pays for its line.
 */
import { type Clock, systemClock } from '#platform/base/clock.ts';
import type { Log, LogFields } from '#platform/base/log.ts';
import { bankCurrentStretch, currentTask } from '#platform/base/tasks.ts';
import { type DescriptorSink, type LogSink, openSink } from './descriptor-sink.ts';
import { escapeQuoted, escapeText, jsonString } from './escaping.ts';
import type { LogLevel, LogOptions } from './log-options.ts';
import { REQUEST_EVENT, type RequestRecord, requestLineJson, requestLineText } from './request-line.ts';

const SEVERITY: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3, trace: 4 };
const NAMES = { error: 'ERROR', warn: 'WARN', info: 'INFO', debug: 'DEBUG', trace: 'TRACE' } as const;
const COLORS = { error: 31, warn: 33, info: 32, debug: 34, trace: 35 } as const;
type WrittenLevel = keyof typeof NAMES;

/** A log that is open and not in use yet. */
export interface PreparedLog {
  /** Puts it in place of the former one. */
  use(): void;
  /** Closes it. */
  discard(): void;
}

/** The log of the process, which a reload may send elsewhere or write in another way. */
export class OpenLog {
  readonly log: LogWriter;
  readonly #clock: Clock;
  #config: LogOptions;
  #sink: DescriptorSink;

  /** Throws when the file of the log cannot be opened. */
  constructor(config: LogOptions, clock: Clock) {
    this.#clock = clock;
    this.#config = config;
    this.#sink = this.#open(config);
    this.log = new LogWriter(writerOptions(config, this.#sink, clock));
  }

  /** To flush at the end. */
  get sink(): DescriptorSink {
    return this.#sink;
  }

  /**
   * Opens what another configuration asks for, also a file of the same name, which may have been moved away. Throws
   * when that fails; nothing has changed then.
   */
  prepare(config: LogOptions): PreparedLog {
    const before = this.#sink;
    const isSame = typeof config.output === 'string' && config.output === this.#config.output;
    const next = isSame ? before : this.#open(config);
    // The former one is closed once its lines are written: nobody waits for a reader that has stopped.
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

  /** Opens the same again, after a rotation moved a file away. */
  reopen(): void {
    this.prepare(this.#config).use();
  }

  #open({ output }: LogOptions): DescriptorSink {
    const sink = openSink(output);
    sink.onDropped = (count) =>
      this.log.warn('log.dropped', 'lines of the log are lost: its reader or its disk took no more', { count });
    return sink;
  }
}

/** The log of the process as configured. Throws when its file cannot be opened. */
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
  /** Whether levels are colored in the text format. */
  readonly hasColor: boolean;
}

/** Writes one line per event; a line that is written while a task runs carries the identifier of the task. */
export class LogWriter implements Log {
  trace: Log['trace'];
  readonly #timestamps: Timestamps;
  #form: LineForm;

  constructor(options: LogWriterOptions) {
    this.#timestamps = new Timestamps(options.clock);
    this.#form = lineForm(options);
    this.trace = this.#traceOf(options);
  }

  /** Writes lines in another way, and elsewhere, from now on. */
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

  /** The one `http.server.response` line of a request, whose response is complete. */
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

const MAX_DRIFT_MS = 5;

/**
 * UTC times with microseconds for the log: the monotonic clock plus its offset to the wall clock, which is taken again
 * when the two have drifted apart (the wall clock was set, or the machine slept).
 */
export class Timestamps {
  readonly #clock: Clock;
  #offsetMs = 0;
  #second = -1;
  /** `2026-06-17T10:49:22.` of that second: formatting it for each line would cost six times as much. */
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
