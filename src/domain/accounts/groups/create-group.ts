import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { GroupId } from '#vocabulary/ids.ts';

export interface NewGroup {
  /** Valid according to `isGroupName`. */
  readonly name: string;
  readonly description: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @returns the ID; undefined if another group has the name, or had it until all of its members are rewritten */
export async function createGroup(transaction: Queryable, group: NewGroup): Promise<GroupId | undefined> {
  const { name, description, now } = group;
  const row = await transaction.first(insertGroup, {
    ...{ name, description },
    id: toUuid(newId(now)),
    now: new Date(now),
  });
  return row === undefined ? undefined : fromUuid(row.id);
}

const insertGroup = statement<
  { id: string },
  { readonly id: string; readonly name: string; readonly description: string | null; readonly now: Date }
>(
  'create-group',
  `insert into user_groups as g (id, name, description, created_at)
   select :id::uuid, :name::text, :description::text, :now::timestamptz
    where not exists (select from user_groups renamed where renamed.former_name = :name::text)
   on conflict (name) do nothing
   returning g.id`,
);
