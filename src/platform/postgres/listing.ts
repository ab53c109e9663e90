/**
 * Lists of whole tables with optional filters. A single generic plan does not suit all combinations (decision 0007), so
 * each combination in use has its own statement, created on first use.
 */
import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from './database.ts';
import { type Page, type PageWindow, selectedColumns } from './page.ts';
import { type Statement, statement } from './statement.ts';

/** Parameter types of a statement. */
export type FilterValue = string | boolean | Date | readonly string[];

export interface ListingDefinition<Filters> {
  /** SQL expressions by column name. `id` determines the order of the list. */
  readonly columns: Readonly<Record<string, string>> & { readonly id: string };
  readonly from: string;
  /** Condition that limits the list. Undefined includes all rows. */
  readonly where?: string;
  /**
   * Condition of each filter, with the filter's value as the parameter of the same name. Alternatively one condition
   * per value, for filters with few values and indexes that contain only the rows of one value.
   */
  readonly filters: { readonly [Name in keyof Filters]: Condition };
  /** Conditions for counting, where another form reads less than the one that finds a page. */
  readonly countFilters?: { readonly [Name in keyof Filters]?: string };
  /** Other orders of the list by name, each with an index. */
  readonly orders?: Readonly<Record<string, ListOrder>>;
}

/** An order in which no two rows are equal. */
export interface ListOrder {
  readonly column: string;
  /** Returns the SQL of the column's value in the row with the ID of a parameter. */
  readonly cursorOf: (id: string) => string;
}

/** An order of a list, by its name. */
export interface ChosenOrder {
  readonly name: string;
  readonly isDescending: boolean;
}

type Condition = string | Readonly<Record<string, string>>;

/** Values of the filters that a call uses. */
export type Chosen<Filters> = { readonly [Name in keyof Filters]?: FilterValue | undefined };

type ChosenValues = Readonly<Record<string, FilterValue>>;
type Parameters = Record<string, FilterValue | number | null>;

/** Returns the conditions of a boolean filter: the condition and its negation. */
export function eitherWay(condition: string): Readonly<Record<'true' | 'false', string>> {
  return { true: condition, false: `not (${condition})` };
}

const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** @template Row the columns of the list */
export class Listing<Row extends { readonly id: string }, Filters extends object> {
  readonly #label: string;
  readonly #definition: ListingDefinition<Filters>;
  readonly #columns: string;

  constructor(label: string, definition: ListingDefinition<Filters>) {
    this.#label = label;
    this.#definition = definition;
    this.#columns = selectedColumns(definition.columns);
  }

