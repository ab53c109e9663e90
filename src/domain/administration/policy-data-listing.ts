import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

export interface PolicyDataRecord {
  readonly id: string;
  readonly data: unknown;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
}

export const policyDataRecords = new Listing<PolicyDataRecord, Record<never, never>>('admin-policy-data', {
  columns: { id: 'd.id', data: 'd.data', created_at: ms('d.created_at') },
  from: 'policy_data d',
  filters: {},
});
