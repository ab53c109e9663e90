import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const storePassword = statement<
  never,
  {
    readonly now: Date;
    readonly userId: string;
    readonly passwordId: string;
    readonly hash: string;
    readonly schemeVersion: number;
  }
>(
  'store-password',
  `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
  values (:userId::uuid, :passwordId::uuid, :hash::text, :schemeVersion::integer, :now::timestamptz)
  on conflict (user_id) do update set
    id = excluded.id, hash = excluded.hash, scheme_version = excluded.scheme_version, created_at = excluded.created_at`,
);

export interface PasswordChange {
  readonly user: UserId;
  readonly stored: StoredHash;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Sets or replaces a user's password, with its audit event; sign-ins that checked the former one at the same moment
 * fail. Expects the caller's transaction. Sessions are the caller's business.
 */
export async function setPassword(transaction: Queryable, change: PasswordChange): Promise<void> {
  const { user, stored, now } = change;
  await transaction.execute(storePassword, {
    now: new Date(now),
    userId: toUuid(user),
    passwordId: toUuid(newId(now)),
    hash: stored.hash,
    schemeVersion: stored.schemeVersion,
  });
  await recordAuditEvent(transaction, { kind: 'password_changed', at: now, userId: user });
}
