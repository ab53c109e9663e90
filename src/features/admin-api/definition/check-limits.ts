/** Limits on checks that make requests to other servers. */
import { takeTokens } from '#domain/limits/rate-limits.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { AdminCaller } from './caller.ts';
import type { AdminCall } from './operation.ts';

/** @throws LatchkeyError `rate_limited` unless all buckets have a token */
export async function takeForCheck(
  { core }: AdminCall,
  buckets: Parameters<typeof takeTokens>[2],
  refusal: string,
): Promise<void> {
  const taken = await takeTokens(core.database, core.clock, buckets);
  if (taken.ok) return;
  throw new LatchkeyError('rate_limited', { description: refusal, retryAfterSeconds: taken.retryAfterSeconds });
}

/** Returns who makes the requests of a caller. */
export function administrator({ user, clientId }: AdminCaller): string {
  return user?.id ?? clientId ?? 'unknown';
}
