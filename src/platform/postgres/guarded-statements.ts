import type { GuardedDatabase, Transaction, TransactionOptions } from './database.ts';
import { GuardRefused, isUniqueViolation } from './failures.ts';
import type { Completed } from './query.ts';
import type { AnyStatement, Statement } from './statement.ts';

/** A statement with its parameters. */
export interface Guard {
  readonly statement: AnyStatement;
  readonly parameters: object;
  /** The unique constraint that rejects the guard. No other statement may violate it. */
  readonly constraint: string;
}

interface GuardedStatementsOptions {
  readonly send: (statement: AnyStatement, parameters: object, guard?: Guard) => Promise<Completed>;
  readonly transaction: <T>(
    work: (transaction: Transaction) => Promise<T>,
    options: TransactionOptions | undefined,
  ) => Promise<T>;
}

/** Sends a guard in one group with the first statement. Later statements wait for the result. */
export class GuardedStatements implements GuardedDatabase {
  readonly isTransaction = false;
  readonly #options: GuardedStatementsOptions;
  readonly #guard: Guard;
  #isSettled = false;
  /** Resolves when the last attempt ends, whether or not it succeeds. */
  #attempt: Promise<void> = Promise.resolve();

  constructor(options: GuardedStatementsOptions, guard: Guard) {
    this.#options = options;
    this.#guard = guard;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  async rows<Row, Parameters extends object>(made: Statement<Row, Parameters>, parameters: Parameters): Promise<Row[]> {
    return (await this.#send(made, parameters)).rows;
  }

  async first<Row, Parameters extends object>(
    made: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row | undefined> {
    return (await this.#send(made, parameters)).rows[0];
  }

  async execute<Row, Parameters extends object>(
    made: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<number> {
    return (await this.#send(made, parameters)).rowCount ?? 0;
  }

  async transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    options: TransactionOptions | undefined,
  ): Promise<T> {
    await this.settle();
    return await this.#options.transaction(work, options);
  }

  async settle(): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.#isSettled) await this.#options.send(this.#guard.statement, this.#guard.parameters);
    });
  }

  async #send(made: AnyStatement, parameters: object): Promise<Completed> {
    if (this.#isSettled) return await this.#options.send(made, parameters);
    return await this.#inTurn(() => this.#options.send(made, parameters, this.#isSettled ? undefined : this.#guard));
  }

  /** Sends statements one by one, so that nothing is done before the result of the guard is known. */
  async #inTurn<T>(send: () => Promise<T>): Promise<T> {
    const sending = this.#attempt.then(send);
    this.#attempt = sending.then(
      () => {
        this.#isSettled = true;
      },
      () => {},
    );
    try {
      return await sending;
    } catch (error) {
      throw isUniqueViolation(error, this.#guard.constraint) ? new GuardRefused() : error;
    } finally {
      await this.#attempt;
    }
  }
}
