import type { Log } from '#platform/base/log.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { DescriptorLimit } from './descriptors.ts';

const QUIET_MS = 10_000;

/** `http.descriptors.exhausted`: at once, then every ten seconds with the number of connections closed in between. */
export class DescriptorWarnings {
  readonly #log: Log;
  #closed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** One more connection is closed. */
  report(limit: DescriptorLimit): void {
    this.#closed += 1;
    if (this.#timer !== undefined) return;
    this.#write(limit);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#closed > 0) this.#write(limit);
    }, QUIET_MS).unref();
  }

  #write({ openFiles, connections }: DescriptorLimit): void {
    const fields = { limit: openFiles, connections, closed: this.#closed };
    this.#closed = 0;
    resumeTask(undefined, () =>
      this.#log.warn(
        'http.descriptors.exhausted',
        'file descriptors run out, idle connections are closed; raise the limit of open files (ulimit -n, LimitNOFILE)',
        fields,
      ),
    );
  }
}
