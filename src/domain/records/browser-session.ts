/**
 * Browser sessions: users signed in with a cookie, tables `user_sessions` and `user_session_authentications`. A session
 * is live until `finished_at` is set: by sign-out, by its limits, by an operator or after too many wrong passwords.
 *
 * Accounts decide who may sign in; `browser` reads and writes the cookies. OAuth sessions that were authorized in a
 * browser session end separately. `activity` records when a session was last active.
 */
import { parseId } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { VerifiedFactor } from '#protocol/oidc/authentication-classes.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';

/** A user signed in with a cookie: one row of `user_sessions`. */
export interface BrowserSession {
  readonly id: BrowserSessionId;
  /** Last password check, second factor, passkey or upstream sign-in, in milliseconds since the epoch. */
  readonly authenticatedAt: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly createdAt: number;
}

/** Credentials of a session, stored by the browser. */
export interface SessionCredentials {
  readonly id: BrowserSessionId;
  /** 256 bits as base64url. Only the cookie contains it; the row has its SHA-256. */
  readonly key: string;
}

/** Content of the `session` cookie. */
export interface SessionCookie extends SessionCredentials {
  /** SHA-256 of the key, as stored in the row. */
  readonly keyHash: Buffer;
  /** Seconds since the epoch when the cookie was last set. */
  readonly setAtSeconds: number;
}

/** The first session of a new account. */
export interface BrowserSessionStart {
  readonly userId: UserId;
  /** How the user of the new account has just authenticated. */
  readonly proof: Extract<VerifiedFactor, { readonly kind: 'password' | 'upstream' }>;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function newSessionKey(): { key: string; keyHash: Buffer } {
  const key = randomBase64Url();
  return { key, keyHash: sha256(key) };
}

/** Parses the value of a decrypted `session` cookie; undefined if it contains no session. */
export function parseSessionCookie(value: unknown): SessionCookie | undefined {
  if (typeof value !== 'object' || value === null || !('current' in value) || !('key' in value)) return undefined;
  if (typeof value.current !== 'string' || typeof value.key !== 'string') return undefined;
  const id = parseId<'browser-session'>(value.current);
  if (id === undefined) return undefined;
  const setAtSeconds = 'set_at' in value && typeof value.set_at === 'number' ? value.set_at : 0;
  return { id, key: value.key, keyHash: sha256(value.key), setAtSeconds };
}
