import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';
import type { ProviderTimes } from './provider-errors.ts';

const byIds = statement<ProviderTimes & { id: string }, { readonly ids: readonly string[] }>(
  'find-upstream-provider-states',
  `select p.id, ${ms('p.metadata_fetched_at')} as metadata_fetched_at, ${ms('p.keys_fetched_at')} as keys_fetched_at,
          ${ms('p.last_success_at')} as last_success_at, p.last_error, ${ms('p.last_error_at')} as last_error_at
     from upstream_providers p where p.id = any(:ids::uuid[])`,
);

/** Returns when providers last worked and failed, by ID. */
export async function findProviderStates(
  queryable: Queryable,
  ids: readonly UpstreamProviderId[],
): Promise<ReadonlyMap<UpstreamProviderId, ProviderTimes>> {
  const rows = await queryable.rows(byIds, { ids: ids.map(toUuid) });
  return new Map(rows.map((row) => [fromUuid<'upstream-provider'>(row.id), row]));
}
