import type { Client } from 'pg';
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

/**
 * A snapshot of a Synapse database: everything is read in one read-only transaction. A cursor reads rows one batch
 * ahead of the one being imported.
 */
export class SynapseSource {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** @throws ExitError 69 if the database is unreachable */
  static async open(connection: ConnectionTarget, log: Log): Promise<SynapseSource> {
    const client = await connectWithRetries({ connection, applicationName: 'latchkey import' }, CONNECT_SECONDS, log);
    try {
      await client.query(`begin isolation level repeatable read read only`);
      await client.query(`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    return new SynapseSource(client);
  }

  /** @throws ExitError 1 if the database does not belong to a sufficiently new Synapse */
  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#client.query<Row>(text, [...values])).rows;
    } catch (error) {
      throw toCallersError(error);
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

  /** Closes the connection immediately. */
  close(): void {
    this.#client.connection.stream.destroy();
  }
}

function toCallersError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (!OTHER_SCHEMA.has(code)) return error;
  const reason = error instanceof Error ? error.message : '';
  return new ExitError(
    ExitCode.failure,
    `not a database of Synapse 1.136 or later (${reason}). ` +
      'Set --synapse-database-uri to the right database, or update Synapse and start it once.',
    { cause: error },
  );
}
