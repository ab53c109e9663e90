/** What modules know of the database: where statements are sent, and transactions. `open-database.ts` implements it. */
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
   * `work` has no effect outside the transaction, so it may run again, up to three times, when the server ends the
   * transaction for a deadlock or a serialization failure.
   */
  readonly isRepeatable?: boolean;
}

/**
 * The database as the domain sees it. Statements sent here directly run on shared pipelined connections, each its
 * own transaction; `transaction` has a connection of its own.
 *
 * Throws `LatchkeyError` `temporarily_unavailable` when no connection is available, when the server is out of resources
 * or read-only, or when the outcome of a write is unknown; `StatementError` (`failures.ts`) when a statement is refused
 * for its content. Statements that only read are sent again when their connection is lost.
 */
export interface Database extends Queryable {
  readonly isTransaction: false;
  /**
   * Runs `work` between BEGIN and COMMIT; any throw rolls back. Resolves only after the server confirmed the commit.
   * Inside, use only the given transaction: another connection would wait for this one's locks.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** A database that can make work depend on a statement. */
export interface GuardingDatabase extends Database {
  /**
   * The same database for work that counts only when `guard` is accepted: the first statement that is sent there goes
   * in one group with it, and so in one round trip and one transaction. When either is refused, neither takes effect; the
   * guard then goes with the next one.
   * @param constraint by which the server refuses the guard: `GuardRefused` is thrown then
   */
  guardedBy<Parameters extends object>(
    guard: Statement<never, Parameters>,
    parameters: Parameters,
    constraint: string,
  ): GuardedDatabase;
}

/** Of one piece of work; see `GuardingDatabase.guardedBy`. */
export interface GuardedDatabase extends Database {
  /** The guard took effect. */
  readonly isSettled: boolean;
  /** Sends the guard by itself unless it took effect. */
  settle(): Promise<void>;
}

/** The database as the running program sees it: what its health check, metrics and shutdown need as well. */
export interface OpenDatabase extends GuardingDatabase {
  /** Rejects when the database does not answer within two seconds; callers within a second share one answer. */
  ping(): Promise<void>;
  /**
   * How far the server's clock is ahead of the process clock, in ms; logs `db.skew` beyond five seconds, unless
   * `isQuiet`.
   */
  skewMs(options?: { readonly isQuiet?: boolean }): Promise<number>;
  statistics(): DatabaseStatistics;
  /** Lets running statements finish, then closes every connection. */
  close(): Promise<void>;
}

export interface DatabaseStatistics {
  readonly open: number;
  /** Connections with unanswered statements, or reserved by a transaction. */
  readonly busy: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}
