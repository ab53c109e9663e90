import type { Exchange } from './exchange.ts';
import type { Serving } from './serving.ts';

/** A request being served, with the settings from when it started. */
export interface ServedRequest {
  readonly exchange: Exchange;
  readonly serving: Serving;
  /** Its place in the list. */
  index: number;
}

/**
 * The requests being served, including those whose body is still arriving.
 *
 * An array, since a `Map` with short-lived keys defeats the collection of young objects: each time V8 replaces the table
 * of a map, the old table, by then in the old generation, keeps its requests alive until the next full collection.
 */
export class ServedRequests {
  readonly #requests: ServedRequest[] = [];

  get size(): number {
    return this.#requests.length;
  }

  add(exchange: Exchange, serving: Serving): ServedRequest {
    const request = { exchange, serving, index: this.#requests.length };
    this.#requests.push(request);
    return request;
  }

  /** Moves the last request to the free place. */
  remove({ index }: ServedRequest): void {
    const last = this.#requests.pop();
    if (last === undefined || last.index === index) return;
    last.index = index;
    this.#requests[index] = last;
  }

  [Symbol.iterator](): Iterator<ServedRequest> {
    return this.#requests.values();
  }
}
