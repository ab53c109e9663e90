/**
 * Sends what was counted to a collector in regular intervals. Each time all numbers since the start go out, so one that
 * gets lost costs nothing but its moment, and nothing has to wait in memory.
 */
import type { Clock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { deliver, type OtlpSource, type PostDocument } from '#platform/base/otlp.ts';
import { outside, resumeTask } from '#platform/base/tasks.ts';
import { metricsJson } from './otlp-json.ts';
import type { MetricsRegistry } from './registry.ts';

/** Less than the shutdown leaves for all that is flushed. */
const CLOSE_MS = 4_500;

export interface MetricsExporterOptions extends OtlpSource {
  readonly registry: Pick<MetricsRegistry, 'values'>;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly post: PostDocument;
}

export class MetricsExporter {
  readonly #options: MetricsExporterOptions;
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: MetricsExporterOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#timer = setInterval(() => this.#start(), options.intervalMs).unref();
  }

  /** Sends the last numbers, for as long as a shutdown has time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const { signal } = this.#closing;
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    const aborted = outside(
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    );
    const last = async (): Promise<void> => {
      await this.#sending;
      this.#start();
      await this.#sending;
    };
    // What the numbers are read from may not answer any more.
    await Promise.race([last(), aborted]);
    clearTimeout(limit);
  }

  /** On behalf of nobody, and nothing while the numbers before these are still on their way. */
  #start(): void {
    this.#sending ??= new Promise<void>((resolve) => {
      setImmediate(() => resumeTask(undefined, () => void this.#send().then(resolve)));
    }).finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(): Promise<void> {
    const { log } = this.#options;
    const failure = await this.#sendOnce().catch((error: unknown) => describeError(error).message);
    if (failure !== undefined && !this.#isFailing)
      log.warn('metrics.failed', 'metrics were not taken', { reason: failure });
    if (failure === undefined && this.#isFailing) log.info('metrics.sent', 'metrics are taken again');
    this.#isFailing = failure !== undefined;
  }

  /** @returns why the numbers were not taken */
  async #sendOnce(): Promise<string | undefined> {
    const { clock, registry, post, ...source } = this.#options;
    const values = await registry.values();
    const document = metricsJson(source, values, { startedAt: this.#startedAt, now: clock.now() });
    return await deliver((signal) => post(document, signal), this.#closing.signal);
  }
}
