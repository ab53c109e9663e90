import { currentTask } from '#platform/base/tasks.ts';
import type { Command } from './command.ts';
import type { Connection } from './connection.ts';
import type { ConnectionSource } from './connection-source.ts';
import { ConnectionLost, isConflict, isLockTimeout, isStalePlan, isUnknownName, toCallersError } from './failures.ts';
import type { Completed } from './prepared-query.ts';
import { settleFor } from './settle-for.ts';
import type { AnyStatement } from './statement.ts';

export interface SingleStatementOptions {
  readonly source: ConnectionSource;
  /** Sent in one group with each statement (see `localSettings`). */
  readonly before: readonly Command[];
  readonly toCommand: (statement: AnyStatement, parameters: object) => Command;
  /** Called when the schema changed under the prepared statements. */
  readonly renewConnections: () => void;
}

/** Repetitions of a statement that the server ended for a deadlock or a lock, and of a read that lost its connection. */
const MAX_REPETITIONS = 3;

/**
 * Sends statements that are each their own transaction, and repeats what is safe to repeat: anything that the server
 * says it did not do, and reads whose connection was lost.
 */
export class SingleStatements {
  readonly #options: SingleStatementOptions;

  constructor(options: SingleStatementOptions) {
    this.#options = options;
  }

  send(statement: AnyStatement, parameters: object): Promise<Completed> {
    const { source, before } = this.#options;
    const task = currentTask();
    const command = this.#options.toCommand(statement, parameters);
    let repetitions = 0;
    return settleFor(task, (resolve, reject) => {
      const attempt = (connection: Connection): void => {
        connection.send(
          command,
          task,
          (failure, completed) => {
            source.giveBack(connection);
            if (completed !== undefined) resolve(completed);
            else if (this.#mayRepeat(statement, failure, repetitions, connection)) {
              repetitions += 1;
              // A server that ends one connection may have ended all: a turn of the event loop lets the others be seen.
              if (failure instanceof ConnectionLost) setImmediate(() => source.take(attempt, reject));
              else source.take(attempt, reject);
            } else reject(toCallersError(failure));
          },
          before,
        );
      };
      source.take(attempt, reject);
    });
  }

  #mayRepeat(statement: AnyStatement, failure: unknown, repetitions: number, connection: Connection): boolean {
    if (isConflict(failure) || isLockTimeout(failure)) return repetitions < MAX_REPETITIONS;
    if (failure instanceof ConnectionLost) return statement.isReadOnly && repetitions < MAX_REPETITIONS;
    if (repetitions > 0) return false;
    if (isStalePlan(failure)) this.#options.renewConnections();
    else if (isUnknownName(failure)) connection.retire();
    else return false;
    return true;
  }
}
