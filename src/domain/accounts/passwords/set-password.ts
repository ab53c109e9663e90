import { type Administrator, adminActor } from '#domain/audit/administrator.ts';
import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

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
  /** IP address of the request, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The kind of audit event; `password_changed` by default. */
  readonly event?: 'password_recovered';
  /** The administrator, if the change is not made by the owner. */
  readonly admin?: Administrator | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Sets or replaces a user's password and records an audit event. Concurrent sign-ins with the former password fail.
 * Expects the caller's transaction. Sessions are left to the caller.
 * @returns the `id` of the audit event, for the notice to the owner
 */
export async function setPassword(transaction: Queryable, change: PasswordChange): Promise<string> {
  const { user, stored, address, userAgent, admin, now } = change;
  await transaction.execute(storePassword, {
    now: new Date(now),
    userId: toUuid(user),
    passwordId: toUuid(newId(now)),
    hash: stored.hash,
    schemeVersion: stored.schemeVersion,
  });
  const kind = change.event ?? 'password_changed';
  const by = admin && adminActor(admin);
  return await recordAuditEvent(transaction, { kind, at: now, userId: user, address, userAgent, ...by });
}
