import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import type { JobQueue } from '#platform/jobs/queue.ts';
import { statement } from '#platform/postgres/statement.ts';
import { SYNC_DEVICES_QUEUE } from './device-sync-jobs.ts';
import { type NotifyDeps, notificationQueue } from './notify-homeserver.ts';

/**
 * A personal session keeps its device after its token has expired, because it can get another one. Uses indexes
 * `compat_sessions_live_device`, `oauth2_sessions_live_device` and `personal_sessions_actor`.
 */
const findDevices = statement<{ device_id: string }, { readonly userId: string }>(
  'devices-of-user',
  `select s.device_id from compat_sessions s
    where s.user_id = :userId::uuid and s.device_id is not null and ${compatSessionIsLive('s')}
   union
   select s.device_id from oauth2_sessions s
    where s.user_id = :userId::uuid and s.device_id is not null and ${oauthSessionIsLive('s')}
   union
   select s.device_id from personal_sessions s
    where s.actor_user_id = :userId::uuid and s.device_id is not null and ${personalSessionIsLive('s')}`,
);

/**
 * Makes the homeserver keep exactly the devices of a user's live sessions (chat-compat 11.6). The devices are read
 * under the lease. A concurrent sign-in is therefore either in the list or registers its device after the call. A user
 * unknown to the homeserver is provisioned first.
 */
export function syncDevicesQueue(deps: NotifyDeps): JobQueue {
  return notificationQueue(SYNC_DEVICES_QUEUE, deps, async (notified, context) => {
    // The devices of a deactivated user are deleted with the account.
    if (notified.isDeactivated) return { ok: true, value: undefined };
    const devices = await deps.database.rows(findDevices, { userId: notified.userId });
    const ids = devices.map(({ device_id: id }) => id);
    const sync = async () => await deps.homeserver.syncDevices(notified.localpart, ids, context);
    const result = await sync();
    if (result.ok || result.reason !== 'unknown-user') return result;
    const provisioned = await deps.homeserver.provisionUser({ ...notified, displayName: undefined }, context);
    if (!provisioned.ok) return provisioned;
    const again = await sync();
    // A homeserver that accepts a user and still does not know them is retried with backoff.
    return again.ok || again.reason !== 'unknown-user' ? again : { ...again, reason: 'unavailable' };
  });
}
