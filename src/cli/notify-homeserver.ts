import { queueDeviceSync } from '#domain/homeserver/device-sync-jobs.ts';
import { queueForEverybody } from '#domain/homeserver/queue-for-everybody.ts';
import { allowDeletingUnknownDevices } from '#domain/homeserver/unknown-devices.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { accountAction, operatorChange } from './operator-change.ts';

export interface ProvisionAllOptions {
  readonly onlyActive: boolean;
  readonly json: boolean;
}

/** `manage provision-all-users` (operations 3.5). Throws `ExitError` 1 if no homeserver is configured. */
export async function provisionAllUsersCommand(deps: ManageDeps, options: ProvisionAllOptions): Promise<void> {
  requireHomeserver(deps);
  const queued = await queueForEverybody(deps, 'provisioning', options.onlyActive);
  report(deps, options, queued);
}

export interface SyncDevicesOptions {
  /** A username, `@user:server` or an ID; undefined: all users. */
  readonly user: string | undefined;
  /** Also delete devices from before the account existed here, now and from now on. */
  readonly deletesUnknown: boolean;
  readonly json: boolean;
}

/**
 * `manage sync-devices` (operations 3.5): syncs the devices on the homeserver with the sessions here. Throws
 * `ExitError` 1 if the user does not exist or no homeserver is configured.
 */
export async function syncDevicesCommand(deps: ManageDeps, options: SyncDevicesOptions): Promise<void> {
  requireHomeserver(deps);
  const { deletesUnknown } = options;
  if (options.user === undefined) {
    if (deletesUnknown) await allowDeletion(deps, undefined);
    return report(deps, options, await queueForEverybody(deps, 'device-sync', false));
  }
  const user = await findManagedUser(deps, options.user);
  if (deletesUnknown) await allowDeletion(deps, user.id);
  await queueDeviceSync(deps.database, deps.homeserver, { userId: user.id, now: deps.clock.now() });
  report(deps, options, { users: 1, seconds: 1 });
}

/** @param userId undefined: of all users, which is one event */
async function allowDeletion(deps: ManageDeps, userId: UserId | undefined): Promise<void> {
  const changed = ['keeps_unknown_devices'];
  const operation = 'sync-devices';
  const action =
    userId === undefined ? { operation, target: undefined, changed } : accountAction(operation, userId, changed);
  await operatorChange(
    deps,
    (allowed: number) => (allowed > 0 ? action : undefined),
    (transaction) => allowDeletingUnknownDevices(transaction, userId),
  );
}

function requireHomeserver({ homeserver }: ManageDeps): void {
  if (!homeserver.isConnected)
    throw new ExitError(ExitCode.failure, 'no homeserver is configured: homeserver.kind is "none"');
}

function report(
  { io }: ManageDeps,
  { json }: { readonly json: boolean },
  { users, seconds }: { readonly users: number; readonly seconds: number },
): void {
  if (json) io.stdout(`${JSON.stringify({ users, seconds })}\n`);
  else io.stdout(`${users} ${users === 1 ? 'user' : 'users'} will be synced to the homeserver within ${seconds} s\n`);
}
