/** Reads a consistent snapshot of a database, table by table, in the text format of COPY. */
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { DUMP_SETTINGS, listTables, type QuotedTable, type TableChoice } from './dumped-tables.ts';

/** Tables are split into parts of this size, so memory use does not depend on table sizes. */
export const MAX_PART_BYTES = 8 * 1024 * 1024;
const LINE_END = 0x0a;

/** A part of a table, split at an arbitrary byte. */
export interface TablePart {
  readonly content: Buffer;
  /** Number of rows that end in this part. */
  readonly rows: number;
}

/**
 * Begins a transaction with a consistent snapshot. Its locks block migrations, since older snapshots also see changes
 * to a table's definition.
 * @param client a dedicated connection; ending it ends the transaction
 */
export async function beginSnapshot(client: Client, unwanted: readonly string[]): Promise<TableChoice> {
  const tables = await listTables(client, unwanted);
  await client.query('begin isolation level repeatable read read only');
  await client.query(`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
    ${DUMP_SETTINGS}`);
  const names = tables.dumped.map(({ quotedName }) => quotedName);
  // Runs before the first query, which creates the snapshot.
  if (names.length > 0) await client.query(`lock table ${names.join(', ')} in access share mode`);
  return tables;
}

export async function* readTable(client: Client, table: QuotedTable): AsyncGenerator<TablePart> {
  const text = `copy ${table.quotedName} (${table.quotedColumns.join(', ')}) to stdout`;
  const stream: AsyncIterable<Buffer> = client.query(copyTo(text));
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of stream) {
    let rest = chunk;
    while (heldBytes + rest.length >= MAX_PART_BYTES) {
      const fitting = MAX_PART_BYTES - heldBytes;
      yield partOf([...held, rest.subarray(0, fitting)]);
      rest = rest.subarray(fitting);
      held = [];
      heldBytes = 0;
    }
    if (rest.length > 0) held.push(rest);
    heldBytes += rest.length;
  }
  if (heldBytes > 0) yield partOf(held);
}

/** The text format writes line breaks in values as `\n`, so every actual line break ends a row. */
function partOf(pieces: readonly Buffer[]): TablePart {
  const content = Buffer.concat(pieces);
  let rows = 0;
  for (let at = content.indexOf(LINE_END); at !== -1; at = content.indexOf(LINE_END, at + 1)) rows += 1;
  return { content, rows };
}
