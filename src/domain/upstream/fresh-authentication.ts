import type { UpstreamAnswer } from './sealed-columns.ts';
import { asksForIdToken, type UpstreamProvider } from './upstream-providers.ts';

const MAX_AGE_SECONDS = 300;
/** By which the provider's clock may be ahead. */
const MAX_SKEW_SECONDS = 60;

/** A person can prove here again that it is them: the provider tells when they signed in there, or is known to ask. */
export function canReauthenticate(provider: UpstreamProvider): boolean {
  return provider.reauthentication === 'prompt' || asksForIdToken(provider);
}

/**
 * Whether the provider had the person sign in just now. It was asked to (`prompt=login`, `max_age=0`), and OpenID Connect
 * Core 1.0 2 has it say when in `auth_time` then. One that does not say has perhaps only remembered them.
 * @param now milliseconds since the epoch
 */
export function isFreshlyAuthenticated(
  { reauthentication }: UpstreamProvider,
  { idTokenClaims }: Pick<UpstreamAnswer, 'idTokenClaims'>,
  now: number,
): boolean {
  const { auth_time: authTime } = idTokenClaims;
  if (authTime === undefined) return reauthentication === 'prompt';
  if (typeof authTime !== 'number') return false;
  const age = now / 1000 - authTime;
  return age < MAX_AGE_SECONDS && age > -MAX_SKEW_SECONDS;
}
