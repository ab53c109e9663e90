/**
 * Accounts whose user may have devices at the homeserver that are unknown here: column `keeps_unknown_devices` of `users`
 * (chat-compat 11.6). The homeserver may have had the user before the account existed, and the account was not imported
 * with its sessions. A sync of the whole list would delete these devices with their encryption keys, so devices of such
 * an account are created and deleted one by one.
 */
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { CallContext, Homeserver, HomeserverResult } from './homeserver.ts';
import type { NotifiedUser } from './notify-homeserver.ts';

const CLEAR = 'update users set keeps_unknown_devices = false where keeps_unknown_devices';

const clearMark = statement<never, { readonly userId: string }>(
  'clear-unknown-devices',
  `${CLEAR} and id = :userId::uuid`,
);

const clearAllMarks = statement<never, NoParameters>('clear-unknown-devices-of-everybody', CLEAR);

/**
 * Lets device syncs delete devices that are unknown here.
 * @param userId undefined: of all users
 * @returns the number of accounts to which this was not allowed before
 */
export async function allowDeletingUnknownDevices(queryable: Queryable, userId: UserId | undefined): Promise<number> {
  if (userId === undefined) return await queryable.execute(clearAllMarks, {});
  return await queryable.execute(clearMark, { userId: toUuid(userId) });
}

export interface ProvisionDeps {
  readonly database: Queryable;
  readonly homeserver: Homeserver;
}

/** Provisions a user. A user whom this creates has no devices, so a later sync may send the whole list. */
export async function provisionUser(
  { database, homeserver }: ProvisionDeps,
  user: NotifiedUser,
  displayName: string | undefined,
  context: CallContext,
): Promise<HomeserverResult<unknown>> {
  const result = await homeserver.provisionUser({ ...user, displayName }, context);
  if (result.ok && result.value.isNew && user.keepsUnknownDevices)
    await database.execute(clearMark, { userId: user.userId });
  return result;
}

/**
 * The devices of sessions that ended before were deleted by an earlier job. Longer than a job is retried (see
 * `notify-homeserver.ts`).
 */
const ENDED_WITHIN_MS = 4 * 86_400_000;

/** @param ofCompat conditions on sessions of each kind, with the alias `s` */
function devicesSql(ofCompat: string, ofOAuth: string, ofPersonal: string): string {
  return `select s.device_id from compat_sessions s
    where s.user_id = :userId::uuid and s.device_id is not null and ${ofCompat}
   union
   select s.device_id from oauth2_sessions s
    where s.user_id = :userId::uuid and s.device_id is not null and ${ofOAuth}
   union
   select s.device_id from personal_sessions s
    where s.actor_user_id = :userId::uuid and s.device_id is not null and ${ofPersonal}`;
}

/** Uses indexes `compat_sessions_user`, `oauth2_sessions_user` and `personal_sessions_actor`. */
const findEndedDevices = statement<{ device_id: string }, { readonly userId: string; readonly since: Date }>(
  'ended-devices-of-user',
  devicesSql(
    's.finished_at > :since::timestamptz',
    's.finished_at > :since::timestamptz',
    's.revoked_at > :since::timestamptz',
  ),
);

/**
 * A personal session keeps its device after its token has expired, because it can get another one. Uses indexes
 * `compat_sessions_live_device`, `oauth2_sessions_live_device` and `personal_sessions_actor`.
 */
const findDevices = statement<{ device_id: string }, { readonly userId: string }>(
  'devices-of-user',
  devicesSql(compatSessionIsLive('s'), oauthSessionIsLive('s'), personalSessionIsLive('s')),
);

/** Returns the devices of a user's live sessions. */
export async function listDevices(database: Queryable, userId: string): Promise<readonly string[]> {
  const rows = await database.rows(findDevices, { userId });
  return rows.map(({ device_id: id }) => id);
}

/**
 * Deletes the devices of recently ended sessions and creates those of live sessions. Leaves all other devices as they
 * are. The caller has the user's lease.
 * @param now milliseconds since the epoch
 */
export async function syncOwnDevices(
  { database, homeserver }: ProvisionDeps,
  { userId, localpart }: NotifiedUser,
  now: number,
  context: CallContext,
): Promise<HomeserverResult<unknown>> {
  const live = await listDevices(database, userId);
  const rows = await database.rows(findEndedDevices, { userId, since: new Date(now - ENDED_WITHIN_MS) });
  const ended = rows.map(({ device_id: id }) => id).filter((id) => !live.includes(id));
  const deleted = await homeserver.deleteDevices(localpart, ended, context);
  if (!deleted.ok) return deleted;
  for (const id of live) {
    const created = await homeserver.upsertDevice(localpart, { id, name: undefined }, context);
    if (!created.ok) return created;
  }
  return { ok: true, value: undefined };
}
