import { LatchkeyError } from '#platform/base/errors.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { Route } from './route.ts';

type Capacity = NonNullable<Route['capacity']>;

/** One for each eight that may be in flight, for each kind of route that has capacity of its own. */
const KEPT_SHARE = 1 / 8;
const MIN_KEPT = 8;

/** A request as it is counted. */
export interface CountedRequest {
  /** It is counted right now. */
  isInFlight: boolean;
  readonly capacity: Capacity | undefined;
}

/**
 * The requests that the process works on, at most `limits.max_in_flight`. One whose body is still arriving is not
 * among them: it costs a connection and nothing else, so that whoever never sends a body takes no place of others
 * (security S-176). Routes with capacity of their own are served beyond that, each kind up to its share.
 */
export class InFlight {
  readonly #max: number;
  readonly #kept: number;
  #count = 0;
  readonly #counts: Record<Capacity, number> = { essential: 0, 'sign-in': 0 };

  constructor(max: number) {
    this.#max = max;
    this.#kept = Math.max(MIN_KEPT, Math.ceil(max * KEPT_SHARE));
  }

  /** Further requests are refused, but for those with capacity of their own. */
  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** Counts a request, once. Throws `overloaded` when there is no room for it. */
  enter(request: CountedRequest): void {
    if (request.isInFlight) return;
    const { capacity } = request;
    const isKept = capacity !== undefined && this.#counts[capacity] < this.#kept;
    if (this.isFull && !isKept) throw overloaded();
    request.isInFlight = true;
    this.#count += 1;
    if (capacity !== undefined) this.#counts[capacity] += 1;
  }

  /** Counts it no longer: it is over, or waits for its body. */
  leave(request: CountedRequest): void {
    if (!request.isInFlight) return;
    request.isInFlight = false;
    this.#count -= 1;
    if (request.capacity !== undefined) this.#counts[request.capacity] -= 1;
  }
}

export function overloaded(): LatchkeyError {
  // Spread out, so that those refused together do not come back together.
  return new LatchkeyError('overloaded', { retryAfterSeconds: 1 + ((randomBytes(1)[0] ?? 0) % 5) });
}
