/** Log lines about rejected or closed connections. Their number is limited, however many connections there are. */
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { DescriptorLimit } from './connections.ts';

/** `http2`: HTTP/2 on a listener without TLS that does not allow it. */
export type RejectionReason = 'malformed' | 'header_overflow' | 'header_timeout' | 'http2' | 'tls' | 'proxy' | 'limit';

const MAX_PER_SECOND = 10;

/**
 * `http.connection.rejected`: bytes that never became a request, or too many connections. Logs at most ten lines a
 * second, then one line with the number of the others.
 */
export class Rejections {
  readonly #log: Log;
  #written = 0;
  #suppressed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param status of the response, if there was one */
  report(reason: RejectionReason, status: number | undefined, clientAddress: string | undefined): void {
    metrics?.count('http_server_rejected_total', { reason });
    this.#timer ??= setTimeout(() => this.#endSecond(), 1000).unref();
    if (this.#written === MAX_PER_SECOND) {
      this.#suppressed += 1;
      return;
    }
    this.#written += 1;
    const fields = { reason, status, 'client.address': clientAddress };
    this.#log.warn('http.connection.rejected', 'connection rejected', fields);
  }

  /** Reports a connection that was closed without receiving a byte: browsers open some in advance. */
  reportSilent(clientAddress: string | undefined): void {
    metrics?.count('http_server_rejected_total', { reason: 'header_timeout' });
    this.#log.debug('http.connection.rejected', 'connection closed: the client sent nothing', {
      'client.address': clientAddress,
    });
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

const QUIET_MS = 10_000;

/**
 * `http.descriptors.exhausted`: logs immediately, then every ten seconds with the number of connections closed since.
 */
export class DescriptorWarnings {
  readonly #log: Log;
  #closed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Counts a closed connection. */
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
        'file descriptors exhausted, closing idle connections; raise the limit of open files (ulimit -n, LimitNOFILE)',
        fields,
      ),
    );
  }
}
