/**
 * Sends spans to a collector in batches, one at a time, with retries when the collector asks for them. Drops spans that
 * exceed the limit, so a slow or unreachable collector uses bounded memory and requests never wait.
 */
import type { Log } from '#platform/base/log.ts';
import { deliver, type PostDocument } from '#platform/base/otlp.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { Span, SpanSink } from './tracer.ts';

const MAX_WAITING = 4096;
const MAX_BATCH = 512;
const SEND_EVERY_MS = 5_000;
const WARN_EVERY_MS = 60_000;
/** Shorter than the time that the shutdown allows for all flushes. */
const CLOSE_MS = 4_500;

interface BatchesOptions {
  readonly log: Log;
  send(spans: readonly Span[], signal: AbortSignal): ReturnType<PostDocument>;
}

export class Batches implements SpanSink {
  readonly #options: BatchesOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #waiting: Span[] = [];
  #sending: Promise<void> | undefined;
  #dropped = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #reason = '';

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#start(), SEND_EVERY_MS).unref();
  }

  add(span: Span): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#drop(1, this.#reason === '' ? 'the collector is too slow' : this.#reason);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length < MAX_BATCH || this.#sending !== undefined) return;
    this.#start();
  }

  /** Sends what is queued, within the time that a shutdown allows. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    await this.#sending;
    this.#start();
    await this.#sending;
    clearTimeout(limit);
    this.#warn();
  }

  /** Runs outside of any task, otherwise the export would record its own spans without end. */
  #start(): void {
    this.#sending ??= new Promise<void>((resolve) => {
      setImmediate(() => resumeTask(undefined, () => void this.#sendAll().then(resolve)));
    }).finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const failure = await deliver(
        (signal) => this.#options.send(batch, signal),
        this.#closing.signal,
        (reason) => {
          this.#reason = reason;
        },
      );
      if (failure === undefined) this.#reason = '';
      else this.#drop(batch.length, failure);
    }
    this.#warn();
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count;
    this.#reason = reason;
    if (performance.now() - this.#warnedAt >= WARN_EVERY_MS) this.#warn();
  }

  /** Logs at most once a minute, with the number of spans lost since the last warning. */
  #warn(): void {
    if (this.#dropped === 0) return;
    const isLast = this.#closing.signal.aborted;
    if (!isLast && performance.now() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = performance.now();
    const fields = { spans: this.#dropped, reason: this.#reason };
    this.#dropped = 0;
    resumeTask(undefined, () => this.#options.log.warn('tracing.dropped', 'spans dropped', fields));
  }
}
