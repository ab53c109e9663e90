/**
 * Browser sessions imported from Matrix Authentication Service, table `imported_browser_sessions`. Browsers still send
 * the cookie of MAS, which proves nothing but the ID of its session: whoever knows `secrets.encryption` can make it. It
 * is therefore accepted once for each session, within a limited time, and only under the current root key.
 */
import { createDecipheriv } from 'node:crypto';
import { newSessionKey, type SessionCredentials } from '#domain/records/browser-session.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive, importedSessionIsExpired } from '#domain/records/liveness/browser-sessions.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';

/** How long after the import the cookie of MAS is accepted. */
export const IMPORTED_SESSION_SECONDS = 14 * 86_400;

/** Name of the cookie, which MAS also uses as associated data. */
export const MAS_SESSION_COOKIE = 'session';
const KEY_INFO = 'COOKIE;SIGNED:HMAC-SHA256;PRIVATE:AEAD-AES-256-GCM';
/** Signing key and encryption key. */
const KEYS_BYTES = 64;
const ENCRYPTION_KEY_AT = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_CHARACTERS = 1024;

/**
 * Returns the session in a cookie of MAS.
 * @param value as received, percent-encoded
 * @returns undefined if it was not encrypted with the current root key, or contains no session
 */
export function readMasSessionCookie(value: string, keys: Pick<KeyRing, 'expand'>): BrowserSessionId | undefined {
  if (value.length > MAX_CHARACTERS) return undefined;
  const bytes = Buffer.from(value.replace(/%2F/gi, '/').replace(/%3D/gi, '=').replace(/%2B/gi, '+'), 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const key = keys.expand(KEY_INFO, KEYS_BYTES).subarray(ENCRYPTION_KEY_AT);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(MAS_SESSION_COOKIE));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    const text = bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES);
    const document: unknown = JSON.parse(Buffer.concat([decipher.update(text), decipher.final()]).toString());
    if (typeof document !== 'object' || document === null || !('current' in document)) return undefined;
    return typeof document.current === 'string' ? parseId(document.current) : undefined;
  } catch {
    return undefined;
  }
}

/** Uses the primary keys. Only one of several concurrent requests gets a row. */
const adopt = statement<{ id: string }, { readonly id: string; readonly keyHash: Buffer; readonly now: Date }>(
  'adopt-imported-session',
  `with adopted as (
    delete from imported_browser_sessions i
     where i.user_session_id = :id::uuid and not ${importedSessionIsExpired('i', ':now::timestamptz')}
       and exists (select from user_sessions s join users u on u.id = s.user_id
                    where s.id = i.user_session_id and ${browserSessionIsLive('s')} and ${accountIsUsable('u')})
    returning i.user_session_id
  )
  update user_sessions s set key_hash = :keyHash::bytea
    from adopted where s.id = adopted.user_session_id
  returning s.id`,
);

/**
 * Gives an imported session a key, which the browser gets as a cookie.
 * @param now milliseconds since the epoch
 * @returns undefined if the session was not imported, has ended, or already has a key
 */
export async function adoptImportedSession(
  database: Queryable,
  id: BrowserSessionId,
  now: number,
): Promise<SessionCredentials | undefined> {
  const { key, keyHash } = newSessionKey();
  const row = await database.first(adopt, { id: toUuid(id), keyHash, now: new Date(now) });
  return row === undefined ? undefined : { id, key };
}
