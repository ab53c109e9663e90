/**
 * Pages of lists sorted by identifier, which is the order of creation. A page starts at either end, and can be limited
 * by identifiers before and after it. One statement reads the pages of any number of owners.
 */
import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from './database.ts';
import { type Statement, statement } from './statement.ts';

/** Selects a part of a list. */
export interface PageWindow {
  readonly size: number;
  /** Selects the last items of the list. Their order does not change. */
  readonly isFromEnd: boolean;
  readonly after: Ulid | undefined;
  readonly before: Ulid | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

/** A table that contains items of the list. */
export interface ListedTable {
  /** SQL expressions by column name. `id` determines the order of the list. */
  readonly columns: Readonly<Record<string, string>> & { readonly id: string };
  readonly from: string;
  /** Condition with filters as parameters. `owner.id` is the owner of the list. */
  readonly where: string;
}

interface OwnersParams {
  /** Without duplicates. */
  readonly owners: readonly string[];
}

interface WindowParams extends OwnersParams {
  readonly after: string | null;
  readonly before: string | null;
  readonly limit: number;
}

interface EdgeRow {
  readonly owner_id: string;
  readonly is_any_before: boolean;
  readonly is_any_after: boolean;
  readonly item_id: string | null;
}

/** The statements that read a list. @template Row its columns; @template Filters parameters of its conditions */
export interface ListStatements<Row, Filters extends object> {
  readonly forward: Statement<Row & EdgeRow, Filters & WindowParams>;
  readonly backward: Statement<Row & EdgeRow, Filters & WindowParams>;
  readonly count: Statement<{ owner_id: string; total: number }, Filters & OwnersParams>;
}

const LOWEST = `'00000000-0000-0000-0000-000000000000'`;
const HIGHEST = `'ffffffff-ffff-ffff-ffff-ffffffffffff'`;
/** The largest integer that GraphQL supports. */
const MAX_TOTAL = 2_147_483_647;

/**
 * Creates the statements of a list.
 * @param tables with columns of the same names and types in the same order
 */
export function listStatements<Row, Filters extends object>(
  label: string,
  tables: readonly ListedTable[],
): ListStatements<Row, Filters> {
  const counts = tables.map(({ from, where }) => `(select count(*) from ${from} where ${where})`);
  return {
    forward: statement(`${label}-first`, pageSql(tables, 'asc')),
    backward: statement(`${label}-last`, pageSql(tables, 'desc')),
    count: statement(
      `${label}-count`,
      `select owner.id as owner_id, least(${counts.join(' + ')}, ${MAX_TOTAL})::integer as total
         from unnest(:owners::uuid[]) as owner (id)`,
    ),
  };
}

/** Returns the columns of a `ListedTable`, for other statements that read its items. */
export function selectedColumns(columns: ListedTable['columns'], names = Object.keys(columns)): string {
  return names.map((name) => `${columns[name]} as ${name}`).join(', ');
}

function pageSql(tables: readonly ListedTable[], order: 'asc' | 'desc'): string {
  const names = Object.keys(tables[0]?.columns ?? {});
  const items = tables.map(
    ({ columns, from, where }) =>
      `(select ${selectedColumns(columns, names)} from ${from} where ${where}
        and ${columns.id} > coalesce(:after::uuid, ${LOWEST}) and ${columns.id} < coalesce(:before::uuid, ${HIGHEST})
      order by ${columns.id} ${order} limit :limit::integer)`,
  );
  const merged = `${items.join(' union all ')} order by id ${order} limit :limit::integer`;
  const exists = (bound: string): string =>
    tables
      .map(({ columns, from, where }) => `exists (select from ${from} where ${where} and ${columns.id} ${bound})`)
      .join(' or ');
  return `select owner.id as owner_id, edge.is_any_before, edge.is_any_after, item.id as item_id,
      ${names.map((name) => `item.${name}`).join(', ')}
    from unnest(:owners::uuid[]) as owner (id)
    cross join lateral (
      select :after::uuid is not null and (${exists('<= :after::uuid')}) as is_any_before,
        :before::uuid is not null and (${exists('>= :before::uuid')}) as is_any_after
    ) edge
    left join lateral (${items.length === 1 ? items[0] : merged}) item on true`;
}

/** Reads the page of each owner, in the same order. @param toItem makes an item of its row */
export async function readPages<Row, Item, Filters extends object>(
  queryable: Queryable,
  statements: ListStatements<Row, Filters>,
  owners: readonly Ulid[],
  filters: Filters,
  { size, isFromEnd, after, before }: PageWindow,
  toItem: (row: Row) => Item,
): Promise<Page<Item>[]> {
  const ids = owners.map(toUuid);
  const rows = await queryable.rows<Row & EdgeRow, Filters & WindowParams>(
    isFromEnd ? statements.backward : statements.forward,
    {
      ...filters,
      owners: ids,
      after: after === undefined ? null : toUuid(after),
      before: before === undefined ? null : toUuid(before),
      // One extra row shows whether the list continues.
      limit: size + 1,
    },
  );
  return ids.map((id) => {
    const own = rows.filter((row) => row.owner_id === id);
    const found = own.filter((row) => row.item_id !== null).toSorted((one, other) => compare(one, other, isFromEnd));
    const items = found.slice(0, size).map(toItem);
    return {
      items: isFromEnd ? items.toReversed() : items,
      hasPrevious: own[0]?.is_any_before === true || (isFromEnd && found.length > size),
      hasNext: own[0]?.is_any_after === true || (!isFromEnd && found.length > size),
    };
  });
}

/** Counts the items in the list of each owner, in the same order. */
export async function countLists<Row, Filters extends object>(
  queryable: Queryable,
  statements: ListStatements<Row, Filters>,
  owners: readonly Ulid[],
  filters: Filters,
): Promise<number[]> {
  const ids = owners.map(toUuid);
  const rows = await queryable.rows(statements.count, { ...filters, owners: ids });
  return ids.map((id) => rows.find((row) => row.owner_id === id)?.total ?? 0);
}

/** Needed because joins do not guarantee an order. */
function compare(one: EdgeRow, other: EdgeRow, isFromEnd: boolean): number {
  const order = (one.item_id ?? '') < (other.item_id ?? '') ? -1 : 1;
  return isFromEnd ? -order : order;
}
