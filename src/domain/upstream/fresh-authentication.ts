import type { UpstreamResponse } from './sealed-columns.ts';
import { asksForIdToken, type UpstreamProvider } from './upstream-providers.ts';

const MAX_AGE_SECONDS = 300;
/** Tolerance for a provider's clock that is ahead. */
const MAX_SKEW_SECONDS = 60;

/**
 * Returns whether users can reauthenticate at this provider: it reports the time of the sign-in, or is known to prompt
 * the user.
 */
export function canReauthenticate(provider: UpstreamProvider): boolean {
  return provider.reauthentication === 'prompt' || asksForIdToken(provider);
}

/**
 * Returns whether the user has just signed in at the provider. The request asked for that (`prompt=login`,
 * `max_age=0`), and OpenID Connect Core 1.0 2 then requires `auth_time`. A provider that omits it may only have
 * remembered the user.
 * @param now milliseconds since the epoch
 */
export function isFreshlyAuthenticated(
  { reauthentication }: UpstreamProvider,
  { idTokenClaims }: Pick<UpstreamResponse, 'idTokenClaims'>,
  now: number,
): boolean {
  const { auth_time: authTime } = idTokenClaims;
  if (authTime === undefined) return reauthentication === 'prompt';
  if (typeof authTime !== 'number') return false;
  const age = now / 1000 - authTime;
  return age < MAX_AGE_SECONDS && age > -MAX_SKEW_SECONDS;
}
