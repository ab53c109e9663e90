import type { Readable } from 'node:stream';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { connectWithRetries } from '#platform/postgres/connect.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';

/** Rows per batch. Memory usage does not grow with the number of users. */
const BATCH_ROWS = 5_000;
const CONNECT_SECONDS = 10;
/** Codes for a missing table or column. */
const OTHER_SCHEMA = new Set(['42P01', '42703']);

/** A batch being read. Errors are handled when it is awaited, which may be some time after they occur. */
type Reading<Row> = Promise<
  { readonly ok: true; readonly rows: readonly Row[] } | { readonly ok: false; readonly error: unknown }
>;

/** Server whose database is read. */
export interface SourceKind {
  /** For messages, for example `Synapse 1.136 or later`. */
  readonly expected: string;
  /** What to do if a table or column is missing. */
  readonly advice: string;
}

/**
 * A snapshot of another server's database: everything is read in one read-only transaction. A cursor reads rows one
 * batch ahead of the one being imported.
 */
export class ImportSource {
  readonly #client: Client;
  readonly #kind: SourceKind;

  private constructor(client: Client, kind: SourceKind) {
    this.#client = client;
    this.#kind = kind;
  }

  /** @throws ExitError 69 if the database is unreachable */
  static async open(connection: ConnectionTarget, kind: SourceKind, log: Log): Promise<ImportSource> {
    const client = await connectWithRetries({ connection, applicationName: 'latchkey import' }, CONNECT_SECONDS, log);
    try {
      // Refuses every write, even if a statement ended the transaction below.
      await client.query('set default_transaction_read_only = on');
      await client.query('begin isolation level repeatable read read only');
      await client.query(`set local datestyle = iso; set local timezone = 'UTC'; set local bytea_output = hex`);
      await client.query(`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    return new ImportSource(client, kind);
  }

  /** @throws ExitError 1 if the database does not have the expected tables */
  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#client.query<Row>(text, [...values])).rows;
    } catch (error) {
      throw this.#toCallersError(error);
    }
  }

  async *batches<Row extends object>(text: string): AsyncGenerator<readonly Row[]> {
    await this.rows(`declare rows_to_import no scroll cursor for ${text}`);
    const read = (): Reading<Row> =>
      this.rows<Row>(`fetch ${BATCH_ROWS} from rows_to_import`).then(
        (rows) => ({ ok: true, rows }),
        (error: unknown) => ({ ok: false, error }),
      );
    for (let ahead = read(); ; ) {
      const batch = await ahead;
      if (!batch.ok) throw batch.error;
      if (batch.rows.length === 0) break;
      ahead = read();
      yield batch.rows;
    }
    await this.rows('close rows_to_import');
  }

  /** Returns the number of rows in tables, as far as the server's statistics know it. */
  async estimatedRows(tables: readonly string[]): Promise<number | undefined> {
    const rows = await this.rows<{ count: number }>(
      'select sum(greatest(reltuples, 0))::float8 as count from pg_class where oid = any($1::text[]::regclass[])',
      [tables],
    );
    return rows[0]?.count || undefined;
  }

  /** Returns the rows of a query in the text format of COPY. The caller reads all of them before the next query. */
  copy(text: string): Readable {
    return this.#client.query(copyTo(`copy (${text}) to stdout`));
  }

  /** Closes the connection immediately. */
  close(): void {
    this.#client.connection.stream.destroy();
  }

  #toCallersError(error: unknown): unknown {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    if (!OTHER_SCHEMA.has(code)) return error;
    const reason = error instanceof Error ? error.message : '';
    const { expected, advice } = this.#kind;
    return new ExitError(ExitCode.failure, `not a database of ${expected} (${reason}). ${advice}`, { cause: error });
  }
}
