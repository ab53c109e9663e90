/** Loads the rows of a dump into an empty, migrated database, in one transaction. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { DUMP_SETTINGS, type DumpedTable, listTables, type QuotedTable } from './dumped-tables.ts';

/** The dump does not match the database. */
export class LoadProblem extends Error {}

/** The database already contains rows. */
export class NotEmpty extends Error {}

export interface FilledTable extends DumpedTable {
  readonly rows: number;
}

export interface Load {
  readonly tables: readonly FilledTable[];
  /** Tables excluded from the dump. */
  readonly unwanted: readonly string[];
  /** Reads the content of a table. Called once per table, in order. */
  read(table: FilledTable): AsyncIterable<Buffer>;
  /** Runs the last statements of the transaction. */
  finish(client: Client): Promise<void>;
}

/**
 * Loads everything or nothing. Foreign keys are dropped first and recreated at the end, which checks all rows at once.
 * @param client a dedicated connection as the owner of the tables
 * @throws LoadProblem if tables, columns or row counts differ; NotEmpty
 */
export async function loadTables(client: Client, load: Load): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
      set local lock_timeout = '10s'; ${DUMP_SETTINGS}`);
    const targets = await targetsOf(client, load);
    const names = targets.map(({ quotedName }) => quotedName).join(', ');
    await client.query(`lock table ${names} in access exclusive mode`);
    await requireEmpty(client, targets);
    const { rows: foreignKeys } = await client.query<{ drop: string; create: string }>(FOREIGN_KEYS);
    for (const { drop } of foreignKeys) await client.query(drop);
    for (const [index, table] of load.tables.entries()) await fill(client, targets[index], table, load);
    for (const { create } of foreignKeys) await client.query(create);
    await load.finish(client);
    const { command } = await client.query('commit');
    if (command !== 'COMMIT') throw new Error(`the server responded to COMMIT with ${command}`);
  } catch (error) {
    // If the connection is lost, the server rolls back on its own.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
  await client.query('analyze');
}

/** Returns the database's tables in the order of the dump, with the dump's columns. */
async function targetsOf(client: Client, { tables, unwanted }: Load): Promise<readonly QuotedTable[]> {
  const there = (await listTables(client, unwanted)).dumped;
  const names = tables.map(({ name }) => name);
  if (names.join() !== there.map(({ name }) => name).join())
    throw new LoadProblem('its tables do not match its version');
  return tables.map(({ name, columns }, index) => {
    const target = there[index];
    const quotedColumns = columns.map((column) => target?.quotedColumns[target.columns.indexOf(column)]);
    const isComplete = columns.length === target?.columns.length && new Set(columns).size === columns.length;
    if (target === undefined || !isComplete || quotedColumns.includes(undefined)) {
      throw new LoadProblem(`the columns of its table ${name} do not match its version`);
    }
    return { ...target, quotedColumns: quotedColumns.filter((column) => column !== undefined) };
  });
}

async function requireEmpty(client: Client, targets: readonly QuotedTable[]): Promise<void> {
  for (const { name, quotedName } of targets) {
    const { rows } = await client.query<{ taken: boolean }>(`select exists (select from ${quotedName}) as taken`);
    if (rows[0]?.taken === true) throw new NotEmpty(`its table ${name} has rows`);
  }
}

async function fill(client: Client, target: QuotedTable | undefined, table: FilledTable, load: Load): Promise<void> {
  if (target === undefined) return;
  const { quotedName, quotedColumns } = target;
  await pipeline(
    Readable.from(load.read(table)),
    client.query(copyFrom(`copy ${quotedName} (${quotedColumns.join(', ')}) from stdin`)),
  );
  const { rows } = await client.query<{ count: number }>(`select count(*)::float8 as count from ${quotedName}`);
  if (rows[0]?.count !== table.rows) {
    throw new LoadProblem(`its table ${table.name} has ${rows[0]?.count} rows, expected ${table.rows}`);
  }
}

const FOREIGN_KEYS = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
         format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
    from pg_constraint
   where contype = 'f' and connamespace = current_schema()::regnamespace
   order by conname`;
