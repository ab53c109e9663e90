import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { isUniqueViolation } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { GroupId } from '#vocabulary/ids.ts';
import { findGroupUses, type LockedGroup, lockGroup } from './lock-group.ts';
import { queueRewriting, rewriteAllLists } from './rewrite-names.ts';

export interface GroupChange {
  readonly id: GroupId;
  /** Valid according to `isGroupName`; undefined: unchanged. */
  readonly name: string | undefined;
  /** Null: none; undefined: unchanged. */
  readonly description: string | null | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * `pending`: the group is being renamed or deleted. `exists`: another group has the name. `external`: a provider reports
 * the name. `configured`: the configuration names the group.
 */
export type GroupRefusal = 'unknown' | 'pending' | 'exists' | 'external' | 'configured';

export type GroupOutcome =
  | { readonly ok: true; readonly changed: readonly string[] }
  | { readonly ok: false; readonly reason: GroupRefusal };

/**
 * Renames or describes a group. Members and the clients that are limited to it stay. Expects the caller's transaction,
 * which must be rolled back if the change is refused.
 */
export async function changeGroup(transaction: Queryable, change: GroupChange): Promise<GroupOutcome> {
  const group = await lockGroup(transaction, change.id);
  if (group === undefined) return { ok: false, reason: 'unknown' };
  if (group.isBeingDeleted) return { ok: false, reason: 'pending' };
  const { name = group.name, description = group.description, now } = change;
  const isRenamed = name !== group.name;
  const changed = [...(isRenamed ? ['name'] : []), ...(description === group.description ? [] : ['description'])];
  if (changed.length === 0) return { ok: true, changed };
  const wanted = { id: toUuid(group.id), name, description };
  if (!isRenamed) {
    await transaction.execute(storeGroup, { ...wanted, formerName: group.formerName });
    return { ok: true, changed };
  }
  const reason = await rename(transaction, group, wanted, now);
  return reason === undefined ? { ok: true, changed } : { ok: false, reason };
}

async function rename(
  transaction: Queryable,
  group: LockedGroup,
  wanted: { readonly id: string; readonly name: string; readonly description: string | null },
  now: number,
): Promise<GroupRefusal | undefined> {
  if (group.formerName !== null) return 'pending';
  const { hasFewMembers, isExternal, isConfigured } = await findGroupUses(transaction, group);
  if (isExternal) return 'external';
  if (isConfigured) return 'configured';
  try {
    const stored = await transaction.execute(storeGroup, { ...wanted, formerName: hasFewMembers ? null : group.name });
    if (stored === 0) return 'exists';
  } catch (error) {
    // Another change took the name meanwhile.
    if (isUniqueViolation(error)) return 'exists';
    throw error;
  }
  if (hasFewMembers) await rewriteAllLists(transaction, group.name, wanted.name);
  else await queueRewriting(transaction, now);
  return undefined;
}

// Accounts may list a name that has no record yet, if an older version wrote it.
const storeGroup = statement<
  never,
  {
    readonly id: string;
    readonly name: string;
    readonly description: string | null;
    readonly formerName: string | null;
  }
>(
  'change-group',
  `update user_groups g set name = :name::text, description = :description::text, former_name = :formerName::text
    where g.id = :id::uuid
      and (g.name = :name::text or not (
        exists (select from user_groups other where other.name = :name::text)
        or exists (select from user_groups renamed where renamed.former_name = :name::text)
        or exists (select from users u where u.groups is not null and u.groups @> array[:name::text])
        or exists (
          select from upstream_links l
           where l.groups is not null and l.user_id is not null and l.groups @> array[:name::text])))`,
);
