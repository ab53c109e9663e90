import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface ProviderSyncDeps {
  readonly database: Queryable;
  readonly clock: Clock;
}

export interface ProviderSyncAction {
  readonly action: 'add' | 'update' | 'enable' | 'disable' | 'delete';
  readonly id: UpstreamProviderId;
}

/**
 * Writes the configured providers to the database. Providers that are no longer configured are disabled, because links
 * of accounts refer to them. With `prunes` they are deleted together with these links. If the database is up to date,
 * this runs only one query.
 */
export async function syncUpstreamProviders(
  { database, clock }: ProviderSyncDeps,
  providers: readonly UpstreamProvider[],
  { prunes, isDryRun }: { readonly prunes: boolean; readonly isDryRun: boolean } = { prunes: false, isDryRun: false },
): Promise<readonly ProviderSyncAction[]> {
  const wanted = providers.map(wantedProvider);
  const actions = actionsFor(
    wanted,
    await database.rows(storedProviders, { configuredIds: wanted.map(({ id }) => id), prunes }),
    prunes,
  );
  if (actions.length > 0 && !isDryRun)
    await database.execute(storeProviders, { providers: JSON.stringify(wanted), prunes, now: new Date(clock.now()) });
  return actions;
}

interface WantedProvider {
  readonly id: string;
  readonly issuer: string | null;
  readonly human_name: string | null;
  readonly client_id: string;
  readonly ui_order: number;
  readonly is_enabled: boolean;
}

function wantedProvider(provider: UpstreamProvider, index: number): WantedProvider {
  return {
    id: toUuid(provider.id),
    issuer: provider.issuer ?? null,
    human_name: provider.humanName ?? null,
    client_id: provider.clientId,
    ui_order: index,
    is_enabled: provider.isEnabled,
  };
}

function actionsFor(
  wanted: readonly WantedProvider[],
  stored: readonly WantedProvider[],
  prunes: boolean,
): ProviderSyncAction[] {
  const rows = new Map(stored.map((row) => [row.id, row]));
  const names = new Set(wanted.map(({ id }) => id));
  const changed = wanted.flatMap((provider): ProviderSyncAction[] => {
    const id = fromUuid<'upstream-provider'>(provider.id);
    const row = rows.get(provider.id);
    if (row === undefined) return [{ action: 'add', id }];
    const isUpdated = !isSame(provider, row);
    const isSwitched = provider.is_enabled !== row.is_enabled;
    return [
      ...(isUpdated ? [{ action: 'update', id } as const] : []),
      ...(isSwitched ? [{ action: provider.is_enabled ? 'enable' : 'disable', id } as const] : []),
    ];
  });
  const gone = stored.filter((row) => (prunes || row.is_enabled) && !names.has(row.id));
  const action = prunes ? 'delete' : 'disable';
  return [...changed, ...gone.map(({ id }) => ({ action, id: fromUuid<'upstream-provider'>(id) }) as const)];
}

function isSame(one: WantedProvider, other: WantedProvider): boolean {
  return (
    one.issuer === other.issuer &&
    one.human_name === other.human_name &&
    one.client_id === other.client_id &&
    one.ui_order === other.ui_order
  );
}

/**
 * Returns the enabled and the configured providers. When the others are to be deleted, returns all of them, since there
 * are few.
 */
const storedProviders = statement<
  WantedProvider,
  { readonly configuredIds: readonly string[]; readonly prunes: boolean }
>(
  'upstream-providers',
  `select p.id, p.issuer, p.human_name, p.client_id, p.ui_order, ${providerIsEnabled('p')} as is_enabled
     from upstream_providers p
    where ${providerIsEnabled('p')} or p.id = any(:configuredIds::uuid[]) or :prunes::boolean`,
);

// Instances that start concurrently write the same rows in the same order, so that they cannot deadlock.
const storeProviders = statement<never, { readonly providers: string; readonly prunes: boolean; readonly now: Date }>(
  'store-upstream-providers',
  `with wanted as (
    select w.id, w.issuer, w.human_name, w.client_id, w.ui_order,
           case when not w.is_enabled then :now::timestamptz end as disabled_at
      from jsonb_to_recordset(:providers::jsonb) as w
        (id uuid, issuer text, human_name text, client_id text, ui_order integer, is_enabled boolean)
  ), disabled as (
    update upstream_providers p set disabled_at = :now::timestamptz
     where ${providerIsEnabled('p')} and p.id not in (select wanted.id from wanted) and not :prunes::boolean
  ), deleted as (
    delete from upstream_providers p where p.id not in (select wanted.id from wanted) and :prunes::boolean
  )
  insert into upstream_providers as p (id, issuer, human_name, client_id, ui_order, created_at, disabled_at)
  select wanted.id, wanted.issuer, wanted.human_name, wanted.client_id, wanted.ui_order, :now::timestamptz,
         wanted.disabled_at
    from wanted order by wanted.id
  on conflict (id) do update
     set issuer = excluded.issuer, human_name = excluded.human_name, client_id = excluded.client_id,
         ui_order = excluded.ui_order, disabled_at = excluded.disabled_at`,
);
