/** Finds rows that belong to users by their identifiers. */
import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from './database.ts';
import type { Statement } from './statement.ts';

/** The owner whose rows are found. `anybody` finds all rows, for administrators. */
export type Owner = Ulid<'user'> | 'anybody';

/** Parameters of a statement with the condition `areOwned`. */
export interface OwnedParams {
  readonly ids: readonly string[];
  /** Null stands for all owners. */
  readonly owner: string | null;
}

/** Returns the condition of a statement. @param id and @param owner columns */
export function areOwned(id: string, owner: string): string {
  return `${id} = any(:ids::uuid[]) and (:owner::uuid is null or ${owner} = :owner::uuid)`;
}

/**
 * Returns the items with these identifiers in the same order, and undefined for those that do not exist or belong to
 * another user.
 * @param others additional parameters of the statement
 * @param toItem makes an item of its row
 */
export async function findOwned<Row extends { readonly id: string }, Item, Others extends object>(
  queryable: Queryable,
  statement: Statement<Row, Others & OwnedParams>,
  ids: readonly Ulid[],
  owner: Owner,
  others: Others,
  toItem: (row: Row) => Item,
): Promise<(Item | undefined)[]> {
  const rows = await queryable.rows<Row, Others & OwnedParams>(statement, {
    ...others,
    ids: ids.map(toUuid),
    owner: owner === 'anybody' ? null : toUuid(owner),
  });
  const found = new Map(rows.map((row) => [row.id, toItem(row)]));
  return ids.map((id) => found.get(toUuid(id)));
}
