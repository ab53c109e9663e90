import type { Limiter } from '#domain/rate-limits/limiter.ts';
import { type Taken, takeTokens } from '#domain/rate-limits/rate-limits.ts';
import { addressKey } from '#platform/base/address-key.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';

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
