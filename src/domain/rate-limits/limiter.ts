import type { Limiter } from '#config/config.ts';

/** One token bucket of a limiter: whom it counts is in its key (`bucket-keys.ts`). */
export interface Bucket {
  readonly key: string;
  readonly limiter: Limiter;
}

/** Seconds in which one token comes back. */
export function secondsPerToken(limiter: Limiter): number {
  return 1 / limiter.perSecond;
}

export type { Limiter };
