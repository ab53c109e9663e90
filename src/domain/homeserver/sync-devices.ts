import type { Log } from '#platform/base/log.ts';
import type { JobQueue } from '#platform/jobs/queue.ts';
import { SYNC_DEVICES_QUEUE } from './device-sync-jobs.ts';
import { type NotifyDeps, notificationQueue } from './notify-homeserver.ts';
import { listDevices, provisionUser, syncOwnDevices } from './unknown-devices.ts';

export interface SyncDevicesDeps extends NotifyDeps {
  readonly log: Log;
}

/**
 * Makes the homeserver keep exactly the devices of a user's live sessions (chat-compat 11.6). The devices are read
 * under the lease. A concurrent sign-in is therefore either in the list or registers its device after the call. A user
 * unknown to the homeserver is provisioned first. Devices from before the account are kept until the operator allows
 * their deletion.
 */
export function syncDevicesQueue(deps: SyncDevicesDeps): JobQueue {
  const { clock, database, homeserver, log } = deps;
  return notificationQueue(SYNC_DEVICES_QUEUE, deps, async (notified, context) => {
    const { userId, localpart, subject, isDeactivated, keepsUnknownDevices } = notified;
    // The devices of a deactivated user are deleted with the account.
    if (isDeactivated) return { ok: true, value: undefined };
    const sync = async () => {
      if (keepsUnknownDevices) return await syncOwnDevices(deps, notified, clock.now(), context);
      return await homeserver.syncDevices(localpart, await listDevices(database, userId), context);
    };
    let result = await sync();
    if (!result.ok && result.reason === 'unknown-user') {
      const provisioned = await provisionUser(deps, notified, undefined, context);
      if (!provisioned.ok) return provisioned;
      result = await sync();
      // A homeserver that accepts a user and still does not know them is retried with backoff.
      if (!result.ok && result.reason === 'unknown-user') return { ...result, reason: 'unavailable' };
    } else if (result.ok && keepsUnknownDevices) {
      log.info(
        'homeserver.devices_kept',
        'devices from before the account were kept at the homeserver; to delete them, run latchkey manage sync-devices --delete-unknown',
        { user: subject },
      );
    }
    return result;
  });
}
