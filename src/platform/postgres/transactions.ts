import { currentTask } from '#platform/base/tasks.ts';
import type { Connection } from './connection.ts';
import type { ConnectionSource } from './connection-source.ts';
import type { Transaction, TransactionOptions } from './database.ts';
import { isConflict, isStalePlan, toCallersError } from './failures.ts';
import { OpenTransaction, type TransactionDialect } from './open-transaction.ts';
import { settleFor } from './settle-for.ts';

const MAX_REPETITIONS = 3;

/** Runs transactions, each on a connection that it has to itself and that always comes back. */
export class Transactions {
  readonly #source: ConnectionSource;
  readonly #dialect: TransactionDialect;
  readonly #renewConnections: () => void;

  constructor(source: ConnectionSource, dialect: TransactionDialect, renewConnections: () => void) {
    this.#source = source;
    this.#dialect = dialect;
    this.#renewConnections = renewConnections;
  }

  async run<T>(work: (transaction: Transaction) => Promise<T>, options: TransactionOptions): Promise<T> {
    for (let repetitions = 0; ; repetitions += 1) {
      try {
        return await this.#runOnce(work);
      } catch (error) {
        if (isStalePlan(error)) this.#renewConnections();
        const mayRepeat = options.isRepeatable === true && (isConflict(error) || isStalePlan(error));
        if (!mayRepeat || repetitions === MAX_REPETITIONS) throw toCallersError(error);
      }
    }
  }

  async #runOnce<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const connection = await settleFor<Connection>(currentTask(), (resolve, reject) => {
      this.#source.take(resolve, reject);
    });
    const transaction = new OpenTransaction(connection, this.#dialect);
    try {
      const value = await work(transaction);
      await transaction.commit();
      return value;
    } catch (error) {
      await transaction.rollback();
      throw error;
    } finally {
      this.#source.giveBack(connection);
    }
  }
}
