/**
 * Changes by administrators and operators, as events of kind `admin_action` (administration A-20). They contain the
 * administrator's address, so no user sees them: the target's own event is a separate one.
 */
import type { Ulid } from '#platform/base/ids.ts';
import type { Database, Queryable, Transaction } from '#platform/postgres/database.ts';
import { joinedDatabase } from '#platform/postgres/joined-database.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import { recordAuditEvent } from './audit-event.ts';

export interface AdminAction {
  /** `operationId` of the admin API, name of the GraphQL mutation, or name of the command. */
  readonly operation: string;
  /** The changed record; undefined if the change concerns no single record. */
  readonly target: ActionTarget | undefined;
  /** Names of the changed members, without values. */
  readonly changed?: readonly string[] | undefined;
}

export interface ActionTarget {
  /** Kind of record: the `type` of its document in the admin API. */
  readonly type: string;
  readonly id: Ulid;
  /** The account that the record belongs to. */
  readonly userId?: UserId | undefined;
}

/** Who made a change, and from where. */
export type ActionSource =
  | {
      readonly actor: 'admin';
      /** Undefined if a client acts for itself. */
      readonly userId: UserId | undefined;
      /** Undefined for a personal token, which belongs to a user. */
      readonly clientId: ClientId | undefined;
      readonly requestId: string;
      readonly address: string | undefined;
      readonly userAgent: string | undefined;
    }
  /** An operator at the command line, who is not known by name. */
  | { readonly actor: 'operator' };

export const OPERATOR: ActionSource = { actor: 'operator' };

/**
 * Records an action in the transaction of its change. For operations that also do something outside their transaction,
 * such as a call to the homeserver.
 */
export type RecordAction<Target = undefined> = (
  transaction: Queryable,
  ...target: Target extends undefined ? [] : [target: Target]
) => Promise<void>;

/** Inserts the event. Pass the transaction of the change, so that a change without its event cannot exist. */
export async function recordAdminAction(
  transaction: Queryable,
  source: ActionSource,
  { operation, target, changed }: AdminAction,
  now: number,
): Promise<void> {
  const from =
    source.actor === 'operator'
      ? { detail: { actor: source.actor } }
      : {
          clientId: source.clientId,
          address: source.address,
          userAgent: source.userAgent,
          detail: {
            actor: source.actor,
            ...(source.userId !== undefined && { admin: source.userId }),
            request: source.requestId,
          },
        };
  await recordAuditEvent(transaction, {
    ...from,
    kind: 'admin_action',
    at: now,
    userId: target?.userId,
    detail: {
      ...from.detail,
      operation,
      ...(target !== undefined && { target_type: target.type, target: target.id }),
      ...(changed !== undefined && { changed }),
    },
  });
}

/**
 * Runs a change and records it in the same transaction. Throw to roll back both.
 * @param record called after `work`, with its result
 * @param work receives the transaction, also as a database for operations that open a transaction themselves
 */
export async function recordedChange<T>(
  database: Database,
  record: (transaction: Queryable, done: T) => Promise<void>,
  work: (transaction: Transaction, joined: Database) => Promise<T>,
): Promise<T> {
  return await database.transaction(
    async (transaction) => {
      const done = await work(transaction, joinedDatabase(transaction));
      await record(transaction, done);
      return done;
    },
    { isRepeatable: true },
  );
}
