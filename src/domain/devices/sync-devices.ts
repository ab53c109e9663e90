import { compatSessionIsLive } from '#domain/compat-sessions/liveness.ts';
import { SYNC_DEVICES_QUEUE } from '#domain/homeserver/device-sync-jobs.ts';
import { type TellDeps, tellingQueue } from '#domain/homeserver/tell-homeserver.ts';
import { oauthSessionIsLive } from '#domain/oauth-sessions/liveness.ts';
import { personalSessionIsLive } from '#domain/personal-sessions/liveness.ts';
import type { JobQueue } from '#platform/jobs/queue.ts';
import { statement } from '#platform/postgres/statement.ts';

/**
 * A personal session keeps its device also while its token has expired: it can get another one. Indexes
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
 * Has a person have the devices of their live sessions at the homeserver, and no others (chat-compat 11.6). The devices
 * are read under the lease, so a sign-in that is told of a device there is either on the list or comes after the call.
 * Somebody whom the homeserver does not know is made known first.
 */
export function syncDevicesQueue(deps: TellDeps): JobQueue {
  return tellingQueue(SYNC_DEVICES_QUEUE, deps, async (told, context) => {
    // Their devices go with them.
    if (told.isDeactivated) return { ok: true, value: undefined };
    const devices = await deps.database.rows(findDevices, { userId: told.userId });
    const ids = devices.map(({ device_id: id }) => id);
    const sync = async () => await deps.homeserver.syncDevices(told.localpart, ids, context);
    const result = await sync();
    if (result.ok || result.reason !== 'unknown-user') return result;
    const provisioned = await deps.homeserver.provisionUser({ ...told, displayName: undefined }, context);
    if (!provisioned.ok) return provisioned;
    const again = await sync();
    // A homeserver that takes somebody in and does not know them is asked later, and less and less often.
    return again.ok || again.reason !== 'unknown-user' ? again : { ...again, reason: 'unavailable' };
  });
}
