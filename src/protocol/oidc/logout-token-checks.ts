/** Checks of a provider's logout token after its signature was verified (Back-Channel Logout 1.0, 2.4 and 2.6). */
import { isObject } from '#platform/base/objects.ts';
import type { CompactJws } from '../jose/compact-jws.ts';
import { issuedForUsProblem, lifetimeProblem } from './id-token-checks.ts';
import { LOGOUT_EVENT, LOGOUT_TOKEN_TYPE } from './logout-token-claims.ts';

export interface ExpectedLogoutToken {
  /** Same as for ID tokens. */
  readonly issuer: string | undefined;
  readonly clientId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What is signed out at the provider: a user, one of their sessions, or a session without a named user. */
export interface ProviderLogout {
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  /** ID of the token (`jti`). */
  readonly tokenId: string;
  /** Milliseconds since the epoch. From then on, the token is rejected as too old. */
  readonly acceptedUntil: number;
}

export type LogoutTokenReading =
  | { readonly ok: true; readonly logout: ProviderLogout }
  /** Description of the problem. */
  | { readonly ok: false; readonly problem: string };

/** Accepted types, if the token has one. ID tokens can have the second one too. */
const TYPES: ReadonlySet<string> = new Set([LOGOUT_TOKEN_TYPE, 'jwt']);
const MAX_AGE_SECONDS = 600;
const MAX_CHARACTERS = 255;

export function readLogoutToken({ type, claims }: CompactJws, expected: ExpectedLogoutToken): LogoutTokenReading {
  const { issuer, clientId, now } = expected;
  if (type !== undefined && !TYPES.has(type)) return wrong('wrong typ');
  const problem = issuedForUsProblem(claims, { issuer, clientId, now }) ?? lifetimeProblem(claims, now);
  if (problem !== undefined) return wrong(problem);
  const { iat, jti, sub, sid, events } = claims;
  const oldAt = typeof iat === 'number' ? (iat + MAX_AGE_SECONDS) * 1000 : 0;
  if (oldAt < now) return wrong('iat too old');
  if (!isAbsentOrName(sub) || !isAbsentOrName(sid)) return wrong('invalid sub or sid');
  if (sub === undefined && sid === undefined) return wrong('neither sub nor sid');
  if (!isObject(events) || !isObject(new Map(Object.entries(events)).get(LOGOUT_EVENT)))
    return wrong('missing logout event');
  // 2.4: distinguishes it from an ID token, which would be easier to obtain.
  if (Object.hasOwn(claims, 'nonce')) return wrong('nonce not allowed');
  if (!isAbsentOrName(jti) || jti === undefined) return wrong('missing or invalid jti');
  return { ok: true, logout: { subject: sub, sid, tokenId: jti, acceptedUntil: oldAt } };
}

function isAbsentOrName(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '' && value.length <= MAX_CHARACTERS);
}

function wrong(problem: string): LogoutTokenReading {
  return { ok: false, problem };
}
