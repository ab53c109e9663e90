/** Transactions: BEGIN with the first statement, a checked COMMIT, and retries of those declared repeatable. */
import { LatchkeyError } from '#platform/base/errors.ts';
import { currentTask } from '#platform/base/tasks.ts';
import { type Connection, settleInTask } from './connection.ts';
import type { Transaction, TransactionOptions } from './database.ts';
import { isConflict, isLockTimeout, isReadOnlyServer, isStalePlan, toCallersError, tooLate } from './failures.ts';
import type { ConnectionPool } from './pools.ts';
import type { Command, Completed } from './query.ts';
import { type Dialect, TRANSACTION_LOCK_MS } from './session-commands.ts';
import type { SingleStatementOptions } from './single-statements.ts';
import type { AnyStatement, Statement } from './statement.ts';

const MAX_RETRIES = 3;

/** Runs transactions, each on a reserved connection that is always returned to the pool. */
export class Transactions {
  readonly #pool: ConnectionPool;
  readonly #dialect: Dialect;
  readonly #remedies: Pick<SingleStatementOptions, 'renewConnections' | 'leaveServer'>;

  constructor(
    pool: ConnectionPool,
    dialect: Dialect,
    remedies: Pick<SingleStatementOptions, 'renewConnections' | 'leaveServer'>,
  ) {
    this.#pool = pool;
    this.#dialect = dialect;
    this.#remedies = remedies;
  }

  async run<T>(work: (transaction: Transaction) => Promise<T>, options: TransactionOptions): Promise<T> {
    const startedAt = performance.now();
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#runOnce(work);
      } catch (error) {
        if (isStalePlan(error)) this.#remedies.renewConnections();
        if (isReadOnlyServer(error)) this.#remedies.leaveServer();
        // A caller that has used up the wait for a lock does not wait again, since others need the connection.
        const isLocked = isLockTimeout(error) && performance.now() - startedAt < TRANSACTION_LOCK_MS;
        const isUndone = isConflict(error) || isLocked || isStalePlan(error) || isReadOnlyServer(error);
        const mayRepeat = options.isRepeatable === true && isUndone;
        if (!mayRepeat || retries === MAX_RETRIES) throw toCallersError(error);
      }
    }
  }

  async #runOnce<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const connection = await settleInTask<Connection>(currentTask(), (resolve, reject) => {
      this.#pool.take(resolve, reject);
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
      this.#pool.giveBack(connection);
    }
  }
}

/** One transaction on a reserved connection. */
class OpenTransaction implements Transaction {
  readonly isTransaction = true;
  readonly #connection: Connection;
  readonly #dialect: Dialect;
  #state: 'unused' | 'begun' | 'ended' = 'unused';
  #firstFailure: unknown;

  constructor(connection: Connection, dialect: Dialect) {
    this.#connection = connection;
    this.#dialect = dialect;
  }

  async rows<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row[]> {
    return (await this.#run(statement, parameters)).rows;
  }

  async first<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row | undefined> {
    return (await this.#run(statement, parameters)).rows[0];
  }

  async execute<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<number> {
    return (await this.#run(statement, parameters)).rowCount ?? 0;
  }

  /**
   * Commits and checks the server's response: after a failed statement, COMMIT succeeds but rolls back.
   * @throws LatchkeyError `internal` if the caller ignored a failed statement, `temporarily_unavailable` if the request
   * was already answered by its time limit, `ConnectionLost` if the outcome is unknown
   */
  async commit(): Promise<void> {
    requireInTime();
    const wasUsed = this.#state === 'begun';
    this.#state = 'ended';
    if (!wasUsed) return;
    const { command } = await this.#send(this.#dialect.commit);
    if (command === 'COMMIT') return;
    throw new LatchkeyError('internal', {
      details: { database: 'a failed statement was ignored, so the server rolled the transaction back at COMMIT' },
      cause: this.#firstFailure,
    });
  }

  /** Never throws. If the rollback fails, the connection is closed, which rolls back as well. */
  async rollback(): Promise<void> {
    const wasUsed = this.#state === 'begun';
    this.#state = 'ended';
    if (!wasUsed || this.#connection.isLost) return;
    try {
      await this.#send(this.#dialect.rollback);
    } catch (error) {
      this.#connection.destroy(new Error('rollback failed', { cause: error }));
    }
  }

  async #run(statement: AnyStatement, parameters: object): Promise<Completed> {
    if (this.#state === 'ended')
      throw new Error(`statement ${statement.label} was sent after the end of its transaction`);
    requireInTime();
    const before = this.#state === 'unused' ? this.#dialect.begin : [];
    this.#state = 'begun';
    try {
      return await this.#send(this.#dialect.toCommand(statement, parameters), before);
    } catch (error) {
      this.#firstFailure ??= error;
      throw error;
    }
  }

  #send(command: Command, before: readonly Command[] = []): Promise<Completed> {
    const task = currentTask();
    return settleInTask(task, (resolve, reject) => {
      this.#connection.send(
        command,
        task,
        (failure, completed) => (completed === undefined ? reject(failure) : resolve(completed)),
        before,
      );
    });
  }
}

function requireInTime(): void {
  if (currentTask()?.isOver === true) throw tooLate();
}
