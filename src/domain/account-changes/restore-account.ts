import { findUser } from '#domain/accounts/find-user.ts';
import { unlockUser } from '#domain/accounts/lock-user.ts';
import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Homeserver, HomeserverFailure } from '#domain/homeserver/homeserver.ts';
import { withUserLease } from '#domain/homeserver/user-lease.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { reactivateHere, reactivateThere } from './reactivate-user.ts';

export interface RestoreAccountDeps {
  readonly database: Database;
  readonly homeserver: Homeserver;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AccountRestoration {
  readonly user: UserId;
  /** The administrator or operator. */
  readonly by: AuditActor;
  readonly record: RecordAction;
  /** Whether to unlock the account as well. */
  readonly unlocks: boolean;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

/**
 * Reactivates an account, and unlocks it if requested. The homeserver goes first, within the request: if it fails,
 * nothing changes here. While a job is updating the user at the homeserver, the request fails as unavailable.
 */
export async function restoreAccount(
  deps: RestoreAccountDeps,
  { user, by, record, unlocks, signal }: AccountRestoration,
): Promise<'restored' | 'not-found' | HomeserverFailure> {
  const { database, homeserver, clock, log } = deps;
  const found = await findUser(database, user);
  if (found === undefined) return 'not-found';
  const restore = async (): Promise<'restored'> => {
    const change = { user, by, now: clock.now() };
    await database.transaction(
      async (transaction) => {
        await reactivateHere(transaction, homeserver, change);
        if (unlocks) await unlockUser(transaction, homeserver, change);
        await record(transaction);
      },
      { isRepeatable: true },
    );
    return 'restored';
  };
  if (!found.isDeactivated || !homeserver.isConnected) return await restore();
  const alone = await withUserLease(deps, toUuid(user), signal, async (): Promise<'restored' | HomeserverFailure> => {
    const result = await reactivateThere(homeserver, found.username, { kind: 'request' });
    if (result.ok) return await restore();
    // The homeserver client already logs unavailability.
    if (result.reason !== 'unavailable')
      log.warn('homeserver.failed', 'homeserver rejected the reactivation of a user', { reason: result.detail });
    return result;
  });
  return alone?.value ?? { ok: false, reason: 'unavailable', detail: 'a job is updating this user' };
}
