/** Synapse from 1.136 on, through its API for delegated authentication (chat-compat 11.3). */
import { type Answer, type HomeserverCalls, provisioned, textOf } from './calls.ts';
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

export class Synapse implements Homeserver {
  readonly isConnected = true;
  readonly createsUsers = true;
  readonly #calls: HomeserverCalls;

  constructor(calls: HomeserverCalls) {
    this.#calls = calls;
  }

  async isLocalpartAvailable(localpart: string, context: CallContext): Promise<HomeserverResult<boolean>> {
    if (!isAskable(localpart)) return { ok: true, value: false };
    return availability(await this.#get('is_localpart_available', localpart, context));
  }

  async queryUser(localpart: string, context: CallContext): Promise<HomeserverResult<HomeserverUser>> {
    const result = await this.#get('query_user', localpart, context);
    if (!result.ok) return result;
    const { display_name, avatar_url, is_deactivated } = result.value;
    return {
      ok: true,
      value: {
        displayName: textOf(display_name),
        avatarUrl: textOf(avatar_url),
        isDeactivated: is_deactivated === true,
      },
    };
  }

  async provisionUser(profile: Profile, context: CallContext): Promise<HomeserverResult<Provisioned>> {
    const { localpart, displayName, avatarUrl, emails, isLocked } = profile;
    const answer = await this.#post(
      'provision_user',
      {
        localpart,
        // Synapse accepts only one of a `set_` and `unset_` pair, even if the other one is false.
        ...(displayName !== undefined && { set_displayname: displayName }),
        ...(avatarUrl !== undefined && { set_avatar_url: avatarUrl }),
        ...(emails.length === 0 ? { unset_emails: true } : { set_emails: emails }),
        locked: isLocked,
      },
      context,
    );
    return provisioned(answer);
  }

  async deleteUser(localpart: string, isErased: boolean, context: CallContext): Promise<HomeserverResult<unknown>> {
    return await this.#post('delete_user', { localpart, erase: isErased }, context, true);
  }

  async reactivateUser(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>> {
    return await this.#post('reactivate_user', { localpart }, context);
  }

  async setDisplayName(
    localpart: string,
    displayName: string | undefined,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    if (displayName === undefined) return await this.#post('unset_displayname', { localpart }, context);
    return await this.#post('set_displayname', { localpart, displayname: displayName }, context);
  }

  async allowCrossSigningReset(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>> {
    return await this.#post('allow_cross_signing_reset', { localpart }, context);
  }

  async renameDevice(
    localpart: string,
    { id, name }: NamedDevice,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    const body = { localpart, device_id: id, display_name: name };
    return await this.#post('update_device_display_name', body, context);
  }

  async upsertDevice(
    localpart: string,
    { id, name }: Device,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    const body = { localpart, device_id: id, ...(name !== undefined && { display_name: name }) };
    return await this.#post('upsert_device', body, context);
  }

  async deleteDevices(
    localpart: string,
    ids: readonly string[],
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    for (const id of ids) {
      const deleted = await this.#post('delete_device', { localpart, device_id: id }, context, true);
      if (!deleted.ok) return deleted;
    }
    return { ok: true, value: undefined };
  }

  async syncDevices(
    localpart: string,
    ids: readonly string[],
    context: CallContext,
  ): Promise<HomeserverResult<unknown>> {
    return await this.#post('sync_devices', { localpart, devices: ids }, context, true);
  }

  async #get(name: string, localpart: string, context: CallContext): Promise<Answer> {
    return await this.#calls.send({ name, method: 'GET', path: `_synapse/mas/${name}`, query: { localpart } }, context);
  }

  async #post(name: string, body: object, context: CallContext, isLong = false): Promise<Answer> {
    return await this.#calls.send({ name, method: 'POST', path: `_synapse/mas/${name}`, body, isLong }, context);
  }
}
