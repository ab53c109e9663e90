/**
 * Writes the clients and sign-in providers of the configuration to the database, atomically: on startup, on reload and
 * by `config sync`.
 */
import type { Config } from '#config/config.ts';
import {
  type ClientSync,
  type ClientSyncDeps,
  type ClientSyncOptions,
  syncStaticClients,
} from '#domain/clients/sync-static-clients.ts';
import { type ProviderSyncAction, syncUpstreamProviders } from '#domain/upstream/sync-providers.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';

export interface ConfigurationSyncDeps extends ClientSyncDeps {
  readonly database: Database;
  readonly log: Log;
}

export interface ConfigurationSync {
  readonly clients: ClientSync;
  readonly providers: readonly ProviderSyncAction[];
}

export interface ConfigurationSyncOptions extends ClientSyncOptions {
  /** Records what was changed, in the transaction of the changes. */
  readonly record?: (transaction: Transaction, done: ConfigurationSync) => Promise<void>;
}

const KEEPING: ConfigurationSyncOptions = { prunes: false, isDryRun: false };

/** If the database is up to date, an instance makes two queries and opens no transaction. */
export async function syncConfiguration(
  deps: ConfigurationSyncDeps,
  { clients, upstreamOauth2 }: Pick<Config, 'clients' | 'upstreamOauth2'>,
  options = KEEPING,
): Promise<ConfigurationSync> {
  const { database, log } = deps;
  const sync = async (within: Database | Transaction, isDryRun: boolean): Promise<ConfigurationSync> => ({
    clients: await syncStaticClients({ ...deps, database: within }, clients, { ...options, isDryRun }),
    providers: await syncUpstreamProviders({ ...deps, database: within }, upstreamOauth2.providers, {
      ...options,
      isDryRun,
    }),
  });
  const due = await sync(database, true);
  const isDue = due.clients.actions.length > 0 || due.providers.length > 0;
  if (options.isDryRun) return due;
  const change = async (within: Transaction): Promise<ConfigurationSync> => {
    const changed = await sync(within, false);
    await options.record?.(within, changed);
    return changed;
  };
  const done = isDue ? await database.transaction(change, { isRepeatable: true }) : due;
  tell(done, log);
  return done;
}

function tell({ clients: { actions, unlisted }, providers }: ConfigurationSync, log: Log): void {
  if (actions.length > 0) {
    const count = (wanted: string): number => actions.filter(({ action }) => action === wanted).length;
    log.info('config.sync', 'static clients synced', {
      added: count('add'),
      updated: count('update'),
      deleted: count('delete'),
    });
  }
  if (unlisted > 0)
    log.warn('config.sync', 'static clients removed from the configuration remain usable', { clients: unlisted });
  if (providers.length > 0) log.info('config.sync', 'sign-in providers synced', { changed: providers.length });
}
