import { LatchkeyError } from '#platform/base/errors.ts';
import { currentTask } from '#platform/base/tasks.ts';
import type { Command } from './command.ts';
import type { Connection } from './connection.ts';
import type { Transaction } from './database.ts';
import type { Completed } from './prepared-query.ts';
import { settleFor } from './settle-for.ts';
import type { AnyStatement, Statement } from './statement.ts';

/** How statements are put to a server, with or without names. */
export interface TransactionDialect {
  /** BEGIN and what goes with it, sent together with the first statement. */
  readonly begin: readonly Command[];
  readonly commit: Command;
  readonly rollback: Command;
  readonly toCommand: (statement: AnyStatement, parameters: object) => Command;
}

/** One transaction on a connection that it has to itself. */
export class OpenTransaction implements Transaction {
  readonly isTransaction = true;
  readonly #connection: Connection;
  readonly #dialect: TransactionDialect;
  #state: 'unused' | 'begun' | 'ended' = 'unused';
  #firstFailure: unknown;

  constructor(connection: Connection, dialect: TransactionDialect) {
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
   * Commits, and believes it only by the server's word: after a failed statement COMMIT succeeds as a ROLLBACK.
   * @throws LatchkeyError `internal` when a failure inside was passed over, `ConnectionLost` when the outcome is unknown
   */
  async commit(): Promise<void> {
    const wasUsed = this.#state === 'begun';
    this.#state = 'ended';
    if (!wasUsed) return;
    const { command } = await this.#send(this.#dialect.commit);
    if (command === 'COMMIT') return;
    throw new LatchkeyError('internal', {
      details: { database: 'a failed statement was passed over, so that the server rolled back at COMMIT' },
      cause: this.#firstFailure,
    });
  }

  /** Undoes everything; a connection that cannot even do that is of no further use, and no worry of the caller. */
  async rollback(): Promise<void> {
    const wasUsed = this.#state === 'begun';
    this.#state = 'ended';
    if (!wasUsed || this.#connection.isLost) return;
    try {
      await this.#send(this.#dialect.rollback);
    } catch (error) {
      this.#connection.destroy(new Error('a rollback failed', { cause: error }));
    }
  }

  async #run(statement: AnyStatement, parameters: object): Promise<Completed> {
    if (this.#state === 'ended') throw new Error(`statement ${statement.label} came after the end of its transaction`);
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
    return settleFor(task, (resolve, reject) => {
      this.#connection.send(
        command,
        task,
        (failure, completed) => (completed === undefined ? reject(failure) : resolve(completed)),
        before,
      );
    });
  }
}
