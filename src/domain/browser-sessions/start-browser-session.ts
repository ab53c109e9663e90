import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { PASSWORD_ACR, PASSWORD_AMR } from '#protocol/oidc/authentication-classes.ts';
import { newSessionKey, type SessionCredentials } from './session-key.ts';
import { insertSession } from './writes.ts';

export interface BrowserSessionStart {
  readonly userId: UserId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Signs in a person who has just chosen a password: the session of an account made in the same transaction, which
 * nobody can have locked and which has no other sessions. One statement; its audit event is the caller's.
 */
export async function startBrowserSession(
  transaction: Queryable,
  start: BrowserSessionStart,
): Promise<SessionCredentials> {
  const id = newId<'browser-session'>(start.now);
  const { key, keyHash } = newSessionKey();
  await transaction.execute(insertSession, {
    now: new Date(start.now),
    id: toUuid(id),
    userId: toUuid(start.userId),
    keyHash,
    acr: PASSWORD_ACR,
    amr: PASSWORD_AMR,
    userAgent: start.userAgent ?? null,
    ip: start.address ?? null,
    authenticationId: toUuid(newId(start.now)),
    authenticationKind: 'password',
  });
  return { id, key };
}
