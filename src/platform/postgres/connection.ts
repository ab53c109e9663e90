import type { Client } from 'pg';
import { metrics } from '#platform/base/metrics.ts';
import type { CompletedSpan } from '#platform/base/spans.ts';
import { resumeTask, type Task } from '#platform/base/tasks.ts';
import { ConnectionLost, readFailure, StatementError } from './failures.ts';
import { type Command, type Completed, GroupedQuery, RowShapes, singleQuery } from './query.ts';

/** Called once, outside any stretch: callers continue through `resumeTask` (see `settleInTask`). */
export type Done = (failure: unknown, completed: Completed | undefined) => void;

export interface ConnectionEvents {
  /** The connection has ended; `reason` is undefined when we closed it. */
  ended(connection: Connection, reason: unknown): void;
  /** A statement took `elapsedMs`, not counting its wait for those before it on the connection. */
  slow(label: string, elapsedMs: number): void;
}

/** As long as a statement on a shared connection may wait for a lock. */
const SILENT_MS = 1_000;
/**
 * What a connection is sent at most, at its pace: with all of them enough for `limits.max_in_flight` while the server
 * hesitates for a moment, and answered within the patience of who asks while it is slow.
 */
const MAX_WORK_MS = 2_000;
/** What is left of the time of a slow statement with each quick one. */
const FADING = 0.8;

/**
 * One connection to the server. Statements are answered in the order they are sent; each is timed and charged to the
 * task that sent it.
 */
export class Connection {
  readonly openedAt = performance.now();
  /** Statements sent and not yet answered. */
  inFlight = 0;
  /** When the connection last began to work or returned an answer (`performance.now()`). */
  lastActiveAt = this.openedAt;
  /** Gets no new work; ends when everything sent is answered. */
  isRetired = false;
  isLost = false;
  /** Reserved by a transaction, also between its statements. */
  isLent = false;
  readonly #client: Client;
  readonly #events: ConnectionEvents;
  readonly #slowMs: number;
  readonly #shapes: RowShapes;
  #lostReason: unknown;
  #isClosing = false;
  /** How long a statement takes by now, without its wait for those before it. */
  #statementMs: number;

