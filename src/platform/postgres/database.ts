/** The database interface for other modules: statements and transactions. `open-database.ts` implements it. */
import type { Statement } from './statement.ts';

/** Accepts statements: the pool for single autocommit statements, or a transaction. */
export interface Queryable {
  /** Returns all rows. */
  rows<Row, Parameters extends object>(statement: Statement<Row, Parameters>, parameters: Parameters): Promise<Row[]>;
  /** Returns the first row, or undefined. */
  first<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row | undefined>;
  /** Returns the number of affected rows. */
  execute<Row, Parameters extends object>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<number>;
}

/** A transaction opened by `Database.transaction`. Operations that write several rows require one. */
export interface Transaction extends Queryable {
  readonly isTransaction: true;
}

export interface TransactionOptions {
  /**
   * `work` has no effect outside the transaction, so it can be repeated. It runs up to three more times if the server
   * rolls the transaction back, for example for a deadlock or a serialization failure.
   */
  readonly isRepeatable?: boolean;
}

/**
 * The database as the domain sees it. Statements sent here directly run on shared pipelined connections, each in its
 * own transaction. `transaction` reserves a connection.
 *
 * Throws `LatchkeyError` `temporarily_unavailable` if no connection is available, if the server is out of resources or
 * read-only, or if the outcome of a write is unknown. Throws `StatementError` (`failures.ts`) if the server rejects a
 * statement for its content. Read-only statements are retried if their connection is lost.
 */
export interface Database extends Queryable {
  readonly isTransaction: false;
  /**
   * Runs `work` between BEGIN and COMMIT. Any error rolls back. Resolves only after the server has confirmed the
   * commit. Within `work`, use only the given transaction: another connection would wait for its locks.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** A database that can make work conditional on a statement. */
export interface GuardingDatabase extends Database {
  /**
   * Returns the same database for work that takes effect only if `guard` is accepted. The guard is sent in one group
   * with the first statement, in the same round trip and transaction. If the server rejects either, neither takes
   * effect, and the guard is sent with the next statement.
   * @param constraint that rejects the guard; `GuardRefused` is then thrown
   */
  guardedBy<Parameters extends object>(
    guard: Statement<never, Parameters>,
    parameters: Parameters,
    constraint: string,
  ): GuardedDatabase;
}

/** The database for one guarded unit of work. See `GuardingDatabase.guardedBy`. */
export interface GuardedDatabase extends Database {
  /** The guard has taken effect. */
  readonly isSettled: boolean;
  /** Sends the guard on its own, unless it has already taken effect. */
  settle(): Promise<void>;
}

/** The database of the running process, with functions for health checks, metrics and shutdown. */
export interface OpenDatabase extends GuardingDatabase {
  /** Rejects if the database does not respond within two seconds. Calls within one second share a result. */
  ping(): Promise<void>;
  /**
   * Returns how far the server's clock is ahead of the process clock, in ms. Logs `db.skew` beyond five seconds, unless
   * `isQuiet` is set.
   */
  skewMs(options?: { readonly isQuiet?: boolean }): Promise<number>;
  statistics(): DatabaseStatistics;
  /** Waits for running statements, then closes all connections. */
  close(): Promise<void>;
}

export interface DatabaseStatistics {
  readonly open: number;
  /** Connections with statements in progress, or reserved by a transaction. */
  readonly busy: number;
  /** Callers waiting for a connection. */
  readonly waiting: number;
}
