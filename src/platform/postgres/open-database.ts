/** The database of a process: pools, statements, transactions, health check and clock check. */
import { outside } from '#platform/base/tasks.ts';
import { checkServer, connectWithRetries } from './connect.ts';
import type { DatabaseStatistics, GuardedDatabase, OpenDatabase, Transaction, TransactionOptions } from './database.ts';
import { type CompleteDatabaseOptions, completeOptions, type DatabaseOptions } from './database-options.ts';
import { unavailable } from './failures.ts';
import { GuardedStatements } from './guarded-statements.ts';
import { type ConnectionPool, openPools } from './pools.ts';
import { dialectOf, localSettings, sharedSettings } from './session-commands.ts';
import { SingleStatements } from './single-statements.ts';
import { type NoParameters, type Statement, statement } from './statement.ts';
import { Transactions } from './transactions.ts';

const SWEEP_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;
const PING_SHARED_MS = 1_000;
const MAX_SKEW_MS = 5_000;

const pingStatement = statement<{ one: number }, NoParameters>('db.ping', 'select 1 as one');
const clockStatement = statement<{ now: number }, NoParameters>(
  'db.clock',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
);

/**
 * Connects to PostgreSQL, with retries for up to `connectTimeoutSeconds`, and checks that the server is suitable.
 * @throws ExitError 69 if it cannot be reached or is unsuitable (`checkServer`)
 */
export async function openDatabase(given: DatabaseOptions): Promise<OpenDatabase> {
  const options = completeOptions(given);
  const client = await connectWithRetries(options, options.connectTimeoutSeconds, options.log);
  try {
    await checkServer(client);
  } finally {
    await client.end();
  }
  return new PostgresDatabase(options);
}

export class PostgresDatabase implements OpenDatabase {
  readonly isTransaction = false;
  readonly #options: CompleteDatabaseOptions;
  readonly #pools: readonly ConnectionPool[];
  readonly #gauge = { waiting: 0 };
  readonly #singles: SingleStatements;
  readonly #transactions: Transactions;
  readonly #sweeper: NodeJS.Timeout;
  #lastPing: { readonly at: number; readonly answer: Promise<void> } | undefined;

  constructor(options: CompleteDatabaseOptions) {
    this.#options = options;
    const { singles, exclusives } = openPools(options, this.#gauge);
    this.#pools = [...new Set([singles, exclusives])];
    const renewConnections = (): void => {
      for (const pool of this.#pools) pool.set.retireAll();
    };
    const leaveServer = (): void => {
      for (const pool of this.#pools) pool.set.leaveServer();
    };
    const dialect = dialectOf(options);
    this.#singles = new SingleStatements({
      pool: singles,
      before: options.pooler === 'transaction' ? [localSettings(sharedSettings(options))] : [],
      toCommand: dialect.toCommand,
      renewConnections,
      leaveServer,
    });
    this.#transactions = new Transactions(exclusives, dialect, { renewConnections, leaveServer });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  async rows<Row, Parameters extends object>(made: Statement<Row, Parameters>, parameters: Parameters): Promise<Row[]> {
    return (await this.#singles.send(made, parameters)).rows;
  }

  async first<Row, Parameters extends object>(
    made: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row | undefined> {
    return (await this.#singles.send(made, parameters)).rows[0];
  }

  async execute<Row, Parameters extends object>(
    made: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<number> {
    return (await this.#singles.send(made, parameters)).rowCount ?? 0;
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transactions.run(work, options);
  }

  guardedBy<Parameters extends object>(
    guard: Statement<never, Parameters>,
    parameters: Parameters,
    constraint: string,
  ): GuardedDatabase {
    return new GuardedStatements(
      {
        send: (made, values, before) => this.#singles.send(made, values, before),
        transaction: (work, options) => this.transaction(work, options),
      },
      { statement: guard, parameters, constraint },
    );
  }

  ping(): Promise<void> {
    const now = performance.now();
    if (this.#lastPing === undefined || now - this.#lastPing.at > PING_SHARED_MS) {
      this.#lastPing = { at: now, answer: this.#sendPing() };
    }
    return outside(this.#lastPing.answer);
  }

  async skewMs({ isQuiet = false } = {}): Promise<number> {
    const { clock, log } = this.#options;
    const before = clock.now();
    const row = await this.first(clockStatement, {});
    const after = clock.now();
    const skew = (row?.now ?? before) - (before + after) / 2;
    if (!isQuiet && Math.abs(skew) > MAX_SKEW_MS) {
      log.warn('db.skew', 'clock skew between this machine and the database', { milliseconds: Math.round(skew) });
    }
    return skew;
  }

  statistics(): DatabaseStatistics {
    let open = 0;
    let busy = 0;
    for (const pool of this.#pools) {
      open += pool.set.openCount;
      for (const connection of pool.set.all()) if (connection.isLent || connection.inFlight > 0) busy += 1;
    }
    return { open, busy, waiting: this.#gauge.waiting };
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const reason = unavailable('The service is shutting down.');
    await Promise.all(this.#pools.map((pool) => pool.close(reason)));
  }

  #sweep(): void {
    const now = performance.now();
    const silent = this.#pools.filter((pool) => pool.set.sweep(now));
    if (silent.length > 0) for (const pool of this.#pools) pool.set.distrustAll();
  }

  async #sendPing(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable('The database does not respond.')), PING_TIMEOUT_MS);
    });
    try {
      await Promise.race([this.first(pingStatement, {}), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}
