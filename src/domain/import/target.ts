import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

/** Key of the advisory lock `import`, an arbitrary fixed number. */
const LOCK = '4981033716550242907';
const LOCK_TIMEOUT = '10s';
const LOCK_NOT_AVAILABLE = '55P03';

/** A constraint or index of a table. */
interface Dependent {
  readonly table: string;
  /** Foreign keys refer to other tables, so they are recreated when all tables are filled. */
  readonly kind: 'foreign-key' | 'key' | 'index';
  readonly drop: string;
  readonly create: string;
}

/**
 * The Latchkey database during an import. The import is one transaction, so that other processes never see part of the
 * users, and a failure leaves nothing behind. Keys and indexes of a table are dropped before its rows are inserted and
 * recreated afterwards, which is several times faster.
 */
export class ImportTarget<Table extends string = string> {
  readonly #client: Client;
  readonly #tables: readonly Table[];
  #dropped: readonly Dependent[] = [];

  /**
   * @param client dedicated client, to the same server as for migrations, because the transaction is long
   * @param tables that the import fills
   */
  constructor(client: Client, tables: readonly Table[]) {
    this.#client = client;
    this.#tables = tables;
  }

  /**
   * Starts the import. Its locks block every other process from these tables until the end.
   * @throws ExitError 75 if another process imports or uses the tables
   */
  async begin(): Promise<void> {
    await this.query('begin');
    await this.query(`set local statement_timeout = 0; set local lock_timeout = '${LOCK_TIMEOUT}';
      set local idle_in_transaction_session_timeout = 0`);
    const [lock] = await this.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}) as taken`);
    if (lock?.taken !== true) throw new ExitError(ExitCode.tempFail, 'another import into this database is running');
    await this.#requireNobodyElse();
    try {
      await this.query(`lock table ${this.#tables.join(', ')} in access exclusive mode`);
      this.#dropped = await this.query<Dependent>(DEPENDENTS, [this.#tables]);
      for (const { drop } of this.#dropped) await this.query(drop);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE) throw inUse();
      throw error;
    }
  }

  /** @throws ExitError 75 if somebody has registered since the check */
  async requireNoUsers(): Promise<void> {
    const [row] = await this.query<{ taken: boolean }>('select exists (select from users) as taken');
    if (row?.taken === true) throw inUse();
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  /** @returns the number of rows written */
  async execute(text: string, values: readonly unknown[]): Promise<number> {
    return (await this.#client.query(text, [...values])).rowCount ?? 0;
  }

  /** Fills a table from rows in the text format of COPY. @returns their number */
  async fill(table: string, rows: Readable): Promise<number> {
    const copy = this.#client.query(copyFrom(`copy ${table} from stdin`));
    await pipeline(rows, copy);
    return copy.rowCount;
  }

  /** Creates keys and indexes of filled tables, so that later steps can use them. */
  async complete(...tables: readonly Table[]): Promise<void> {
    const isOne = ({ table, kind }: Dependent): boolean =>
      kind !== 'foreign-key' && tables.some((one) => one === table);
    await this.#create(isOne);
    for (const table of tables) await this.query(`analyze ${table}`);
  }

  /** Creates the remaining keys and indexes, and ends the transaction. */
  async finish(keeps: boolean): Promise<void> {
    await this.#create(() => true);
    const { command } = await this.#client.query(keeps ? 'commit' : 'rollback');
    if (keeps && command !== 'COMMIT') throw new Error(`the database server responded to COMMIT with ${command}`);
  }

  /** Closes the connection immediately. Uncommitted work is discarded. */
  close(): void {
    this.#client.connection.stream.destroy();
  }

  async #create(isWanted: (dependent: Dependent) => boolean): Promise<void> {
    const wanted = this.#dropped.filter(isWanted);
    this.#dropped = this.#dropped.filter((dependent) => !wanted.includes(dependent));
    // Ordered by kind, because foreign keys need the keys that they refer to.
    for (const kind of ['key', 'index', 'foreign-key']) {
      for (const { create } of wanted.filter((dependent) => dependent.kind === kind)) await this.query(create);
    }
  }

  async #requireNobodyElse(): Promise<void> {
    const [others] = await this.query<{ count: number }>(
      `select count(distinct application_name)::integer as count from pg_stat_activity
        where datname = current_database() and application_name ~ '(^| )latchkey:[0-9]+$'
          and application_name !~ $1`,
      [`(^| )latchkey:${process.pid}$`],
    );
    if ((others?.count ?? 0) > 0) throw inUse();
  }
}

function inUse(): ExitError {
  return new ExitError(ExitCode.tempFail, 'this database is in use by other Latchkey processes. Stop them and retry.');
}

/** Ordered by kind, because keys cannot be dropped before the foreign keys that refer to them. */
const DEPENDENTS = `
  with tables as (
    select to_regclass(name)::oid as id from unnest($1::text[]) name
  )
  select conrelid::regclass::text as "table",
         case contype when 'f' then 'foreign-key' else 'key' end as kind,
         format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
         format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
    from pg_constraint
   where contype = 'f' and (conrelid in (select id from tables) or confrelid in (select id from tables))
      or contype in ('p', 'u') and conrelid in (select id from tables)
  union all
  select indrelid::regclass::text, 'index', format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
    from pg_index
   where indrelid in (select id from tables)
     and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
  order by kind, 1`;
