/**
 * Lists of large tables, newest first, with any combination of filters. One filter chooses an index. The others only
 * drop rows that the index yields, so each call reads a bounded number of rows: a page may have fewer items than
 * requested, or none, although the list continues.
 */
import { fromUuid, toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from './database.ts';
import type { Chosen, FilterValue } from './listing.ts';
import { selectedColumns } from './page.ts';
import { type Statement, statement } from './statement.ts';

/** Rows of the table that one call reads. */
const BOUND = 20_000;
/** Higher counts are not determined. */
const MAX_COUNT = 10_000;

export interface BoundedDefinition<Filters> {
  readonly table: string;
  /** SQL expressions on `e` by column name. `id` determines the order of the list. */
  readonly columns: Readonly<Record<string, string>> & { readonly id: string };
  /** Columns of the table that `columns` and conditions use, with `id`. */
  readonly reads: readonly string[];
  /** Condition on `e` of each filter, with the filter's value as the parameter of the same name. */
  readonly filters: { readonly [Name in keyof Filters]: string };
  /**
   * Filters with an index on filter and `id`, the most selective one first. The first one in use determines which rows
   * are read. Without any, all rows are read by their primary key.
   */
  readonly drivers: readonly Driver<Filters>[];
}

/** A filter that indexes serve. */
interface Driver<Filters> {
  readonly filter: keyof Filters & string;
  /** Every row of the filter is in one of these parts. More than one: other rows may be as well. */
  readonly parts: readonly [Part, ...Part[]];
  /** The parameter is a list without duplicates. There is one part, for each value `one.value`. */
  readonly isList?: true;
}

/** Rows in which `key`, an expression on `e`, has a value. There is an index on `key` and `id`. */
interface Part {
  readonly key: string;
  readonly value: string;
  /** Few rows have the same value. */
  readonly isSelective?: true;
}

export interface OlderPage<Row> {
  readonly items: readonly Row[];
  /** The next page has items before this identifier. Undefined at the end of the list. */
  readonly next: Ulid | undefined;
}

export interface CappedCount {
  readonly count: number;
  /** There are more items, or there may be more. */
  readonly isCapped: boolean;
}

/** Part of the list. Its bounds are not part of it. */
export interface Span {
  readonly after: Ulid | undefined;
  readonly before: Ulid | undefined;
}

const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** `place` numbers the parts of a driver. */
const LOWEST_OF_CUT_PARTS = `select part.lowest from (
          select r.place, count(*) as total, (array_agg(r.id order by r.id))[1] as lowest from read r group by r.place
        ) part
         where part.total = :share::integer order by part.lowest desc limit 1`;

type Values = Readonly<Record<string, FilterValue>>;
type Parameters = Record<string, FilterValue | number>;

interface Plan<Filters> {
  readonly values: Values;
  readonly driver: Driver<Filters> | undefined;
  /** Conditions that rows read by the driver may not meet. */
  readonly others: readonly string[];
  /** Number of parts that are read separately and merged. */
  readonly parts: number;
}

/** @template Row the columns of the list */
export class BoundedListing<Row extends { readonly id: string }, Filters extends object> {
  readonly #label: string;
  readonly #definition: BoundedDefinition<Filters>;
  readonly #bound: number;

  /** @param bound rows that a call reads; lower for tests */
  constructor(label: string, definition: BoundedDefinition<Filters>, bound = BOUND) {
    this.#label = label;
    this.#definition = definition;
    this.#bound = bound;
  }

  /** Reads the newest items of a part of the list. Takes a second statement if filters leave the page short. */
  async page(queryable: Queryable, filters: Chosen<Filters>, span: Span, size: number): Promise<OlderPage<Row>> {
    const plan = this.#plan(filters);
    // One extra row shows whether the list continues.
    const limit = size + 1;
    const parameters = { ...plan.values, ...bounds(span), share: this.#share(plan, limit) };
    const rows = await queryable.rows(this.#page(plan), { ...parameters, limit });
    if (rows.length > size) {
      const items = rows.slice(0, size);
      const last = items.at(-1);
      return { items, next: last === undefined ? undefined : fromUuid(last.id) };
    }
    if (plan.others.length === 0) return { items: rows, next: undefined };
    const end = await queryable.first(this.#end(plan), parameters);
    return { items: rows, next: end === undefined ? undefined : fromUuid(end.lowest) };
  }

  /** Counts the items of a part of the list, as far as that is cheap. */
  async count(queryable: Queryable, filters: Chosen<Filters>, span: Span): Promise<CappedCount> {
    const plan = this.#plan(filters);
    const share = this.#share(plan, MAX_COUNT + 1);
    const row = await queryable.first(this.#count(plan), { ...plan.values, ...bounds(span), share });
    const total = row?.total ?? 0;
    return { count: Math.min(total, MAX_COUNT), isCapped: total > MAX_COUNT || row?.is_cut === true };
  }

  async find(queryable: Queryable, id: Ulid): Promise<Row | undefined> {
    const { table, columns } = this.#definition;
    const finding: Statement<Row, { readonly id: string }> = statement(
      `${this.#label}-one`,
      `select ${selectedColumns(columns)} from ${table} e where e.id = :id::uuid`,
    );
    return await queryable.first(finding, { id: toUuid(id) });
  }

  /** Returns the number of rows to read from each part. Without other conditions, none of them is dropped. */
  #share({ others, parts }: Plan<Filters>, wanted: number): number {
    return others.length === 0 ? wanted : Math.max(1, Math.floor(this.#bound / Math.max(1, parts)));
  }

  #page(plan: Plan<Filters>): Statement<Row, Parameters> {
    const { driver, others } = plan;
    const columns = selectedColumns(this.#definition.columns);
    const label = this.#labelOf('page', plan.values);
    if (!isMerged(driver)) {
      // Reads no further than the page: rows arrive in the order of the index.
      return statement(
        label,
        `select ${columns} from (
        ${this.#newest(driver?.parts[0])}
      ) e
       where ${all(others)}
       order by ${orderOf(driver?.parts[0])} limit :limit::integer`,
      );
    }
    // Below the frontier, rows of a part that was not read completely would be missing.
    return statement(
      label,
      `with read as materialized (
        ${this.#parts(driver)}
      ), frontier as (
        ${LOWEST_OF_CUT_PARTS}
      )
      select ${columns} from read e left join frontier on true
       where (frontier.lowest is null or e.id >= frontier.lowest) and ${all([...firstPart(driver), ...others])}
       order by e.id desc limit :limit::integer`,
    );
  }

  /** Returns how far the page was read, or no row if that was the end of the list. */
  #end({ driver, values }: Plan<Filters>): Statement<{ readonly lowest: string }, Parameters> {
    const label = this.#labelOf('end', driver === undefined ? {} : { [driver.filter]: values[driver.filter] ?? '' });
    if (!isMerged(driver)) {
      return statement(
        label,
        `select e.id as lowest from ${this.#definition.table} e
        where ${rangeOf(driver?.parts[0])}
        order by ${orderOf(driver?.parts[0])} offset :share::integer - 1 limit 1`,
      );
    }
    return statement(
      label,
      `with read as materialized (
        ${this.#parts(driver)}
      )
      ${LOWEST_OF_CUT_PARTS}`,
    );
  }

  #count(plan: Plan<Filters>): Statement<{ readonly total: number; readonly is_cut: boolean }, Parameters> {
    const { driver, others } = plan;
    return statement(
      this.#labelOf('count', plan.values),
      `with read as materialized (
        ${this.#parts(driver)}
      )
      select (select count(*) from read e where ${all([...firstPart(driver), ...others])})::integer as total,
             exists (select from read r group by r.place having count(*) = :share::integer) as is_cut`,
    );
  }

  /** Returns a query of the newest rows of each part of a driver. */
  #parts(driver: Driver<Filters> | undefined): string {
    const columns = ['id', ...this.#definition.reads].map((name) => `part.${name}`).join(', ');
    if (driver?.isList === true) {
      return `select one.place::integer as place, ${columns}
          from unnest(:${driver.filter}::text[]) with ordinality one (value, place)
         cross join lateral (${this.#newest(driver.parts[0])}) part`;
    }
    const parts = driver?.parts ?? [undefined];
    return parts
      .map((part, index) => `select ${index + 1} as place, ${columns} from (${this.#newest(part)}) part`)
      .join('\n        union all\n        ');
  }

  #newest(part: Part | undefined): string {
    const { table, reads } = this.#definition;
    return `select ${['id', ...reads].map((name) => `e.${name}`).join(', ')} from ${table} e
           where ${rangeOf(part)} order by ${orderOf(part)} limit :share::integer`;
  }

  #labelOf(part: string, values: Values): string {
    return [`${this.#label}-${part}`, ...Object.keys(values)].join('+');
  }

  /** Sorts the filters as in the definition, so that each combination has a single statement. */
  #plan(filters: Chosen<Filters>): Plan<Filters> {
    const given = new Map(Object.entries<FilterValue | undefined>(filters));
    const values: Record<string, FilterValue> = {};
    const others: string[] = [];
    const driver = this.#definition.drivers.find(({ filter }) => given.get(filter) !== undefined);
    for (const [name, condition] of Object.entries<string>(this.#definition.filters)) {
      const value = given.get(name);
      if (value === undefined) continue;
      values[name] = value;
      if (name !== driver?.filter || driver.parts.length > 1) others.push(condition);
    }
    return { values, driver, others, parts: partsOf(driver, values) };
  }
}

function bounds({ after, before }: Span): { readonly after: string; readonly before: string } {
  return {
    after: after === undefined ? LOWEST : toUuid(after),
    before: before === undefined ? HIGHEST : toUuid(before),
  };
}

/**
 * Returns the condition of a part. It compares rows, so that only the index on key and identifier serves it: for a
 * frequent value, the planner would rather walk the whole table by identifier. For a rare value, it would rather use
 * another index on the key and sort.
 */
function rangeOf(part: Part | undefined): string {
  if (part === undefined) return 'e.id > :after::uuid and e.id < :before::uuid';
  const { key, value, isSelective } = part;
  if (isSelective === true) return `${key} = ${value} and ${rangeOf(undefined)}`;
  return `(${key}, e.id) > (${value}, :after::uuid) and (${key}, e.id) < (${value}, :before::uuid) and ${key} is not null`;
}

function orderOf(part: Part | undefined): string {
  return part === undefined || part.isSelective === true ? 'e.id desc' : `${part.key} desc, e.id desc`;
}

function isMerged<Filters>(driver: Driver<Filters> | undefined): boolean {
  return driver !== undefined && (driver.isList === true || driver.parts.length > 1);
}

function partsOf<Filters>(driver: Driver<Filters> | undefined, values: Values): number {
  if (driver?.isList !== true) return driver?.parts.length ?? 1;
  const list = values[driver.filter];
  return Array.isArray(list) ? list.length : 1;
}

/** Returns a condition that keeps each row in the first part that has it. */
function firstPart<Filters>(driver: Driver<Filters> | undefined): string[] {
  if (driver === undefined || driver.parts.length === 1) return [];
  const cases = driver.parts.map(({ key, value }, index) => `when ${key} = ${value} then ${index + 1}`);
  return [`e.place = case ${cases.join(' ')} end`];
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.map((condition) => `(${condition})`).join(' and ');
}
