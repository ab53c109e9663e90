/** Synapse up to 1.156 with its earlier delegation settings, through the admin API (chat-compat 11.4). */

import { chatNames } from '#protocol/chat/names.ts';
import { type Answer, type HomeserverCalls, type Members, provisioned, textOf } from './calls.ts';
import type {
  CallContext,
  Device,
  Homeserver,
  HomeserverResult,
  HomeserverUser,
  NamedDevice,
  Profile,
  Provisioned,
} from './homeserver.ts';
import { availability, isAskable } from './localpart.ts';

/** The provider ID under which Synapse stores a user's `sub`. */
const AUTH_PROVIDER = 'oauth-delegated';

export class SynapseLegacy implements Homeserver {
  readonly isConnected = true;
  readonly createsUsers = true;
  readonly #calls: HomeserverCalls;
  readonly #serverName: string;
  /** Path of the client API, without a leading slash. */
  readonly #clientPath: string;

  constructor(calls: HomeserverCalls, serverName: string, protocolName: string) {
    this.#calls = calls;
    this.#serverName = serverName;
    this.#clientPath = `${chatNames(protocolName).pathPrefix.slice(1)}client/v3`;
  }

  async isLocalpartAvailable(localpart: string, context: CallContext): Promise<HomeserverResult<boolean>> {
    if (!isAskable(localpart)) return { ok: true, value: false };
    const result = await this.#calls.send(
      {
        name: 'username_available',
        method: 'GET',
        path: '_synapse/admin/v1/username_available',
        query: { username: localpart },
      },
      context,
    );
    if (result.ok && result.value['available'] !== true) return { ok: true, value: false };
    return availability(result);
  }

  async queryUser(localpart: string, context: CallContext): Promise<HomeserverResult<HomeserverUser>> {
    const call = { name: 'query_user', method: 'GET', path: this.#userPath(localpart) } as const;
    const result = await this.#calls.send(call, context);
    if (!result.ok) return result;
    const { displayname, avatar_url, deactivated } = result.value;
    return {
      ok: true,
      value: {
        displayName: textOf(displayname),
        avatarUrl: textOf(avatar_url),
        isDeactivated: deactivated === true,
      },
    };
  }

  async provisionUser(profile: Profile, context: CallContext): Promise<HomeserverResult<Provisioned>> {
    const { localpart, subject, displayName, avatarUrl, emails } = profile;
    const body = {
      external_ids: [{ auth_provider: AUTH_PROVIDER, external_id: subject }],
      ...(displayName !== undefined && { displayname: displayName }),
      ...(avatarUrl !== undefined && { avatar_url: avatarUrl }),
      threepids: emails.map((address) => ({ medium: 'email', address })),
    };
    return provisioned(await this.#put('provision_user', localpart, body, context));
  }

  async deleteUser(localpart: string, isErased: boolean, context: CallContext): Promise<HomeserverResult<unknown>> {
    return await this.#calls.send(
      {
        name: 'delete_user',
        method: 'POST',
        path: `_synapse/admin/v1/deactivate/${this.#encodedId(localpart)}`,
        body: { erase: isErased },
        isLong: true,
      },
      context,
    );
  }

  async reactivateUser(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>> {
    return await this.#put('reactivate_user', localpart, { deactivated: false }, context);
  }

  async setDisplayName(
    localpart: string,
    displayName: string | undefined,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    return await this.#calls.send(
      {
        name: displayName === undefined ? 'unset_displayname' : 'set_displayname',
        method: 'PUT',
        path: `${this.#clientPath}/profile/${this.#encodedId(localpart)}/displayname`,
        body: { displayname: displayName ?? '' },
      },
      context,
    );
  }

  async allowCrossSigningReset(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>> {
    return await this.#calls.send(
      {
        name: 'allow_cross_signing_reset',
        method: 'POST',
        path: `_synapse/admin/v1/users/${this.#encodedId(localpart)}/_allow_cross_signing_replacement_without_uia`,
        body: {},
      },
      context,
    );
  }

  async upsertDevice(localpart: string, device: Device, context: CallContext): Promise<HomeserverResult<unknown>> {
    const created = await this.#createDevice(localpart, device.id, context);
    if (!created.ok || device.name === undefined) return created;
    return await this.renameDevice(localpart, { id: device.id, name: device.name }, context);
  }

  async renameDevice(
    localpart: string,
    { id, name }: NamedDevice,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    // A path cannot contain these two IDs in any encoding (URL Standard 4.4), so these devices stay unnamed.
    if (['.', '..'].includes(id)) return { ok: true, value: undefined };
    const path = `${this.#userPath(localpart)}/devices/${encodeURIComponent(id)}`;
    const body = { display_name: name };
    return await this.#calls.send({ name: 'update_device_display_name', method: 'PUT', path, body }, context);
  }

  async deleteDevices(
    localpart: string,
    ids: readonly string[],
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    if (ids.length === 0) return { ok: true, value: undefined };
    const path = `${this.#userPath(localpart)}/delete_devices`;
    const call = { name: 'delete_devices', method: 'POST', path, body: { devices: ids }, isLong: true } as const;
    return await this.#calls.send(call, context);
  }

  /** Makes several calls, all of which are idempotent. */
  async syncDevices(
    localpart: string,
    ids: readonly string[],
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    const call = { name: 'sync_devices', isLong: true } as const;
    const path = this.#userPath(localpart);
    const listed = await this.#calls.send({ ...call, method: 'GET', path: `${path}/devices` }, context);
    if (!listed.ok) return listed;
    const known = knownDevices(listed.value);
    const surplus = known.filter((id) => !ids.includes(id));
    const deleted = await this.deleteDevices(localpart, surplus, context);
    if (!deleted.ok) return deleted;
    for (const id of ids.filter((wanted) => !known.includes(wanted))) {
      const created = await this.#createDevice(localpart, id, context);
      if (!created.ok) return created;
    }
    return { ok: true, value: undefined };
  }

  async #createDevice(localpart: string, id: string, context: CallContext): Promise<HomeserverResult<Members>> {
    const path = `${this.#userPath(localpart)}/devices`;
    return await this.#calls.send({ name: 'upsert_device', method: 'POST', path, body: { device_id: id } }, context);
  }

  async #put(name: string, localpart: string, body: object, context: CallContext): Promise<Answer> {
    return await this.#calls.send({ name, method: 'PUT', path: this.#userPath(localpart), body }, context);
  }

  #userPath(localpart: string): string {
    return `_synapse/admin/v2/users/${this.#encodedId(localpart)}`;
  }

  #encodedId(localpart: string): string {
    return encodeURIComponent(`@${localpart}:${this.#serverName}`);
  }
}

/** Returns the known devices, without a dehydrated one, which has no session. */
function knownDevices({ devices }: Members): readonly string[] {
  if (!Array.isArray(devices)) return [];
  return devices.flatMap((entry: unknown) => {
    const isDevice = typeof entry === 'object' && entry !== null && 'device_id' in entry;
    if (!isDevice || typeof entry.device_id !== 'string' || ('dehydrated' in entry && entry.dehydrated === true))
      return [];
    return [entry.device_id];
  });
}
