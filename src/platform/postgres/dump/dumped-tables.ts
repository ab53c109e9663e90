/** Selects the tables of a dump, sorted by name. */
import type { Client } from 'pg';

export interface DumpedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** A table with its names quoted for use in statements. */
export interface QuotedTable extends DumpedTable {
  readonly quotedName: string;
  readonly quotedColumns: readonly string[];
}

export interface TableChoice {
  readonly dumped: readonly QuotedTable[];
  /** Unlogged tables, whose rows may be lost in a crash, and tables that the caller excludes. */
  readonly leftOut: readonly string[];
}

/** Lists the tables of the current schema. Dumps do not support sequences, because the schema has none. */
export async function listTables(client: Client, unwanted: readonly string[]): Promise<TableChoice> {
  const { rows } = await client.query<QuotedTable & { isUnlogged: boolean }>(`
    select c.relname::text as name, format('%I.%I', current_schema(), c.relname) as "quotedName",
      c.relpersistence = 'u' as "isUnlogged",
      array_agg(a.attname::text order by a.attnum) as columns,
      array_agg(format('%I', a.attname) order by a.attnum) as "quotedColumns"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    group by c.oid, c.relname, c.relpersistence
    order by c.relname collate "C"`);
  const isLeftOut = ({ name, isUnlogged }: (typeof rows)[number]): boolean => isUnlogged || unwanted.includes(name);
  return {
    dumped: rows.filter((table) => !isLeftOut(table)),
    leftOut: rows.filter(isLeftOut).map(({ name }) => name),
  };
}

/**
 * Fixes the text format of dates, intervals and numbers, whatever the role's or database's settings are. Otherwise a
 * dump made with days before months could be restored with both exchanged. `pg_dump` uses the same settings.
 */
export const DUMP_SETTINGS = `set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local timezone = 'UTC'; set local extra_float_digits = 3`;
