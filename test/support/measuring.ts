/**
 * Measurements on a machine that also does other work. Other work only adds time, so the minimum of several runs
 * counts. Runs repeat while the minimum is too high, because a real defect slows down every run.
 */
import { expect } from 'vitest';

const MAX_RUNS = 40;
/** A single short run may be the interrupted one, which would hide growth in the long one. */
const MIN_RUNS = 5;
const FACTOR = 8;
/** Linear work grows by `FACTOR`, quadratic work by its square. */
const MAX_GROWTH = 2.5 * FACTOR;

/** Returns how many milliseconds `work` takes. */
export function timeOf(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** Returns the minimum of several measurements. Stops at the first one that is small enough. */
export async function leastOf(measure: () => number | Promise<number>, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < MAX_RUNS && least > enough; run += 1) least = Math.min(least, await measure());
  return least;
}

/**
 * Fails when the cost grows faster than the input, as with a hostile text for a careless regular expression.
 * @param cost milliseconds for an input of `size`; @param resolution of the measurement in milliseconds
 */
export async function expectLinear(
  cost: (size: number) => number | Promise<number>,
  largest: number,
  { resolution = 0.05, what = 'cost' }: { readonly resolution?: number; readonly what?: string } = {},
): Promise<void> {
  const smallest = Math.floor(largest / FACTOR);
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const hasGrown = (): boolean => large > MAX_GROWTH * Math.max(small, resolution);
  for (let run = 0; run < MIN_RUNS || (run < MAX_RUNS && hasGrown()); run += 1) {
    small = Math.min(small, await cost(smallest));
    large = Math.min(large, await cost(largest));
  }
  expect(hasGrown(), `${what}: ${small} ms for ${smallest}, ${large} ms for ${largest}`).toBe(false);
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns a quantile. @param share 0.95: the value that 95 of 100 do not exceed */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
