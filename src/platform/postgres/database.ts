import type { Statement } from './statement.ts';

/** Where statements can be sent: the pool for single autocommit ones, or a transaction. */
export interface Queryable {
  /** All rows. */
  rows<Row, Parameters extends object>(statement: Statement<Row, Parameters>, parameters: Parameters): Promise<Row[]>;
  /** The first row, or undefined. */
  first<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row | undefined>;
  /** The number of rows affected. */
  execute<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<number>;
}

/** A transaction opened by `Database.transaction`; operations that write several rows ask for one. */
export interface Transaction extends Queryable {
  readonly isTransaction: true;
}

export interface TransactionOptions {
  /**
   * `work` has no effect outside the transaction, so that it may run again, up to three times, when the server ends
   * it for a deadlock or a serialization failure.
   */
  readonly isRepeatable?: boolean;
}

/**
 * The database as the domain sees it. Statements sent here directly run on shared pipelined connections, each its
 * own transaction; `transaction` has a connection to itself.
 *
 * Throws `LatchkeyError` `temporarily_unavailable` when no connection can be had, when the server has no room or does
 * not write, or when the outcome of a write is unknown; `StatementError` (`failures.ts`) when a statement is refused
 * for its content. Statements that only read are repeated once when their connection is lost.
 */
export interface Database extends Queryable {
  readonly isTransaction: false;
  /**
   * Runs `work` between BEGIN and COMMIT; any throw rolls back. Resolves only after the server confirmed the commit.
   * Inside, use only the transaction it is given: another connection would wait for this one's locks.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}
