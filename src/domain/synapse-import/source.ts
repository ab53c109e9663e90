import type { Client } from 'pg';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { connectWithRetries } from '#platform/postgres/connect.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';

/** Rows of a batch: the memory that an import takes does not grow with the number of people. */
const BATCH_ROWS = 5_000;
const CONNECT_SECONDS = 10;
/** A table or a column is missing. */
const OTHER_SCHEMA = new Set(['42P01', '42703']);

/** A batch that is being read. The error is handled where it is awaited, which may be a while after it came. */
type Reading<Row> = Promise<{ readonly rows: readonly Row[] } | { readonly error: unknown }>;

/**
 * The database of a Synapse, as it was at one moment: everything is read in one transaction that cannot write. Rows come
 * by a cursor, one batch ahead of those in work.
 */
export class SynapseSource {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** @throws ExitError 69 when it cannot be reached */
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

  /** @throws ExitError 1 when it is no database of a Synapse that is new enough */
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
        (rows) => ({ rows }),
        (error: unknown) => ({ error }),
      );
    for (let ahead = read(); ; ) {
      const batch = await ahead;
      if ('error' in batch) throw batch.error;
      if (batch.rows.length === 0) break;
      ahead = read();
      yield batch.rows;
    }
    await this.rows('close rows_to_import');
  }

  /** Ends it at once. */
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
    `this is not the database of a Synapse 1.136 or later (${reason}). ` +
      'Name the right one by --synapse-database-uri, or update Synapse and start it once.',
    { cause: error },
  );
}
