/**
 * Measures the load of the process: the number of requests in flight, which is limited, and the event loop lag. A high
 * lag causes less urgent requests to be refused and the liveness probe to fail.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { Route } from './route.ts';

type Capacity = NonNullable<Route['capacity']>;

/** Extra capacity for each kind of route with reserved capacity, relative to the maximum in flight. */
const KEPT_SHARE = 1 / 8;
const MIN_KEPT = 8;

/** More than the pages and files that one visitor's browser requests at once. */
const SEVERAL = 8;

/** A request that `InFlight` counts. */
export interface CountedRequest {
  /** Whether it is currently counted. */
  isInFlight: boolean;
  readonly capacity: Capacity | undefined;
}

/**
 * The requests being processed, at most `limits.max_in_flight`. Requests whose body is still arriving do not count:
 * they cost only a connection, so clients that never send a body cannot lock out others (security S-176). Routes with
 * reserved capacity are served beyond the limit, each kind up to its share.
 */
export class InFlight {
  #max: number;
  #count = 0;
  readonly #counts: Record<Capacity, number> = { essential: 0, 'sign-in': 0 };

  constructor(max: number) {
    this.#max = max;
  }

  /** Changes the limit. Requests already in flight are not affected. */
  set max(max: number) {
    this.#max = max;
  }

  get #kept(): number {
    return Math.max(MIN_KEPT, Math.ceil(this.#max * KEPT_SHARE));
  }

  /** Further requests are refused, except those with reserved capacity. */
  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** Enough requests are in flight to be the cause of a slow event loop, rather than a busy machine. */
  get areSeveral(): boolean {
    return this.#count >= SEVERAL;
  }

  /** Counts a request once. Throws `overloaded` if there are too many. */
  enter(request: CountedRequest): void {
    if (request.isInFlight) return;
    const { capacity } = request;
    const isKept = capacity !== undefined && this.#counts[capacity] < this.#kept;
    if (this.isFull && !isKept) throw overloaded('overloaded');
    request.isInFlight = true;
    this.#count += 1;
    if (capacity !== undefined) this.#counts[capacity] += 1;
  }

  /** Stops counting a request that has ended or waits for its body. */
  leave(request: CountedRequest): void {
    if (!request.isInFlight) return;
    request.isInFlight = false;
    this.#count -= 1;
    if (request.capacity !== undefined) this.#counts[request.capacity] -= 1;
  }
}

/** Creates the error for a refused request. @param reason for the metrics: too many in flight, or event loop lag */
export function overloaded(reason: 'lagging' | 'overloaded'): LatchkeyError {
  metrics?.count('http_server_rejected_total', { reason });
  // Randomized, so that refused clients do not all return at the same time.
  return new LatchkeyError('overloaded', { retryAfterSeconds: 1 + ((randomBytes(1)[0] ?? 0) % 5) });
}

const WINDOW_MS = 5000;
const RESOLUTION_MS = 20;
const LAGGING_MS = 500;
const STALLED_MS = 10_000;
/** Number of windows that the liveness probe considers: 30 s. */
const STALL_WINDOWS = 6;
const NANOSECONDS_PER_MS = 1_000_000;

/** Measures the event loop lag in windows of five seconds (operations 7.1, 9.4). */
export class EventLoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  readonly #longest: number[] = [];
  #percentile = 0;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#endWindow(), WINDOW_MS).unref();
  }

  /** The 99th percentile of the last window exceeded half a second: pages give way to requests from machines. */
  get isLagging(): boolean {
    return this.#percentile > LAGGING_MS;
  }

  /** The event loop was blocked for more than ten seconds within the last thirty. */
  get isStalled(): boolean {
    return Math.max(this.#histogram.max / NANOSECONDS_PER_MS, ...this.#longest) > STALLED_MS;
  }

  stop(): void {
    this.#histogram.disable();
    clearInterval(this.#timer);
  }

  #endWindow(): void {
    this.#percentile = this.#histogram.percentile(99) / NANOSECONDS_PER_MS;
    this.#longest.push(this.#histogram.max / NANOSECONDS_PER_MS);
    if (this.#longest.length > STALL_WINDOWS) this.#longest.shift();
    this.#histogram.reset();
  }
}
