import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';

const byIds = statement<{ id: string; created_at: number }, { readonly ids: readonly string[] }>(
  'find-upstream-providers',
  `select p.id, ${ms('p.created_at')} as created_at from upstream_providers p
    where p.id = any(:ids::uuid[]) and ${providerIsEnabled('p')}`,
);

/**
 * Returns when providers were added, in the same order, in milliseconds since the epoch. All else about them is in the
 * configuration. Undefined if the provider is disabled.
 */
export async function findProviderTimes(
  queryable: Queryable,
  ids: readonly UpstreamProviderId[],
): Promise<(number | undefined)[]> {
  const rows = await queryable.rows(byIds, { ids: ids.map(toUuid) });
  const found = new Map(rows.map((row) => [fromUuid<'upstream-provider'>(row.id), row.created_at]));
  return ids.map((id) => found.get(id));
}
