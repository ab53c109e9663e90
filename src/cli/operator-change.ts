import {
  type AdminAction,
  OPERATOR,
  type RecordAction,
  recordAdminAction,
  recordedChange,
} from '#domain/audit/record-admin-action.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Database, Queryable, Transaction } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Runs a change of a command in one transaction with its event. Throw to roll back.
 * @param action of the event; a function if it depends on the result. Undefined: nothing was changed
 */
export async function operatorChange<T>(
  { database, clock }: Deps,
  action: AdminAction | ((done: T) => AdminAction | undefined),
  work: (transaction: Transaction, joined: Database) => Promise<T>,
): Promise<T> {
  const record = async (transaction: Queryable, done: T): Promise<void> => {
    const made = typeof action === 'function' ? action(done) : action;
    if (made !== undefined) await recordAdminAction(transaction, OPERATOR, made, clock.now());
  };
  return await recordedChange(database, record, work);
}

/** Returns a function that records an action of a command. Call it in the transaction of the change. */
export function recordOfOperator({ clock }: Pick<Deps, 'clock'>, action: AdminAction): RecordAction {
  return async (transaction) => await recordAdminAction(transaction, OPERATOR, action, clock.now());
}

/** Returns the action of a command that changes an account. */
export function accountAction(operation: string, user: UserId, changed?: readonly string[]): AdminAction {
  return { operation, target: { type: 'user', id: user, userId: user }, changed };
}
