import { outside } from '#platform/base/tasks.ts';
import type { Command } from './command.ts';
import type { ConnectionSource } from './connection-source.ts';
import type { Database, Transaction, TransactionOptions } from './database.ts';
import { unavailable } from './failures.ts';
import { exclusiveSettings, openSources, sharedSettings } from './open-sources.ts';
import type { TransactionDialect } from './open-transaction.ts';
import type { CompleteOptions } from './options.ts';
import { BEGIN, COMMIT, localSettings, ROLLBACK } from './session-settings.ts';
import { SingleStatements } from './single-statements.ts';
import { type AnyStatement, type NoParameters, parameterValues, type Statement, statement } from './statement.ts';
import { Transactions } from './transactions.ts';

/** The database of a running process, with what its health check, metrics and shutdown need. */
export interface OpenDatabase extends Database {
  /** Rejects when the database does not answer within two seconds; callers share one answer for a second. */
  ping(): Promise<void>;
  /** How far the server's clock is ahead of the process clock; logs `db.skew` beyond five seconds. */
  skewMs(): Promise<number>;
  statistics(): DatabaseStatistics;
  /** Lets statements under way finish, then closes every connection. */
  close(): Promise<void>;
}

export interface DatabaseStatistics {
  readonly open: number;
  /** Connections with work under way, or reserved by a transaction. */
  readonly busy: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

const SWEEP_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;
const PING_SHARED_MS = 1_000;
const MAX_SKEW_MS = 5_000;

const pingStatement = statement<{ one: number }, NoParameters>('db.ping', 'select 1 as one');
const clockStatement = statement<{ now: number }, NoParameters>(
  'db.clock',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
);

export class PostgresDatabase implements OpenDatabase {
  readonly isTransaction = false;
  readonly #options: CompleteOptions;
  readonly #sources: readonly ConnectionSource[];
  readonly #gauge = { waiting: 0 };
  readonly #singles: SingleStatements;
  readonly #transactions: Transactions;
  readonly #sweeper: NodeJS.Timeout;
  #lastPing: { readonly at: number; readonly answer: Promise<void> } | undefined;

  constructor(options: CompleteOptions) {
    this.#options = options;
    const { singles, exclusives } = openSources(options, this.#gauge);
    this.#sources = [...new Set([singles, exclusives])];
    const renewConnections = (): void => {
      for (const source of this.#sources) source.set.retireAll();
    };
    const dialect = dialectOf(options);
    this.#singles = new SingleStatements({
      source: singles,
      before: options.pooler === 'transaction' ? [localSettings(sharedSettings(options))] : [],
      toCommand: dialect.toCommand,
      renewConnections,
    });
    this.#transactions = new Transactions(exclusives, dialect, renewConnections);
    this.#sweeper = setInterval(() => {
      const now = performance.now();
      for (const source of this.#sources) source.set.sweep(now);
    }, SWEEP_MS);
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

  ping(): Promise<void> {
    const now = performance.now();
    if (this.#lastPing === undefined || now - this.#lastPing.at > PING_SHARED_MS) {
      this.#lastPing = { at: now, answer: this.#askForAnswer() };
    }
    return outside(this.#lastPing.answer);
  }

  async skewMs(): Promise<number> {
    const { clock, log } = this.#options;
    const before = clock.now();
    const row = await this.first(clockStatement, {});
    const after = clock.now();
    const skew = (row?.now ?? before) - (before + after) / 2;
    if (Math.abs(skew) > MAX_SKEW_MS) {
      log.warn('db.skew', 'the clocks of this machine and of the database differ', { milliseconds: Math.round(skew) });
    }
    return skew;
  }

  statistics(): DatabaseStatistics {
    let open = 0;
    let busy = 0;
    for (const source of this.#sources) {
      open += source.set.openCount;
      for (const connection of source.set.all()) if (connection.isLent || connection.inFlight > 0) busy += 1;
    }
    return { open, busy, waiting: this.#gauge.waiting };
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const reason = unavailable('The service is shutting down.');
    await Promise.all(this.#sources.map((source) => source.close(reason)));
  }

  async #askForAnswer(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable('The database does not answer.')), PING_TIMEOUT_MS);
    });
    try {
      await Promise.race([this.first(pingStatement, {}), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function dialectOf(options: CompleteOptions): TransactionDialect {
  if (options.pooler !== 'transaction') {
    return { begin: [BEGIN], commit: COMMIT, rollback: ROLLBACK, toCommand: namedCommand };
  }
  return {
    begin: [withoutName(BEGIN), localSettings(exclusiveSettings(options))],
    commit: withoutName(COMMIT),
    rollback: withoutName(ROLLBACK),
    toCommand: namelessCommand,
  };
}

function namedCommand(made: AnyStatement, parameters: object): Command {
  return { label: made.label, name: made.name, text: made.text, params: parameterValues(made, parameters) };
}

function namelessCommand(made: AnyStatement, parameters: object): Command {
  return { label: made.label, name: undefined, text: made.text, params: parameterValues(made, parameters) };
}

function withoutName(command: Command): Command {
  return { ...command, name: undefined };
}
