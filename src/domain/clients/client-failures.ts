import type { Limiter } from '#config/sections/rate-limiting.ts';
import { countFailure } from '#domain/limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { ClientId } from '#vocabulary/ids.ts';

export interface ClientFailuresDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  /** Limit of failures per client and IP address. */
  readonly limiter: Limiter;
  /** The `Origin` header that browsers send from this service's pages. */
  readonly origin: string;
}

/** The sender of the request. */
export interface FailureSource {
  readonly clientAddress: string | undefined;
  /** The `Origin` header. */
  readonly origin: string | undefined;
}

const MAX_SHUT_KEYS = 10_000;

/**
 * Counts wrong client secrets in the database, per client and IP address, so that one address cannot lock out a client
 * for others. The database returns how long a key is locked. This process remembers it and rejects further attempts
 * without any work.
 *
 * Unknown client IDs share one key per IP address, so that random IDs do not fill the table.
 */
export class ClientFailures {
  readonly #deps: ClientFailuresDeps;
  /** End of each lock in milliseconds since the epoch; ordered by the start of the lock. */
  readonly #shutUntil = new Map<string, number>();

  constructor(deps: ClientFailuresDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the remaining seconds of the lock; 0 if the caller is not locked out.
   * @param client undefined for an unknown client ID
   */
  secondsShut(clientAddress: string | undefined, client: ClientId | undefined): number {
    if (this.#shutUntil.size === 0) return 0;
    const key = failureKey(clientAddress, client);
    const until = this.#shutUntil.get(key);
    if (until === undefined) return 0;
    const seconds = (until - this.#deps.clock.now()) / 1000;
    if (seconds > 0) return seconds;
    this.#shutUntil.delete(key);
    return 0;
  }

  /**
   * Counts one failure. Ignores cross-origin browser requests: a foreign page could otherwise lock out the client for
   * every user behind the visitor's IP address.
   */
  async count(source: FailureSource, client: ClientId | undefined): Promise<void> {
    const { database, clock, limiter, origin } = this.#deps;
    if (source.origin !== undefined && source.origin !== origin) return;
    const key = failureKey(source.clientAddress, client);
    const seconds = await countFailure(database, clock, { key, limiter });
    if (seconds > 0) this.#shut(key, clock.now() + seconds * 1000);
  }

  #shut(key: string, until: number): void {
    this.#shutUntil.delete(key);
    this.#shutUntil.set(key, until);
    if (this.#shutUntil.size <= MAX_SHUT_KEYS) return;
    const oldest = this.#shutUntil.keys().next();
    if (oldest.done !== true) this.#shutUntil.delete(oldest.value);
  }
}

function failureKey(clientAddress: string | undefined, client: ClientId | undefined): string {
  return `client_authentication:${client ?? 'unknown'}:${addressKey(clientAddress)}`;
}
