import type {
  DatabaseStatistics,
  GuardedDatabase,
  OpenDatabase,
  Transaction,
  TransactionOptions,
} from '#platform/postgres/database.ts';
import type { Statement } from '#platform/postgres/statement.ts';
import type { Deadline } from './deadline.ts';

/**
 * The database as mutations see it. After a `TIMEOUT` response, nothing more takes effect (account-graphql 1.7).
 * Pending work is rolled back. Single statements therefore run in a transaction too.
 */
export class TimelyDatabase implements OpenDatabase {
  readonly isTransaction = false;
  readonly #database: OpenDatabase;
  readonly #deadline: Deadline;

  constructor(database: OpenDatabase, deadline: Deadline) {
    this.#database = database;
    this.#deadline = deadline;
  }

  rows<Row, Parameters extends object>(made: Statement<Row, Parameters>, parameters: Parameters): Promise<Row[]> {
    if (made.isReadOnly) return this.#database.rows(made, parameters);
    return this.#alone((transaction) => transaction.rows(made, parameters));
  }

  first<Row, Parameters extends object>(
    made: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row | undefined> {
    if (made.isReadOnly) return this.#database.first(made, parameters);
    return this.#alone((transaction) => transaction.first(made, parameters));
  }

  execute<Row, Parameters extends object>(made: Statement<Row, Parameters>, parameters: Parameters): Promise<number> {
    if (made.isReadOnly) return this.#database.execute(made, parameters);
    return this.#alone((transaction) => transaction.execute(made, parameters));
  }

  async transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const deadline = this.#deadline;
    let isCommitting = false;
    const leave = (): void => {
      if (isCommitting) deadline.leaveCommit();
      isCommitting = false;
    };
    try {
      return await this.#database.transaction(async (transaction) => {
        // The previous commit failed, and the work is retried.
        leave();
        const value = await work(transaction);
        deadline.enterCommit();
        isCommitting = true;
        return value;
      }, options);
    } finally {
      leave();
    }
  }

  guardedBy<Parameters extends object>(
    ...guard: [guard: Statement<never, Parameters>, parameters: Parameters, constraint: string]
  ): GuardedDatabase {
    return this.#database.guardedBy(...guard);
  }

  ping(): Promise<void> {
    return this.#database.ping();
  }

  skewMs(options?: { readonly isQuiet?: boolean }): Promise<number> {
    return this.#database.skewMs(options);
  }

  statistics(): DatabaseStatistics {
    return this.#database.statistics();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #alone<T>(send: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.transaction(send, { isRepeatable: true });
  }
}
