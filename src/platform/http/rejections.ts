import type { Log } from '#platform/base/log.ts';

export type RejectionReason = 'malformed' | 'header_overflow' | 'header_timeout' | 'limit';

const MAX_PER_SECOND = 10;

/**
 * `http.connection.rejected`: bytes that never became a request, or a connection too many. At most ten lines a
 * second, then one with the number of the others.
 */
export class Rejections {
  readonly #log: Log;
  #written = 0;
  #suppressed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param status what was answered, if anything was */
  report(reason: RejectionReason, status: number | undefined, clientAddress: string | undefined): void {
    this.#timer ??= setTimeout(() => this.#endSecond(), 1000).unref();
    if (this.#written === MAX_PER_SECOND) {
      this.#suppressed += 1;
      return;
    }
    this.#written += 1;
    const fields = { reason, status, 'client.address': clientAddress };
    this.#log.warn('http.connection.rejected', 'connection rejected', fields);
  }

  #endSecond(): void {
    if (this.#suppressed > 0) {
      this.#log.warn('http.connection.rejected', 'more connections rejected', { count: this.#suppressed });
    }
    this.#timer = undefined;
    this.#written = 0;
    this.#suppressed = 0;
  }
}
