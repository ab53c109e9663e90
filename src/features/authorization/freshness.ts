import type { BrowserSession } from '#domain/browser-sessions/browser-session.ts';
import type { Prompt } from '#protocol/oauth/authorization-parameters.ts';

/** What a request asks of the last authentication. */
export interface FreshnessNeeds {
  readonly prompts: readonly Prompt[];
  /** Seconds, from the request or the client's `default_max_age`. */
  readonly maxAge: number | undefined;
  /** Seconds, for scopes that give power over others (security R-32); undefined: not asked for. */
  readonly adminMaxAge: number | undefined;
  /** When the request arrived. */
  readonly createdAt: number;
}

/**
 * Whether the person has to prove presence again. An authentication after the request always satisfies `prompt=login`
 * and `max_age`, so that `max_age=0` asks once and then ends.
 * @param now milliseconds since the epoch
 * @see OpenID Connect Core 1.0 3.1.2.1
 */
export function isAuthenticationTooOld(
  session: Pick<BrowserSession, 'authenticatedAt'>,
  needs: FreshnessNeeds,
  now: number,
): boolean {
  const age = now - session.authenticatedAt;
  if (needs.adminMaxAge !== undefined && age > needs.adminMaxAge * 1000) return true;
  if (session.authenticatedAt > needs.createdAt) return false;
  return needs.prompts.includes('login') || (needs.maxAge !== undefined && age > needs.maxAge * 1000);
}
