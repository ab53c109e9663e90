import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId, GroupId } from '#vocabulary/ids.ts';
import type { GroupRefusal } from './change-group.ts';
import { findGroupUses, lockGroup, namesListedBy } from './lock-group.ts';
import { queueRewriting, rewriteAllLists } from './rewrite-names.ts';

export interface GroupDeletion {
  readonly id: GroupId;
  /** Also if clients are limited to it. */
  readonly isForced: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type DeletionOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: Exclude<GroupRefusal, 'exists'> }
  /** Some of the clients that are limited to it. */
  | { readonly ok: false; readonly reason: 'in-use'; readonly clients: readonly ClientId[] };

/**
 * Deletes a group and removes its name from the lists of its members. Expects the caller's transaction.
 *
 * Clients keep the ID of a deleted group, which matches nobody. If it were removed from a client that is limited to this
 * group only, the client would be open to every user.
 */
export async function deleteGroup(
  transaction: Queryable,
  { id, isForced, now }: GroupDeletion,
): Promise<DeletionOutcome> {
  const group = await lockGroup(transaction, id);
  if (group === undefined) return { ok: false, reason: 'unknown' };
  if (group.isBeingDeleted) return { ok: false, reason: 'pending' };
  const { hasFewMembers, isExternal, isConfigured, clients } = await findGroupUses(transaction, group);
  if (isExternal) return { ok: false, reason: 'external' };
  if (isConfigured) return { ok: false, reason: 'configured' };
  if (clients.length > 0 && !isForced) return { ok: false, reason: 'in-use', clients };
  if (hasFewMembers) {
    for (const name of namesListedBy(group)) await rewriteAllLists(transaction, name, undefined);
    await transaction.execute(deleteRecord, { id: toUuid(id) });
  } else {
    await transaction.execute(markDeleted, { id: toUuid(id), now: new Date(now) });
    await queueRewriting(transaction, now);
  }
  return { ok: true };
}

const deleteRecord = statement<never, { readonly id: string }>(
  'delete-group',
  'delete from user_groups where id = :id::uuid',
);

const markDeleted = statement<never, { readonly id: string; readonly now: Date }>(
  'mark-group-deleted',
  'update user_groups set deleted_at = :now::timestamptz where id = :id::uuid',
);
