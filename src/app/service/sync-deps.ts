import type { ConfigurationSyncDeps } from '#app/sync-configuration.ts';
import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { systemClock } from '#platform/base/clock.ts';
import type { Foundation } from './foundation.ts';

/** Dependencies for syncing the database with the configuration. */
export function syncDeps({ config, database, keyRing, openLog }: Foundation): ConfigurationSyncDeps {
  return {
    database,
    keyRing,
    clock: systemClock,
    log: openLog.log,
    cancelGrantsOutsideRedirectUris,
    findOrCreateGroups,
    ...clientSessionEnder({ isConnected: config.homeserver.kind !== 'none' }),
  };
}
