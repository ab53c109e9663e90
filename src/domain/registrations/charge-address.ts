import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Queryable } from '#db/database.ts';
import { addressKey } from '#domain/rate-limits/bucket-keys.ts';
import type { Limiter } from '#domain/rate-limits/limiter.ts';
import { type Taken, takeTokens } from '#domain/rate-limits/rate-limits.ts';

interface Charge {
  /** Of the limit. */
  readonly name: 'registration' | 'registration-check';
  readonly limiter: Limiter;
  readonly address: string | undefined;
}

/** Takes a token from the bucket that this address has under a limit; one statement. */
export async function chargeAddress(
  deps: { readonly database: Queryable; readonly clock: Clock; readonly log: Log },
  { name, limiter, address }: Charge,
): Promise<Taken> {
  if (address === undefined) {
    deps.log.warn('rate_limit.shared', 'a caller without a known address shares one bucket with all such callers');
  }
  return await takeTokens(deps.database, deps.clock, [{ key: `${name}:ip:${addressKey(address)}`, limiter }]);
}
