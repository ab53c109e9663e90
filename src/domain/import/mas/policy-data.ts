import type { ImportSource } from '../source.ts';
import type { MasStep } from './mas-import.ts';

export interface SourcePolicyData {
  readonly id: string;
  readonly data: unknown;
  readonly created_at: Date;
}

/** Returns the policy data in force at MAS: the newest. */
export async function newestPolicyData(source: ImportSource): Promise<SourcePolicyData | undefined> {
  const [row] = await source.rows<SourcePolicyData>(
    'select policy_data_id as id, data, created_at from policy_data order by policy_data_id desc limit 1',
  );
  return row;
}

export const policyDataStep: MasStep = {
  entity: 'policy data',
  tables: [],
  run: async ({ source, target, isPolicyData }) => {
    const row = await newestPolicyData(source);
    if (row === undefined) return { done: 0, skipped: {} };
    if (!isPolicyData(row.data)) return { done: 0, skipped: { invalid: 1 } };
    const done = await target.execute(
      `insert into policy_data (id, data, created_at) values ($1::uuid, $2::jsonb, $3::timestamptz)
       on conflict (id) do nothing`,
      [row.id, JSON.stringify(row.data), row.created_at],
    );
    return { done, skipped: {} };
  },
};
