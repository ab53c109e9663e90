import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { groupsNamed } from './groups/group.ts';

export interface GroupChange {
  readonly user: UserId;
  /** Valid names, at most `MAX_GROUPS`; replaces the former groups. */
  readonly groups: readonly string[];
  /** Undefined: an operator at the command line. */
  readonly by?: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Sets the groups of a user, and creates records of new groups. Groups from upstream providers stay unchanged. Expects
 * the caller's transaction.
 * @returns whether this call changed them
 * @throws LatchkeyError `group_exists` if a group with one of the names is being deleted
 */
export async function setGroups(transaction: Queryable, { user, groups, by, now }: GroupChange): Promise<boolean> {
  const named = await groupsNamed(transaction, sortedGroups(groups), now);
  const wanted = named.length === 0 ? null : sortedGroups(named.map(({ name }) => name));
  if ((await transaction.execute(storeGroups, { userId: toUuid(user), groups: wanted })) === 0) return false;
  await recordAuditEvent(transaction, { kind: 'groups_changed', at: now, userId: user, ...by });
  return true;
}

const storeGroups = statement<never, { readonly userId: string; readonly groups: readonly string[] | null }>(
  'store-groups',
  `update users set groups = :groups::text[]
    where id = :userId::uuid and groups is distinct from :groups::text[]`,
);
