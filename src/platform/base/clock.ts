/**
 * The process clock. Passed to whatever compares times, so that tests can advance it; every statement that compares
 * stored times gets its `now` as a parameter.
 */
export interface Clock {
  /** Milliseconds since the epoch (UTC). */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Whole seconds since the epoch, the unit of protocol bodies. */
export function epochSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
