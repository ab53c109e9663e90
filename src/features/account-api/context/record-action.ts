/** Actions of administrators on other accounts, as events (administration A-20). */
import type { Administrator } from '#domain/audit/administrator.ts';
import {
  type AdminAction,
  type RecordAction,
  recordAdminAction,
  recordedChange,
} from '#domain/audit/record-admin-action.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { AccountContext } from './account-context.ts';
import { actsAsAdministrator } from './actor.ts';

/** Returns a function that records what this administrator does. Call it in the transaction of the change. */
export function recordAs(
  { clientId, userId }: Administrator,
  { core, request }: AccountContext,
  action: AdminAction,
): RecordAction {
  const { clientAddress: address, userAgent, task } = request;
  const source = { actor: 'admin', userId, clientId, requestId: task.id, address, userAgent } as const;
  return async (transaction) => await recordAdminAction(transaction, source, action, core.clock.now());
}

/** Does the same for mutations that users may call as well. Returns undefined if users change their own account. */
export function recordIfAdministrator(context: AccountContext, action: AdminAction): RecordAction | undefined {
  const { caller } = context;
  if (caller.kind !== 'oauth' || !actsAsAdministrator(caller, action.target?.userId)) return undefined;
  return recordAs({ clientId: caller.clientId, userId: caller.user?.id }, context, action);
}

/** Runs a change, in a transaction with its record if there is one. */
export async function withRecord<T>(
  database: Database,
  record: RecordAction | undefined,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  if (record === undefined) return await work(database);
  return await recordedChange(database, record, (_, joined) => work(joined));
}