  /**
   * Reads a page, by default in order of creation. Uses the index of the filter and the identifier, the primary key, or
   * the index of the order.
   */
  async page(
    queryable: Queryable,
    filters: Chosen<Filters>,
    window: PageWindow,
    order?: ChosenOrder,
  ): Promise<Page<Row>> {
    const { size, isFromEnd, after, before } = window;
    const chosen = this.#chosen(filters);
    // One extra row shows whether the list continues.
    const limit = size + 1;
    const rows =
      order === undefined
        ? await queryable.rows(this.#pageStatement(chosen, isFromEnd), {
            ...chosen,
            after: after === undefined ? LOWEST : toUuid(after),
            before: before === undefined ? HIGHEST : toUuid(before),
            limit,
          })
        : await queryable.rows(this.#orderedStatement(chosen, window, order), {
            ...chosen,
            ...(after !== undefined && { after: toUuid(after) }),
            ...(before !== undefined && { before: toUuid(before) }),
            limit,
          });
    const items = rows.slice(0, size);
    const goesOn = rows.length > size;
    return {
      items: isFromEnd ? items.toReversed() : items,
      hasPrevious: isFromEnd && goesOn,
      hasNext: !isFromEnd && goesOn,
    };
  }

  async count(queryable: Queryable, filters: Chosen<Filters>): Promise<number> {
    const chosen = this.#chosen(filters);
    const { from } = this.#definition;
    const counting: Statement<{ total: number }, Parameters> = statement(
      this.#labelOf('count', chosen),
      `select count(*)::float8 as total from ${from} where ${this.#where(chosen, this.#definition.countFilters)}`,
    );
    const row = await queryable.first(counting, chosen);
    return row?.total ?? 0;
  }

  async find(queryable: Queryable, id: Ulid, filters: Chosen<Filters> = {}): Promise<Row | undefined> {
    const chosen = this.#chosen(filters);
    const { columns, from } = this.#definition;
    const finding: Statement<Row, Parameters> = statement(
      this.#labelOf('one', chosen),
      `select ${this.#columns} from ${from} where ${this.#where(chosen)} and ${columns.id} = :id::uuid`,
    );
    return await queryable.first(finding, { ...chosen, id: toUuid(id) });
  }

  #pageStatement(chosen: ChosenValues, isFromEnd: boolean): Statement<Row, Parameters> {
    const { columns, from } = this.#definition;
    return statement(
      this.#labelOf(isFromEnd ? 'last' : 'first', chosen),
      `select ${this.#columns} from ${from} where ${this.#where(chosen)}
        and ${columns.id} > :after::uuid and ${columns.id} < :before::uuid
      order by ${columns.id} ${isFromEnd ? 'desc' : 'asc'} limit :limit::integer`,
    );
  }

  /** An unused bound is left out, so that the index of the order is read from the right place. */
  #orderedStatement(
    chosen: ChosenValues,
    { isFromEnd, after, before }: PageWindow,
    { name, isDescending }: ChosenOrder,
  ): Statement<Row, Parameters> {
    const { from, orders } = this.#definition;
    const order = orders?.[name];
    if (order === undefined) throw new Error(`${this.#label} has no order ${name}`);
    const { column, cursorOf } = order;
    const [later, earlier] = isDescending ? ['<', '>'] : ['>', '<'];
    const bounds = [
      ...(after === undefined ? [] : [{ name: 'after', sql: `${column} ${later} ${cursorOf(':after::uuid')}` }]),
      ...(before === undefined ? [] : [{ name: 'before', sql: `${column} ${earlier} ${cursorOf(':before::uuid')}` }]),
    ];
    const direction = isDescending === isFromEnd ? 'asc' : 'desc';
    const part = [isFromEnd ? 'last' : 'first', `by-${name}-${direction}`, ...bounds.map((bound) => bound.name)];
    return statement(
      this.#labelOf(part.join('-'), chosen),
      `select ${this.#columns} from ${from} where ${[this.#where(chosen), ...bounds.map(({ sql }) => sql)].join(' and ')}
      order by ${column} ${direction} limit :limit::integer`,
    );
  }

  #labelOf(part: string, chosen: ChosenValues): string {
    const names = this.#conditions(chosen).map(({ name, value }) => (value === undefined ? name : `${name}=${value}`));
    return [`${this.#label}-${part}`, ...names].join('+');
  }

  #where(chosen: ChosenValues, replaced: Readonly<Record<string, string | undefined>> = {}): string {
    const { where = 'true' } = this.#definition;
    const conditions = this.#conditions(chosen).map(({ name, sql }) => replaced[name] ?? sql);
    return [where, ...conditions].map((sql) => `(${sql})`).join(' and ');
  }

  /** `value` is set if the condition depends on the value. */
  #conditions(chosen: ChosenValues): { name: string; sql: string; value?: string }[] {
    return Object.entries<Condition>(this.#definition.filters).flatMap(([name, condition]) => {
      if (!(name in chosen)) return [];
      if (typeof condition === 'string') return [{ name, sql: condition }];
      const value = String(chosen[name]);
      const sql = condition[value];
      if (sql === undefined) throw new Error(`${this.#label} has no condition for ${name}`);
      return [{ name, sql, value }];
    });
  }

  /** Sorts the filters as in the definition, so that each combination has a single statement. */
  #chosen(filters: Chosen<Filters>): ChosenValues {
    const given = new Map(Object.entries<FilterValue | undefined>(filters));
    const chosen: Record<string, FilterValue> = {};
    for (const name of Object.keys(this.#definition.filters)) {
      const value = given.get(name);
      if (value !== undefined) chosen[name] = value;
    }
    return chosen;
  }
}
