/** The flag `can_request_admin` of accounts: the user may request admin scopes. */
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const setMark = statement<never, { readonly userId: string; readonly isAdmin: boolean }>(
  'set-admin-mark',
  `update users set can_request_admin = :isAdmin::boolean
    where id = :userId::uuid and can_request_admin <> :isAdmin::boolean`,
);

export interface AdminMark {
  readonly user: UserId;
  readonly isAdmin: boolean;
  /** Undefined: an operator at the command line. */
  readonly by?: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Grants or revokes the right to request admin scopes. Existing tokens with an admin scope lose it immediately. Expects
 * the caller's transaction.
 * @returns whether this call changed the flag
 */
export async function setAdmin(transaction: Queryable, { user, isAdmin, by, now }: AdminMark): Promise<boolean> {
  if ((await transaction.execute(setMark, { userId: toUuid(user), isAdmin })) === 0) return false;
  await recordAuditEvent(transaction, {
    kind: isAdmin ? 'admin_granted' : 'admin_revoked',
    at: now,
    userId: user,
    ...by,
  });
  return true;
}

const admins = statement<UserRow, NoParameters>(
  'list-admins',
  `select ${userColumns('u')} from users u where u.can_request_admin order by u.username`,
);

/** Returns the accounts that may request admin scopes, sorted by name. */
export async function listAdmins(queryable: Queryable): Promise<User[]> {
  return (await queryable.rows(admins, {})).map(toUser);
}
