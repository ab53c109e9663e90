import { type BrowserSessionId, parseId } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';

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
