/**
 * Spans on their way to a collector: sent in batches, one at a time, and repeated while the collector asks for it. What
 * does not fit is dropped, so that a collector that is slow or gone costs a bounded amount of memory and no request waits.
 */
import type { Log } from '#platform/base/log.ts';
import { deliver, type PostDocument } from '#platform/base/otlp.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { Span, SpanSink } from './tracer.ts';

const MAX_WAITING = 4096;
const MAX_BATCH = 512;
const SEND_EVERY_MS = 5_000;
const WARN_EVERY_MS = 60_000;
/** Less than the shutdown leaves for all that is flushed. */
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
      this.#drop(1, this.#reason === '' ? 'more spans than the collector takes' : this.#reason);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length < MAX_BATCH || this.#sending !== undefined) return;
    this.#start();
  }

  /** Sends what waits, for as long as a shutdown has time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    await this.#sending;
    this.#start();
    await this.#sending;
    clearTimeout(limit);
    this.#warn();
  }

  /** On behalf of nobody: in a task, the export would be recorded itself, and never come to an end. */
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

  /** At most once a minute, with what was lost since the last time. */
  #warn(): void {
    if (this.#dropped === 0) return;
    const isLast = this.#closing.signal.aborted;
    if (!isLast && performance.now() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = performance.now();
    const fields = { spans: this.#dropped, reason: this.#reason };
    this.#dropped = 0;
    resumeTask(undefined, () => this.#options.log.warn('tracing.dropped', 'spans were not taken and are lost', fields));
  }
}
