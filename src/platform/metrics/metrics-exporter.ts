/**
 * Exports metrics to a collector at regular intervals. Values are cumulative since the start, so a failed export loses
 * only its data point, and nothing needs to be buffered.
 */
import type { Clock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { deliver, type OtlpSource, type PostDocument } from '#platform/base/otlp.ts';
import { outside, resumeTask } from '#platform/base/tasks.ts';
import { metricsJson } from './otlp-json.ts';
import type { MetricsRegistry } from './registry.ts';

/** Shorter than the time that the shutdown allows for all flushes. */
const CLOSE_MS = 4_500;

export interface MetricsExporterOptions extends OtlpSource {
  readonly registry: Pick<MetricsRegistry, 'table' | 'values'>;
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

  /** Exports the final values, within the time that a shutdown allows. */
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
    // The sources of the values may no longer respond.
    await Promise.race([last(), aborted]);
    clearTimeout(limit);
  }

  /** Runs outside of any task, and does nothing while the previous export is in progress. */
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
      log.warn('metrics.failed', 'metrics export failed', { reason: failure });
    if (failure === undefined && this.#isFailing) log.info('metrics.sent', 'metrics export recovered');
    this.#isFailing = failure !== undefined;
  }

  /** @returns why the values were not accepted */
  async #sendOnce(): Promise<string | undefined> {
    const { clock, registry, post, ...source } = this.#options;
    const values = await registry.values();
    const document = metricsJson(source, registry.table, values, { startedAt: this.#startedAt, now: clock.now() });
    return await deliver((signal) => post(document, signal), this.#closing.signal);
  }
}
