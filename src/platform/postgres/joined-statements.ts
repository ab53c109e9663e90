import type { Task } from '#platform/base/tasks.ts';
import { type Connection, chargeResponse } from './connection.ts';
import { ConnectionLost, toCallersError, tooLate } from './failures.ts';
import type { ConnectionPool } from './pools.ts';
import type { Command, Completed } from './query.ts';
import type { AnyStatement } from './statement.ts';

/** A statement that a caller waits for. */
export interface Requested {
  readonly statement: AnyStatement;
  readonly command: Command;
  readonly task: Task | undefined;
  readonly resolve: (completed: Completed) => void;
  readonly reject: (error: unknown) => void;
}

interface JoinedStatementsOptions {
  readonly pool: ConnectionPool;
  readonly toCommand: (statement: AnyStatement, parameters: object) => Command;
  /** Sent in one group with each statement. */
  readonly before: readonly Command[];
  /** Replaces what the failure shows to be out of date. */
  readonly renew: (failure: unknown, connection: Connection) => void;
  /** Sends a single statement. Calls `answered` before its caller continues. */
  readonly sendAlone: (requested: Requested, responded?: () => void) => void;
}

/** Larger batches save nothing more and delay the first answer. */
const MAX_JOINED = 64;
/**
 * Statements of one kind in flight. More look-ups at a time would leave in smaller batches, which cost more. A write
 * waits for its commit, so the server executes one while another waits.
 */
const MAX_LOOKUPS_IN_FLIGHT = 1;
const MAX_WRITES_IN_FLIGHT = 2;
/** After this time, statements in flight no longer delay others, which then use another connection. */
const PATIENCE_MS = 2;

/**
 * Joins statements of one kind. The first ones are sent immediately; further ones wait for the next answer and then
 * leave as one statement. If a joined statement fails, its parts are repeated one by one, so that the parameters of one caller
 * cannot harm another.
 */
export class JoinedStatements {
  readonly #options: JoinedStatementsOptions;
  readonly #kinds = new Map<AnyStatement, Kind>();

  constructor(options: JoinedStatementsOptions) {
    this.#options = options;
  }

  /** @param joined its `statement.joined` */
  send(requested: Requested, joined: AnyStatement): void {
    let kind = this.#kinds.get(joined);
    if (kind === undefined) {
      kind = new Kind(joined, this.#options);
      this.#kinds.set(joined, kind);
    }
    kind.send(requested);
  }
}

/** The statements of one kind. */
class Kind {
  readonly #joined: AnyStatement;
  readonly #options: JoinedStatementsOptions;
  readonly #maxInFlight: number;
  #waiting: Requested[] = [];
  #inFlight = 0;
  #lastSentAt = 0;
  #patience: NodeJS.Timeout | undefined;

  constructor(joined: AnyStatement, options: JoinedStatementsOptions) {
    this.#joined = joined;
    this.#options = options;
    this.#maxInFlight = joined.isReadOnly ? MAX_LOOKUPS_IN_FLIGHT : MAX_WRITES_IN_FLIGHT;
  }

  send(requested: Requested): void {
    this.#waiting.push(requested);
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    const now = performance.now();
    if (this.#inFlight >= this.#maxInFlight && now - this.#lastSentAt < PATIENCE_MS) {
      this.#patience ??= setTimeout(() => {
        this.#patience = undefined;
        if (this.#waiting.length > 0) this.#sendWaiting();
      }, PATIENCE_MS);
      return;
    }
    const batch = this.#waiting.length > MAX_JOINED ? this.#waiting.splice(0, MAX_JOINED) : this.#waiting;
    if (batch === this.#waiting) this.#waiting = [];
    this.#inFlight += 1;
    this.#lastSentAt = now;
    const [first] = batch;
    if (first !== undefined && batch.length === 1) this.#options.sendAlone(first, this.#answered);
    else this.#sendJoined(batch);
  }

  readonly #answered = (): void => {
    this.#inFlight -= 1;
    if (this.#waiting.length > 0) this.#sendWaiting();
  };

  #sendJoined(batch: readonly Requested[]): void {
    const { pool, before, renew, toCommand } = this.#options;
    pool.take(
      (connection) => {
        const requested = batch.filter(isStillWanted);
        if (requested.length === 0) {
          pool.giveBack(connection);
          this.#answered();
          return;
        }
        const sentAt = performance.now();
        for (const { task } of requested) if (task !== undefined) task.queries += 1;
        connection.send(
          toCommand(this.#joined, joinParameters(requested)),
          undefined,
          (failure, completed) => {
            pool.giveBack(connection);
            if (completed === undefined) renew(failure, connection);
            this.#answered();
            if (completed === undefined) this.#failed(requested, sentAt, failure);
            else this.#completed(requested, sentAt, completed);
          },
          before,
        );
      },
      (error) => {
        this.#answered();
        for (const { reject } of batch) reject(error);
      },
    );
  }

  #failed(batch: readonly Requested[], sentAt: number, failure: unknown): void {
    for (const requested of batch) {
      chargeResponse(requested.task, requested.statement.label, sentAt, failure, undefined);
      // Whether a write took effect is unknown.
      if (failure instanceof ConnectionLost && !requested.statement.isReadOnly)
        requested.reject(toCallersError(failure));
      else this.#options.sendAlone(requested);
    }
  }

  #completed(batch: readonly Requested[], sentAt: number, { command, rows }: Completed): void {
    const found: Completed['rows'][] = batch.map(() => []);
    for (const row of rows) found[row.place - 1]?.push(row);
    for (const [index, requested] of batch.entries()) {
      const own = found[index] ?? [];
      chargeResponse(requested.task, requested.statement.label, sentAt, undefined, own.length);
      if (own[0]?.is_incomplete === true) this.#options.sendAlone(requested);
      else requested.resolve({ command, rowCount: own.length, rows: own });
    }
  }
}

function isStillWanted({ task, reject }: Requested): boolean {
  if (task?.isOver !== true) return true;
  reject(tooLate());
  return false;
}

/** Each parameter as an array of the values of all. */
function joinParameters(batch: readonly Requested[]): object {
  const names = batch[0]?.statement.parameterNames ?? [];
  return Object.fromEntries(names.map((name, index) => [name, batch.map(({ command }) => command.params[index])]));
}
