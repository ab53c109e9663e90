/**
 * Groups as records (decision 0043). A record gives a name an ID, which clients and invitations refer to. Accounts list
 * their groups by name.
 */
import { groupExists } from '#domain/records/liveness/groups.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { newIdSql, statement } from '#platform/postgres/statement.ts';
import type { GroupId } from '#vocabulary/ids.ts';

export interface Group {
  readonly id: GroupId;
  /** The current name: a name from before a rename finds the same group until all members are rewritten. */
  readonly name: string;
}

interface NamedGroup extends Group {
  /** Nobody is a member, and nobody can be added. */
  readonly isBeingDeleted: boolean;
}

/**
 * Returns the groups with these names in the same order, creating missing records in the same statement. Expects the
 * caller's transaction: the records cannot be renamed or deleted before it ends. Two names may return one group.
 * @param names valid according to `isGroupName`; @param now milliseconds since the epoch
 */
export async function findOrCreateGroups(
  transaction: Queryable,
  names: readonly string[],
  now: number,
): Promise<readonly NamedGroup[]> {
  if (names.length === 0) return [];
  const rows = await transaction.rows(findOrCreate, { names, now: new Date(now) });
  return rows.map(({ id, name, is_deleted: isBeingDeleted }) => ({ id: fromUuid(id), name, isBeingDeleted }));
}

/**
 * Like `findOrCreateGroups`, for changes that can be rejected.
 * @throws LatchkeyError `group_exists` if a group with one of the names is being deleted
 */
export async function groupsNamed(
  transaction: Queryable,
  names: readonly string[],
  now: number,
): Promise<readonly Group[]> {
  const groups = await findOrCreateGroups(transaction, names, now);
  if (groups.some(({ isBeingDeleted }) => isBeingDeleted)) {
    throw new LatchkeyError('group_exists', { description: 'a group with this name is being deleted; retry later' });
  }
  return groups;
}

/** Returns the group with this name, or with this name before a rename that is not finished. */
export async function findGroupByName(database: Queryable, name: string): Promise<Group | undefined> {
  const row = await database.first(findByName, { name });
  return row === undefined ? undefined : { id: fromUuid(row.id), name: row.name };
}

// The locks on found records make renames and deletions wait, and wait for them: after a rename, a name is free again.
const findOrCreate = statement<
  { id: string; name: string; is_deleted: boolean },
  { readonly names: readonly string[]; readonly now: Date }
>(
  'find-or-create-groups',
  `with named as materialized (
     select n.place, coalesce(renamed.name, n.name) as name
       from unnest(:names::text[]) with ordinality n (name, place)
       left join user_groups renamed on renamed.former_name = n.name
   ), found as materialized (
     select g.id, g.name, g.deleted_at is not null as is_deleted
       from user_groups g where g.name in (select named.name from named) for key share
   ), created as (
     insert into user_groups as g (id, name, created_at)
     select ${newIdSql(':now::timestamptz')}, missing.name, :now::timestamptz
       from (select named.name from named except select found.name from found order by 1) missing
     on conflict (name) do update set name = excluded.name
     returning g.id, g.name, g.deleted_at is not null as is_deleted
   )
   select g.id, g.name, g.is_deleted
     from named join (
       select found.id, found.name, found.is_deleted from found
       union all select created.id, created.name, created.is_deleted from created
     ) g on g.name = named.name
    order by named.place`,
);

const findByName = statement<{ id: string; name: string }, { readonly name: string }>(
  'find-group-by-name',
  `select g.id, g.name from user_groups g
    where (g.name = :name::text or g.former_name = :name::text) and ${groupExists('g')} limit 1`,
);
