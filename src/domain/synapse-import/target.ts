import type { Client } from 'pg';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

/** Key of the advisory lock `import`; any fixed number serves. */
const LOCK = '4981033716550242907';
const LOCK_TIMEOUT = '10s';
const LOCK_NOT_AVAILABLE = '55P03';

/** What an import fills. */
const TABLES = [
  'users',
  'user_passwords',
  'user_emails',
  'user_unsupported_threepids',
  'upstream_links',
  'compat_sessions',
  'compat_access_tokens',
  'compat_refresh_tokens',
] as const;

export type ImportedTable = (typeof TABLES)[number];

/** What rows of a table have to be checked against, or are found by. */
interface Dependent {
  readonly table: string;
  /** Foreign keys refer to other tables, so they come back when all of them are filled. */
  readonly kind: 'foreign-key' | 'key' | 'index';
  readonly drop: string;
  readonly create: string;
}

/**
 * This database while an import fills it: one transaction, so that nobody sees half of the people, and a failure leaves
 * nothing. Keys and indexes of a table are dropped before its rows come and made when they are there, which is several
 * times as fast as adding to them row by row.
 */
export class ImportTarget {
  readonly #client: Client;
  #dropped: readonly Dependent[] = [];

  /** @param client of its own, to the same server as migrations: the transaction is a long one */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Begins. The locks keep every other process from these tables until the end.
   * @param empties what is there goes: a former import did not come to its end
   * @throws ExitError 75 when another process imports or uses the tables
   */
  async begin(empties: boolean): Promise<void> {
    await this.query('begin');
    await this.query(`set local statement_timeout = 0; set local lock_timeout = '${LOCK_TIMEOUT}';
      set local idle_in_transaction_session_timeout = 0`);
    const [lock] = await this.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}) as taken`);
    if (lock?.taken !== true) throw new ExitError(ExitCode.tempFail, 'another import into this database is running');
    await this.#requireNobodyElse();
    try {
      await this.query(`lock table ${TABLES.join(', ')} in access exclusive mode`);
      this.#dropped = await this.query<Dependent>(DEPENDENTS, [TABLES]);
      for (const { drop } of this.#dropped) await this.query(drop);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE) throw inUse();
      throw error;
    }
    if (!empties) {
      const [row] = await this.query<{ taken: boolean }>('select exists (select from users) as taken');
      if (row?.taken === true) throw inUse();
      return;
    }
    await this.query(`truncate ${TABLES.filter((table) => table !== 'upstream_links').join(', ')}`);
    // Those of nobody belong to registrations that were begun.
    await this.query('delete from upstream_links where user_id is not null');
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  /** @returns the number of rows that it wrote */
  async execute(text: string, values: readonly unknown[]): Promise<number> {
    return (await this.#client.query(text, [...values])).rowCount ?? 0;
  }

  /** Makes keys and indexes of tables that are filled, so that what comes next is found by them. */
  async complete(...tables: readonly ImportedTable[]): Promise<void> {
    const isOne = ({ table, kind }: Dependent): boolean =>
      kind !== 'foreign-key' && tables.some((one) => one === table);
    await this.#create(isOne);
    for (const table of tables) await this.query(`analyze ${table}`);
  }

  /** Makes what is still missing, and ends the transaction. */
  async finish(keeps: boolean): Promise<void> {
    await this.#create(() => true);
    const { command } = await this.#client.query(keeps ? 'commit' : 'rollback');
    if (keeps && command !== 'COMMIT') throw new Error(`the server answered COMMIT with ${command}`);
  }

  /** Ends it at once; what was not finished never happened. */
  close(): void {
    this.#client.connection.stream.destroy();
  }

  async #create(isWanted: (dependent: Dependent) => boolean): Promise<void> {
    const wanted = this.#dropped.filter(isWanted);
    this.#dropped = this.#dropped.filter((dependent) => !wanted.includes(dependent));
    // In the order of the kinds: foreign keys need the keys that they refer to.
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
  return new ExitError(ExitCode.tempFail, 'other processes of Latchkey use this database: stop them, and try again');
}

/** In the order of the kinds: keys cannot go before the foreign keys that refer to them. */
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
