import type { Limiter } from '#config/sections/rate-limiting.ts';
import { countFailure } from '#domain/rate-limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { ClientId } from '#platform/base/ids.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Queryable } from '#platform/postgres/database.ts';

export interface ClientFailuresDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  /** Failures of one client from one address. */
  readonly limiter: Limiter;
  /** What browsers send as `Origin` from our own pages. */
  readonly origin: string;
}

/** Who sent the request. */
export interface FailureSource {
  readonly clientAddress: string | undefined;
  /** The `Origin` header. */
  readonly origin: string | undefined;
}

const MAX_SHUT_KEYS = 10_000;

/**
 * Wrong secrets, counted in the database for each client and address: one address never shuts a client for another.
 * The database says for how long a key is shut from then on; this process remembers it and refuses without any work.
 *
 * All ids that no client has share one key for each address, so that random ids do not fill the table.
 */
export class ClientFailures {
  readonly #deps: ClientFailuresDeps;
  /** Until when (milliseconds since the epoch) a key is shut, in the order in which they were shut. */
  readonly #shutUntil = new Map<string, number>();

  constructor(deps: ClientFailuresDeps) {
    this.#deps = deps;
  }

  /**
   * For how many seconds this caller is still refused; 0: it is not.
   * @param client undefined for an id that no client has
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
   * Counts one failure. What a foreign page makes a browser send is not counted: it would shut the client for everybody
   * behind the visitor's address.
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
