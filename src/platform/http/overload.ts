/**
 * How much the process has to do: the requests in flight, which are bounded, and the lag of the event loop, by which
 * less urgent requests are refused and the live probe fails.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { Route } from './route.ts';

type Capacity = NonNullable<Route['capacity']>;

/** One for each eight that may be in flight, for each kind of route that has capacity of its own. */
const KEPT_SHARE = 1 / 8;
const MIN_KEPT = 8;

/** More than the pages and files that the browser of one visitor asks for at once. */
const SEVERAL = 8;

/** A request as it is counted. */
export interface CountedRequest {
  /** It is counted right now. */
  isInFlight: boolean;
  readonly capacity: Capacity | undefined;
}

/**
 * The requests that the process works on, at most `limits.max_in_flight`. One whose body is still arriving is not
 * among them: it costs a connection and nothing else, so that clients that never send a body do not keep others out
 * (security S-176). Routes with capacity of their own are served beyond that, each kind up to its share.
 */
export class InFlight {
  #max: number;
  #count = 0;
  readonly #counts: Record<Capacity, number> = { essential: 0, 'sign-in': 0 };

  constructor(max: number) {
    this.#max = max;
  }

  /** Those who are in stay, however many. */
  set max(max: number) {
    this.#max = max;
  }

  get #kept(): number {
    return Math.max(MIN_KEPT, Math.ceil(this.#max * KEPT_SHARE));
  }

  /** Further requests are refused, but for those with capacity of their own. */
  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** So many are worked on that a late event loop means too much to do, rather than a busy machine. */
  get areSeveral(): boolean {
    return this.#count >= SEVERAL;
  }

  /** Counts a request, once. Throws `overloaded` when there are too many. */
  enter(request: CountedRequest): void {
    if (request.isInFlight) return;
    const { capacity } = request;
    const isKept = capacity !== undefined && this.#counts[capacity] < this.#kept;
    if (this.isFull && !isKept) throw overloaded('overloaded');
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

/** Refuses a request. @param reason for the metrics: too many are in flight, or the event loop lags */
export function overloaded(reason: 'lagging' | 'overloaded'): LatchkeyError {
  metrics?.count('http_server_rejected_total', { reason });
  // Spread out, so that those refused together do not come back together.
  return new LatchkeyError('overloaded', { retryAfterSeconds: 1 + ((randomBytes(1)[0] ?? 0) % 5) });
}

const WINDOW_MS = 5000;
const RESOLUTION_MS = 20;
const LAGGING_MS = 500;
const STALLED_MS = 10_000;
/** Windows that the live probe looks back on: 30 s. */
const STALL_WINDOWS = 6;
const NANOSECONDS_PER_MS = 1_000_000;

/** How late the event loop gets to what is due, judged in windows of five seconds (operations 7.1, 9.4). */
export class EventLoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  readonly #longest: number[] = [];
  #percentile = 0;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#endWindow(), WINDOW_MS).unref();
  }

  /** The 99th percentile of the last window was over half a second: pages give way to what machines wait for. */
  get isLagging(): boolean {
    return this.#percentile > LAGGING_MS;
  }

  /** The event loop was blocked for over ten seconds within the last thirty. */
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
