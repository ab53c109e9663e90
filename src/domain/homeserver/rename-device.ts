/**
 * Names that users give their sessions, which are the device names at the homeserver (chat-compat 11.6). The session's
 * module stores the name. This module sends it to the homeserver, in the request or by a job if that fails.
 */

import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { INSERT_JOB, type JobQueue, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { Homeserver } from './homeserver.ts';
import { type NotifyDeps, notificationQueue } from './notify-homeserver.ts';
import { queueProvisioning } from './provision-user.ts';

const QUEUE = 'rename-device';

/** Uses indexes `compat_sessions_live_device` and `oauth2_sessions_live_device`. */
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

/** A name that the homeserver already has needs no job. */
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
 * Sends the new name of a session to the homeserver after it was stored. A job sends the stored name if the call fails.
 * It also does if the session was renamed in the meantime, since the order of the calls is then unknown.
 */
export async function tellDeviceName(deps: RenameDeps, { user, deviceId, name }: RenamedDevice): Promise<void> {
  const { database, homeserver, clock, log } = deps;
  if (!homeserver.isConnected) return;
  const told = await homeserver.renameDevice(user.username, { id: deviceId, name }, { kind: 'request' });
  if (!told.ok && told.reason === 'refused')
    log.warn('homeserver.failed', 'homeserver rejected the name of a device', { reason: told.detail });
  await database.execute(insertJob, {
    userId: toUuid(user.id),
    deviceId,
    told: told.ok ? name : null,
    queuedBy: queuedBy(),
    now: new Date(clock.now()),
  });
}

export function renameDeviceQueue(deps: NotifyDeps): JobQueue {
  return notificationQueue(QUEUE, deps, async ({ userId, localpart, isDeactivated }, context, payload) => {
    const id = deviceOf(payload);
    // The devices of a deactivated user are deleted with the account.
    if (id === undefined || isDeactivated) return { ok: true, value: undefined };
    for (let told: string | undefined; ; ) {
      const name = (await deps.database.first(findName, { userId, deviceId: id }))?.human_name;
      // The session has ended, or was not renamed during the call.
      if (name === undefined || name === told) return { ok: true, value: undefined };
      const result = await deps.homeserver.renameDevice(localpart, { id, name }, context);
      if (!result.ok && result.reason === 'unknown-user') {
        // Provisioning also creates the user's devices.
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
