/**
 * Metrics of a `serve` with several processes. Each process counts separately. The one that receives a request for
 * `/metrics` collects the values of all through the first process, which serves no requests (decisions 0027, 0028).
 */
import type { Worker } from 'node:cluster';
import type { MetricsRegistry, MetricValues } from '#platform/metrics/registry.ts';
import { isMessage, type Order, type Report } from './member-messages.ts';

/** A process that takes longer is busy; its values are left out. */
const RESPONSE_MS = 3_000;
/** Longer than the timeout of the first process. */
const GATHER_MS = RESPONSE_MS + 2_000;

/** In a serving process: reports its own values and requests the values of all. */
export class SharedMetrics {
  readonly #registry: MetricsRegistry;
  readonly #questions = new Map<number, (processes: readonly MetricValues[]) => void>();
  #count = 0;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    process.on('message', (message) => {
      if (!isMessage(message)) return;
      if (message.kind === 'count') void this.#answer(message.question);
      else if (message.kind === 'all-counts') this.#questions.get(message.question)?.(message.processes);
    });
  }

  /** Returns the values of every process that responds, or only its own if the first process does not respond. */
  async gather(): Promise<readonly MetricValues[]> {
    this.#count += 1;
    const question = this.#count;
    const gathered = await new Promise<readonly MetricValues[]>((resolve) => {
      const limit = setTimeout(() => resolve([]), GATHER_MS);
      this.#questions.set(question, (processes) => {
        clearTimeout(limit);
        resolve(processes);
      });
      send({ kind: 'counts-wanted', question });
    });
    this.#questions.delete(question);
    return gathered.length > 0 ? gathered : [await this.#registry.values()];
  }

  async #answer(question: number): Promise<void> {
    send({ kind: 'counts', question, values: await this.#registry.values() });
  }
}

function send(report: Report): void {
  if (process.connected) process.send?.(report);
}

/** In the first process: forwards requests to every serving process, and their responses back. */
export class MetricsExchange {
  readonly #workers: () => Iterable<Worker>;
  /** Counts of ended processes, because counters must not decrease. */
  readonly #ended: MetricValues[] = [];
  readonly #last = new Map<number, MetricValues>();
  #count = 0;

  /** @param workers the current serving processes */
  constructor(workers: () => Iterable<Worker>) {
    this.#workers = workers;
  }

  /** Listens to a process from its start. */
  listenTo(worker: Worker): void {
    worker.on('message', (message: unknown) => {
      if (isMessage(message) && message.kind === 'counts-wanted') void this.#answer(worker, message.question);
    });
    worker.on('exit', () => {
      const last = this.#last.get(worker.id);
      this.#last.delete(worker.id);
      if (last !== undefined) this.#ended.push(last.filter(({ type }) => String(type) !== 'gauge'));
    });
  }

  async #answer(asking: Worker, question: number): Promise<void> {
    const requested = [...this.#workers()].filter((worker) => worker.isConnected());
    const responses = await Promise.all(requested.map((worker) => this.#ask(worker)));
    const processes = [...responses.filter((values) => values !== undefined), ...this.#ended];
    if (asking.isConnected()) asking.send({ kind: 'all-counts', question, processes } satisfies Order);
  }

  #ask(worker: Worker): Promise<MetricValues | undefined> {
    this.#count += 1;
    const question = this.#count;
    return new Promise((resolve) => {
      const end = (values: MetricValues | undefined): void => {
        clearTimeout(limit);
        worker.off('message', listen);
        worker.off('exit', leave);
        if (values !== undefined) this.#last.set(worker.id, values);
        resolve(values);
      };
      const listen = (message: unknown): void => {
        if (isMessage(message) && message.kind === 'counts' && message.question === question) end(message.values);
      };
      const leave = (): void => end(undefined);
      const limit = setTimeout(leave, RESPONSE_MS);
      worker.on('message', listen);
      worker.on('exit', leave);
      worker.send({ kind: 'count', question } satisfies Order);
    });
  }
}
