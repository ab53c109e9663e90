/**
 * People signed in with a cookie, tables `user_sessions` and `user_session_authentications`. A session is live until
 * `finished_at` is set: by signing out, by its limits, by an operator or by too many wrong passwords.
 *
 * Who may sign in is decided by accounts; cookies are set and read in `browser`. OAuth sessions that grew out of a
 * browser session have their own end. `activity` writes when a session was last active.
 */
import { type BrowserSessionId, parseId } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';

/** A person signed in with a cookie: one row of `user_sessions`. */
export interface BrowserSession {
  readonly id: BrowserSessionId;
  /** Milliseconds since the epoch of the last password check, second factor, passkey or upstream login. */
  readonly authenticatedAt: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly createdAt: number;
}

/** A session as the browser that opened it must remember it. */
export interface SessionCredentials {
  readonly id: BrowserSessionId;
  /** 256 bits as base64url; only the cookie holds it, the row its SHA-256. */
  readonly key: string;
}

/** What the `session` cookie of a signed-in browser holds. */
export interface SessionCookie extends SessionCredentials {
  /** SHA-256 of the key, as the row keeps it. */
  readonly keyHash: Buffer;
  /** Seconds since the epoch when the cookie was last set. */
  readonly setAtSeconds: number;
}

export function newSessionKey(): { key: string; keyHash: Buffer } {
  const key = randomBase64Url();
  return { key, keyHash: sha256(key) };
}

/** Reads the value of an opened `session` cookie; undefined when it names no session. */
export function parseSessionCookie(value: unknown): SessionCookie | undefined {
  if (typeof value !== 'object' || value === null || !('current' in value) || !('key' in value)) return undefined;
  if (typeof value.current !== 'string' || typeof value.key !== 'string') return undefined;
  const id = parseId<'browser-session'>(value.current);
  if (id === undefined) return undefined;
  const setAtSeconds = 'set_at' in value && typeof value.set_at === 'number' ? value.set_at : 0;
  return { id, key: value.key, keyHash: sha256(value.key), setAtSeconds };
}