  /** @param statementMs how long it took for a statement so far */
  constructor(client: Client, events: ConnectionEvents, slowMs: number, statementMs: number) {
    this.#client = client;
    this.#events = events;
    this.#slowMs = slowMs;
    this.#statementMs = statementMs;
    this.#shapes = new RowShapes(client);
    client.on('error', (error) => this.#end(error));
    client.on('end', () => this.#end(new Error('the server closed the connection')));
  }

  /** Whether it may get new work. */
  get isUsable(): boolean {
    return !this.isRetired && !this.isLost;
  }

  /**
   * Whether what was sent will be answered late. More would wait for all of it, and be executed after those who asked
   * have given up.
   */
  get isCongested(): boolean {
    if (this.inFlight === 0) return false;
    return this.inFlight * this.#statementMs > MAX_WORK_MS || performance.now() - this.lastActiveAt > SILENT_MS;
  }

  /** Whether it is outside a transaction and every statement is answered. */
  get isClean(): boolean {
    return this.inFlight === 0 && this.#client.getTransactionStatus() === 'I';
  }

  /**
   * Sends a command, with the commands `before` and `guard` in the same synchronization group. Counts as one statement
   * of `task`.
   */
  send(
    command: Command,
    task: Task | undefined,
    done: Done,
    before: readonly Command[] = [],
    guard: Command | undefined = undefined,
  ): void {
    const sentAt = performance.now();
    if (this.inFlight === 0) this.lastActiveAt = sentAt;
    this.inFlight += 1;
    if (task !== undefined) task.queries += 1;
    let isDecided = false;
    const response = (error: unknown, completed: Completed | undefined): void => {
      // The driver reports a parameter that it cannot encode twice: at once, and when the server is ready again.
      if (isDecided) return;
      isDecided = true;
      const now = performance.now();
      const startedAt = Math.max(sentAt, this.lastActiveAt);
      this.lastActiveAt = now;
      // A slow one counts at once, for it may be the first of many, and is forgotten within some quick ones.
      this.#statementMs = Math.max(now - startedAt, this.#statementMs * FADING);
      this.inFlight -= 1;
      const failure =
        error === null || error === undefined ? undefined : readFailure(command.label, error, this.#lostReason);
      chargeResponse(task, command.label, sentAt, failure, completed?.rows.length);
      metrics?.observe('db_query_duration_seconds', { name: command.label }, (now - startedAt) / 1000);
      if (now - startedAt > this.#slowMs) {
        resumeTask(task, () => this.#events.slow(command.label, now - startedAt));
      }
      if (failure === undefined) done(undefined, completed);
      else {
        // The server's last message arrives before the connection ends; a retry must not use this connection.
        if (failure instanceof ConnectionLost) this.#end(error instanceof Error ? error : failure);
        done(failure, undefined);
      }
      this.#closeWhenRetired();
    };
    this.#client.query(
      before.length === 0
        ? singleQuery(command, guard, this.#shapes, response)
        : new GroupedQuery(guard === undefined ? before : [...before, guard], command, response),
    );
  }

  /** Sends no more work to it and closes it once it is idle. */
  retire(): void {
    this.isRetired = true;
    this.#closeWhenRetired();
  }

  /** Ends the reservation by a transaction. */
  endLoan(): void {
    this.isLent = false;
    this.#closeWhenRetired();
  }

  /** Closes it at once; statements without an answer fail with `ConnectionLost`. */
  destroy(reason: Error): void {
    this.#client.connection.stream.destroy(reason);
  }

  /** Closes it in the regular way; destroys it when that takes longer than five seconds. */
  async close(): Promise<void> {
    this.isRetired = true;
    this.#isClosing = true;
    const giveUp = setTimeout(() => this.#client.connection.stream.destroy(), 5_000);
    await this.#client.end();
    clearTimeout(giveUp);
  }

  #closeWhenRetired(): void {
    if (this.isRetired && this.inFlight === 0 && !this.isLent && !this.#isClosing) void this.close();
  }

  #end(reason: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.#lostReason = reason;
    this.#client.connection.stream.destroy();
    this.#events.ended(this, this.#isClosing ? undefined : reason);
  }
}

/** Adds an answered statement to what its task has cost. @param rowCount of the answer; undefined: it failed */
export function chargeResponse(
  task: Task | undefined,
  label: string,
  sentAt: number,
  failure: unknown,
  rowCount: number | undefined,
): void {
  if (task === undefined) return;
  task.dbMs += performance.now() - sentAt;
  task.fetched += rowCount ?? 0;
  task.trace?.record(statementSpan(label, sentAt, failure, rowCount));
}

/** Of an error only its code and kind: its text may quote what is stored. */
function statementSpan(
  label: string,
  startedAt: number,
  failure: unknown,
  rowCount: number | undefined,
): CompletedSpan {
  const attributes = {
    'db.system.name': 'postgresql',
    'db.query.summary': label,
    'db.response.returned_rows': rowCount,
    'db.response.status_code': failure instanceof StatementError ? failure.sqlState : undefined,
  };
  return {
    name: label,
    kind: 'client',
    startedAt,
    attributes,
    failure: failure instanceof Error ? failure.name : undefined,
  };
}

/**
 * A promise that `start` settles by a callback. A callback outside any stretch continues as a new stretch of `task`; one
 * that is called while `start` runs continues in the current stretch.
 */
export function settleInTask<T>(
  task: Task | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isStarting = true;
    start(
      (value) => (isStarting ? resolve(value) : resumeTask(task, () => resolve(value))),
      (error) => (isStarting ? reject(error) : resumeTask(task, () => reject(error))),
    );
    isStarting = false;
  });
}
