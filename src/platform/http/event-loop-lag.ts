import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

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

  /** The loop stood still for over ten seconds within the last thirty. */
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
