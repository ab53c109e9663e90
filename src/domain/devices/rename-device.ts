/**
 * What people call their sessions, as the homeserver names the devices (chat-compat 11.6). The name of a session is
 * stored by the module of the session; here the homeserver is told, at once or by a job where that fails.
 */
import { compatSessionIsLive } from '#domain/compat-sessions/liveness.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { type TellDeps, tellingQueue } from '#domain/homeserver/tell-homeserver.ts';
import { oauthSessionIsLive } from '#domain/oauth-sessions/liveness.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { INSERT_JOB, type JobQueue, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const QUEUE = 'rename-device';

/** Indexes `compat_sessions_live_device` and `oauth2_sessions_live_device`. */
const NAMES = `select s.human_name from compat_sessions s
    where s.user_id = :userId::uuid and s.device_id = :deviceId::text and ${compatSessionIsLive('s')}
   union all
   select s.human_name from oauth2_sessions s
    where s.user_id = :userId::uuid and s.device_id = :deviceId::text and ${oauthSessionIsLive('s')}`;

interface DeviceParams {
  readonly userId: string;
  readonly deviceId: string;
}

const findName = statement<{ human_name: string }, DeviceParams>(
  'name-of-device',
  `select named.human_name from (${NAMES}) named where named.human_name is not null limit 1`,
);

/** One that the homeserver has heard of already needs no job. */
const insertJob = statement<
  never,
  DeviceParams & { readonly told: string | null; readonly queuedBy: string | null; readonly now: Date }
>(
  'queue-device-rename',
  `${INSERT_JOB}
   select gen_random_uuid(), '${QUEUE}', jsonb_build_object('user_id', :userId::uuid, 'device_id', :deviceId::text),
          :userId::uuid::text || ' ' || :deviceId::text, :queuedBy::text, :now::timestamptz, :now::timestamptz
    where exists (select from (${NAMES}) named where named.human_name is distinct from :told::text)
   ${ON_WAITING_JOB}`,
);

export interface RenameDeps {
  readonly database: Queryable;
  readonly homeserver: Homeserver;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RenamedDevice {
  readonly user: { readonly id: UserId; readonly username: string };
  readonly deviceId: string;
  readonly name: string;
}

/**
 * Tells the homeserver the new name of a session, after it was stored. Where that fails, or the session was renamed once
 * more in the meantime, so that nobody knows which call came last, a job tells the name that is stored then.
 */
export async function tellDeviceName(deps: RenameDeps, { user, deviceId, name }: RenamedDevice): Promise<void> {
  const { database, homeserver, clock, log } = deps;
  if (!homeserver.isConnected) return;
  const told = await homeserver.renameDevice(user.username, { id: deviceId, name }, { kind: 'request' });
  if (!told.ok && told.reason === 'refused')
    log.warn('homeserver.failed', 'the homeserver does not take the name of a device', { reason: told.detail });
  await database.execute(insertJob, {
    userId: toUuid(user.id),
    deviceId,
    told: told.ok ? name : null,
    queuedBy: queuedBy(),
    now: new Date(clock.now()),
  });
}

export function renameDeviceQueue(deps: TellDeps): JobQueue {
  return tellingQueue(QUEUE, deps, async ({ userId, localpart, isDeactivated }, context, payload) => {
    const id = deviceOf(payload);
    // Their devices go with them.
    if (id === undefined || isDeactivated) return { ok: true, value: undefined };
    for (let told: string | undefined; ; ) {
      const name = (await deps.database.first(findName, { userId, deviceId: id }))?.human_name;
      // The session is over, or was not renamed while the homeserver was told.
      if (name === undefined || name === told) return { ok: true, value: undefined };
      const result = await deps.homeserver.renameDevice(localpart, { id, name }, context);
      if (!result.ok && result.reason === 'unknown-user') {
        // Gives them their devices by itself.
        await queueProvisioning(deps.database, deps.homeserver, { userId: fromUuid(userId), now: deps.clock.now() });
        return { ok: true, value: undefined };
      }
      if (!result.ok) return result;
      told = name;
    }
  });
}

function deviceOf(payload: unknown): string | undefined {
  const isNamed = typeof payload === 'object' && payload !== null && 'device_id' in payload;
  return isNamed && typeof payload.device_id === 'string' ? payload.device_id : undefined;
}
