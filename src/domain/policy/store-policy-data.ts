import { fromUuid, newId, timeOfId, toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';

export type PolicyDataId = Ulid<'policy-data'>;

/** Serializes writers, so that IDs have the order of activation. */
const lockPolicyData = statement<never, NoParameters>(
  'lock-policy-data',
  `select pg_advisory_xact_lock(hashtextextended('latchkey:policy-data', 0)) is null as locked`,
);

const findLatestId = statement<{ id: string }, NoParameters>(
  'latest-policy-data-id',
  'select id from policy_data order by id desc limit 1',
);

const insertPolicyData = statement<never, { readonly id: string; readonly data: string; readonly now: Date }>(
  'insert-policy-data',
  `insert into policy_data (id, data, created_at) values (:id::uuid, :data::jsonb, :now::timestamptz)`,
);

/** The table has at most eleven rows, so this needs no index. */
const deleteOldPolicyData = statement<never, NoParameters>(
  'delete-old-policy-data',
  'delete from policy_data where id not in (select id from policy_data order by id desc limit 10)',
);

/**
 * Stores data, which thereby takes effect. Keeps the last ten rows.
 * @param data accepted by `LivePolicy.judge`
 */
export async function storePolicyData(database: Database, data: object, now: number): Promise<PolicyDataId> {
  const store = async (transaction: Transaction): Promise<PolicyDataId> => {
    await transaction.execute(lockPolicyData, {});
    const latest = await transaction.first(findLatestId, {});
    // Sorts after the latest row even if the clock of another instance is ahead.
    const after = latest === undefined ? now : Math.max(now, timeOfId(fromUuid(latest.id)) + 1);
    const id = newId<'policy-data'>(after);
    await transaction.execute(insertPolicyData, { id: toUuid(id), data: JSON.stringify(data), now: new Date(now) });
    await transaction.execute(deleteOldPolicyData, {});
    return id;
  };
  return await database.transaction(store, { isRepeatable: true });
}
