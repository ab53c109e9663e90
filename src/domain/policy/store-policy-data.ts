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

/** The versions that a change is based on, one of which must be the latest. Empty: there must be none yet. */
export type ExpectedVersions = readonly PolicyDataId[];

export type StoredPolicyData =
  | { readonly ok: true; readonly id: PolicyDataId }
  /** Somebody else has stored data since. */
  | { readonly ok: false; readonly latest: PolicyDataId | undefined };

/**
 * Stores data, which thereby takes effect. Keeps the last ten rows.
 * @param data accepted by `LivePolicy.judge`
 * @param expected undefined: the last change wins
 */
export async function storePolicyData(
  database: Database,
  data: object,
  now: number,
  expected?: ExpectedVersions,
): Promise<StoredPolicyData> {
  const store = async (transaction: Transaction): Promise<StoredPolicyData> => {
    // Held until the end of the transaction, so the version cannot change after the comparison.
    await transaction.execute(lockPolicyData, {});
    const row = await transaction.first(findLatestId, {});
    const latest = row && fromUuid<'policy-data'>(row.id);
    if (expected !== undefined && !isExpected(latest, expected)) return { ok: false, latest };
    // Sorts after the latest row even if the clock of another instance is ahead.
    const after = latest === undefined ? now : Math.max(now, timeOfId(latest) + 1);
    const id = newId<'policy-data'>(after);
    await transaction.execute(insertPolicyData, { id: toUuid(id), data: JSON.stringify(data), now: new Date(now) });
    await transaction.execute(deleteOldPolicyData, {});
    return { ok: true, id };
  };
  return await database.transaction(store, { isRepeatable: true });
}

function isExpected(latest: PolicyDataId | undefined, expected: ExpectedVersions): boolean {
  return latest === undefined ? expected.length === 0 : expected.includes(latest);
}
