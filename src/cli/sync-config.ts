/** `latchkey config sync`: what `serve` does at its start with the clients of the configuration, and the rest of it. */
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import { type ClientSyncAction, type ClientSyncDeps, syncStaticClients } from '#domain/clients/sync-static-clients.ts';
import { endGrantsAndSessionsOfClient } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { systemClock } from '#platform/base/clock.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { type Foundation, openFoundation } from './foundation.ts';

export function clientSyncDeps({ database, keyRing, openLog }: Foundation): ClientSyncDeps {
  return {
    database,
    keyRing,
    clock: systemClock,
    log: openLog.log,
    cancelGrantsOutsideRedirectUris,
    endGrantsAndSessionsOfClient,
  };
}

export interface SyncConfigOptions {
  /** Clients that the configuration no longer names are deleted. */
  readonly prune: boolean;
  /** Changes nothing, migrates nothing. */
  readonly dryRun: boolean;
}

/**
 * Brings the database in line with the configuration and prints one line for each change.
 * @throws ExitError 1 when migrations are pending and nothing may be changed
 */
export async function syncConfig(
  options: ConfigurationOptions,
  { prune, dryRun }: SyncConfigOptions,
  io: CommandIo,
): Promise<void> {
  const foundation = await openFoundation({ ...options, isQuiet: true }, io, {
    shouldMigrate: !dryRun,
    needsSigningKeys: false,
  });
  try {
    const sync = syncStaticClients(clientSyncDeps(foundation), foundation.config.clients, {
      prunes: prune,
      isDryRun: dryRun,
    });
    const { actions, unlisted } = await io.signals.race(sync);
    if (options.isJson) {
      const listed = actions.map(({ action, ...rest }) => ({ action, kind: 'client', ...rest }));
      io.stdout(`${JSON.stringify({ dry_run: dryRun, actions: listed, unlisted_clients: unlisted })}\n`);
    } else {
      io.stdout(linesOf(actions));
    }
  } finally {
    await foundation.close();
  }
}

function linesOf(actions: readonly ClientSyncAction[]): string {
  if (actions.length === 0) return 'nothing to change\n';
  return actions.map(({ action, id }) => `${action} client ${id}\n`).join('');
}
