/**
 * `latchkey config sync`: syncs the clients and providers of the configuration like the start of `serve`, and
 * optionally prunes others.
 */

import { openFoundation } from '#app/service/foundation.ts';
import { syncDeps } from '#app/service/sync-deps.ts';
import { type ConfigurationSync, syncConfiguration } from '#app/sync-configuration.ts';
import { type AdminAction, OPERATOR, recordAdminAction } from '#domain/audit/record-admin-action.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

export interface SyncConfigOptions {
  /** Delete clients and sign-in providers that are no longer in the configuration. */
  readonly prune: boolean;
  /** Change and migrate nothing. */
  readonly dryRun: boolean;
}

/**
 * Syncs the database with the configuration and prints one line for each change.
 * @throws ExitError 1 if migrations are pending in a dry run
 */
export async function syncConfig(
  options: CommandOptions,
  { prune, dryRun }: SyncConfigOptions,
  io: CommandIo,
): Promise<void> {
  const foundation = await openFoundation({ ...options, isQuiet: true }, io, {
    shouldMigrate: !dryRun,
    needsSigningKeys: false,
  });
  try {
    const deps = syncDeps(foundation);
    const record = async (transaction: Transaction, done: ConfigurationSync): Promise<void> => {
      for (const action of actionsOf(done)) await recordAdminAction(transaction, OPERATOR, action, deps.clock.now());
    };
    const sync = syncConfiguration(deps, foundation.config, { prunes: prune, isDryRun: dryRun, record });
    const {
      clients: { actions, unlisted },
      providers,
    } = await io.signals.race(sync);
    const listed = [
      ...actions.map(({ action, ...rest }) => ({ action, kind: 'client', ...rest })),
      ...providers.map(({ action, id }) => ({ action, kind: 'upstream_provider', id })),
    ];
    if (options.isJson) {
      io.stdout(`${JSON.stringify({ dry_run: dryRun, actions: listed, unlisted_clients: unlisted })}\n`);
    } else {
      io.stdout(linesOf(listed));
    }
  } finally {
    await foundation.close();
  }
}

/** Returns the actions to record, one for each client and provider. */
function actionsOf({ clients, providers }: ConfigurationSync): readonly AdminAction[] {
  const operation = 'config sync';
  return [
    ...clients.actions.map((done) => ({
      ...{ operation, target: { type: 'oauth2-client', id: done.id } },
      changed: done.action === 'update' ? done.changes : undefined,
    })),
    ...providers.map(({ id }) => ({ operation, target: { type: 'upstream-oauth-provider', id } })),
  ];
}

function linesOf(actions: readonly { readonly action: string; readonly kind: string; readonly id: string }[]): string {
  if (actions.length === 0) return 'no changes\n';
  return actions.map(({ action, kind, id }) => `${action} ${kind.replace('_', ' ')} ${id}\n`).join('');
}
