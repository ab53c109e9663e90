/** Lists of rows that belong to users: pages and numbers of items for many owners at once, and look-up by identifier. */
import type { Ulid } from '#platform/base/ids.ts';
import type { Queryable } from './database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from './owned-rows.ts';
import {
  countLists,
  type ListedTable,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from './page.ts';
import { statement } from './statement.ts';

interface OwnedListDefinition<Row, Item> extends Pick<ListedTable, 'columns' | 'from'> {
  /** Labels of its statements. */
  readonly labels: { readonly list: string; readonly find: string };
  /** Column with the owner. */
  readonly owner: string;
  /** Whether rows without owner exist. They are never found. */
  readonly mayBeUnowned?: boolean;
  /** Further condition on the rows. */
  readonly where?: string;
  /** Condition with filters as parameters. It limits pages and numbers only. */
  readonly filters?: string;
  readonly toItem: (row: Row) => Item;
}

/**
 * @template Columns parameters that the columns need
 * @template Filters these, and the parameters of the filters
 */
export interface OwnedList<
  Item extends { readonly id: Ulid },
  Columns extends object = object,
  Filters extends object = Columns,
> {
  /** Returns a page of items for each of these users, oldest first. */
  pages(
    queryable: Queryable,
    owners: readonly Ulid<'user'>[],
    filters: Filters,
    window: PageWindow,
  ): Promise<readonly Page<Item>[]>;
  /** Counts the items of each of these users. */
  count(queryable: Queryable, owners: readonly Ulid<'user'>[], filters: Filters): Promise<readonly number[]>;
  /** Returns the items with these identifiers, in the same order, and undefined for those of other users. */
  find(
    queryable: Queryable,
    ids: readonly Item['id'][],
    owner: Owner,
    columns: Columns,
  ): Promise<readonly (Item | undefined)[]>;
}

export function ownedList<
  Row extends { readonly id: string },
  Item extends { readonly id: Ulid },
  Columns extends object = object,
  Filters extends object = Columns,
>(definition: OwnedListDefinition<Row, Item>): OwnedList<Item, Columns, Filters> {
  const { labels, columns, from, owner, mayBeUnowned = false, where, filters, toItem } = definition;
  const lists = listStatements<Row, Filters>(labels.list, [
    { columns, from, where: allOf([`${owner} = owner.id`, where, filters]) },
  ]);
  const ownedOnly = mayBeUnowned ? `${owner} is not null` : undefined;
  const byIds = statement<Row, Columns & OwnedParams>(
    labels.find,
    `select ${selectedColumns(columns)} from ${from} where ${allOf([areOwned(columns.id, owner), ownedOnly, where])}`,
  );
  return {
    pages: (queryable, owners, values, window) => readPages(queryable, lists, owners, values, window, toItem),
    count: (queryable, owners, values) => countLists(queryable, lists, owners, values),
    find: (queryable, ids, ofOwner, values) => findOwned(queryable, byIds, ids, ofOwner, values, toItem),
  };
}

function allOf(conditions: readonly (string | undefined)[]): string {
  return conditions.filter((condition) => condition !== undefined).join(' and ');
}
