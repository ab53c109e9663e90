import { currentTask } from '#platform/base/tasks.ts';
import { type Connection, settleInTask } from './connection.ts';
import {
  ConnectionLost,
  isConflict,
  isLockTimeout,
  isReadOnlyServer,
  isStalePlan,
  isUnknownName,
  toCallersError,
  tooLate,
} from './failures.ts';
import type { Guard } from './guarded-statements.ts';
import { JoinedStatements, type Requested } from './joined-statements.ts';
import type { ConnectionPool } from './pools.ts';
import type { Command, Completed } from './query.ts';
import type { AnyStatement } from './statement.ts';

export interface SingleStatementOptions {
  readonly pool: ConnectionPool;
  /** Sent in one group with each statement (`localSettings`). */
  readonly before: readonly Command[];
  readonly toCommand: (statement: AnyStatement, parameters: object) => Command;
  /** Called when the schema changed under the prepared statements. */
  readonly renewConnections: () => void;
  /** Called when the server takes no writes (any more). */
  readonly leaveServer: () => void;
}

/** Retries of a statement that the server ended for a deadlock or a lock, and of a read that lost its connection. */
const MAX_RETRIES = 3;

/**
 * Sends statements that are each their own transaction, and retries what is safe to retry: statements that the server
 * says it did not execute, and reads whose connection was lost.
 */
export class SingleStatements {
  readonly #options: SingleStatementOptions;
  readonly #joined: JoinedStatements;

  constructor(options: SingleStatementOptions) {
    this.#options = options;
    this.#joined = new JoinedStatements({
      ...options,
      renew: (failure, connection) => this.#renew(failure, connection),
      sendAlone: (requested, responded) => this.#sendAlone(requested, undefined, responded),
    });
  }

  /** @param guard sent in one group before the statement, which is not executed when it fails */
  send(statement: AnyStatement, parameters: object, guard?: Guard): Promise<Completed> {
    const task = currentTask();
    return settleInTask(task, (resolve, reject) => {
      const command = this.#options.toCommand(statement, parameters);
      const requested: Requested = { statement, command, task, resolve, reject };
      if (statement.joined === undefined || guard !== undefined) this.#sendAlone(requested, guard);
      else this.#joined.send(requested, statement.joined);
    });
  }

  /** @param answered called before the caller goes on */
  #sendAlone({ statement, command, task, resolve, reject }: Requested, guard?: Guard, responded?: () => void): void {
    const { pool, before, toCommand } = this.#options;
    const guardCommand = guard === undefined ? undefined : toCommand(guard.statement, guard.parameters);
    const mayRepeat = statement.isReadOnly && guard === undefined;
    let retries = 0;
    const refuse = (error: unknown): void => {
      responded?.();
      reject(error);
    };
    const attempt = (connection: Connection): void => {
      if (task?.isOver === true) {
        pool.giveBack(connection);
        refuse(tooLate());
        return;
      }
      connection.send(
        command,
        task,
        (failure, completed) => {
          pool.giveBack(connection);
          if (completed !== undefined) {
            responded?.();
            resolve(completed);
          } else if (this.#mayRetry(mayRepeat, failure, retries, connection)) {
            retries += 1;
            // A server that ends one connection may have ended all: the next turn of the event loop shows which.
            if (failure instanceof ConnectionLost) setImmediate(() => pool.take(attempt, refuse));
            else pool.take(attempt, refuse);
          } else refuse(toCallersError(failure));
        },
        before,
        guardCommand,
      );
    };
    pool.take(attempt, refuse);
  }

  #mayRetry(mayRepeat: boolean, failure: unknown, retries: number, connection: Connection): boolean {
    if (isConflict(failure) || isLockTimeout(failure)) return retries < MAX_RETRIES;
    if (failure instanceof ConnectionLost) return mayRepeat && retries < MAX_RETRIES;
    return this.#renew(failure, connection) && retries === 0;
  }

  /**
   * Replaces what the failure shows to be out of date: the server or connections.
   * @returns whether the statement may succeed with the replacement
   */
  #renew(failure: unknown, connection: Connection): boolean {
    if (isReadOnlyServer(failure)) this.#options.leaveServer();
    else if (isStalePlan(failure)) this.#options.renewConnections();
    else if (isUnknownName(failure)) connection.retire();
    else return false;
    return true;
  }
}
