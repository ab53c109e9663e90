import type { Log } from '#platform/base/log.ts';
import { type CallsDeps, HomeserverCalls } from './calls.ts';
import type {
  CallContext,
  Device,
  Homeserver,
  HomeserverFailure,
  HomeserverResult,
  HomeserverUser,
  NamedDevice,
  Profile,
  Provisioned,
} from './homeserver.ts';
import { Synapse } from './synapse.ts';
import { SynapseLegacy } from './synapse-legacy.ts';

/** Returns the configured homeserver. Does not connect before the first call. */
export function openHomeserver(deps: CallsDeps): Homeserver {
  const { homeserver, protocolName } = deps.config;
  const { kind, homeserver: serverName } = homeserver;
  switch (kind) {
    case 'synapse':
      return new Synapse(new HomeserverCalls(deps));
    case 'synapse_legacy':
      return new SynapseLegacy(new HomeserverCalls(deps), serverName, protocolName);
    case 'synapse_read_only':
      return new ReadOnly(new Synapse(new HomeserverCalls(deps)), deps.log);
    case 'none':
      return NO_HOMESERVER;
  }
}

const SKIPPED: HomeserverResult<unknown> = { ok: true, value: undefined };
const NOT_CREATED: HomeserverResult<Provisioned> = { ok: true, value: { isNew: false } };

const NOBODY_THERE = { ok: false, detail: 'no homeserver is configured' } as const;
const UNKNOWN_USER: HomeserverFailure = { ...NOBODY_THERE, reason: 'unknown-user' };
const REFUSED: HomeserverFailure = { ...NOBODY_THERE, reason: 'refused' };

/** Used without a homeserver: makes no calls, and every update succeeds (chat-compat 11.5). */
const NO_HOMESERVER: Homeserver = {
  isConnected: false,
  createsUsers: false,
  isLocalpartAvailable: () => Promise.resolve({ ok: true, value: true }),
  queryUser: () => Promise.resolve(UNKNOWN_USER),
  provisionUser: () => Promise.resolve(NOT_CREATED),
  deleteUser: () => Promise.resolve(SKIPPED),
  reactivateUser: () => Promise.resolve(SKIPPED),
  setDisplayName: () => Promise.resolve(SKIPPED),
  allowCrossSigningReset: () => Promise.resolve(REFUSED),
  renameDevice: () => Promise.resolve(SKIPPED),
  upsertDevice: () => Promise.resolve(SKIPPED),
  deleteDevices: () => Promise.resolve(SKIPPED),
  syncDevices: () => Promise.resolve(SKIPPED),
};

/** For dry runs: reads from the homeserver, but changes nothing and logs what it would have changed. */
class ReadOnly implements Homeserver {
  readonly isConnected = true;
  readonly createsUsers = false;
  readonly #homeserver: Homeserver;
  readonly #log: Log;

  constructor(homeserver: Homeserver, log: Log) {
    this.#homeserver = homeserver;
    this.#log = log;
  }

  async isLocalpartAvailable(localpart: string, context: CallContext): Promise<HomeserverResult<boolean>> {
    return await this.#homeserver.isLocalpartAvailable(localpart, context);
  }

  async queryUser(localpart: string, context: CallContext): Promise<HomeserverResult<HomeserverUser>> {
    return await this.#homeserver.queryUser(localpart, context);
  }

  async provisionUser({ localpart }: Profile): Promise<HomeserverResult<Provisioned>> {
    await this.#skip('provision_user', localpart);
    return NOT_CREATED;
  }

  deleteUser(localpart: string): Promise<HomeserverResult<unknown>> {
    return this.#skip('delete_user', localpart);
  }

  reactivateUser(localpart: string): Promise<HomeserverResult<unknown>> {
    return this.#skip('reactivate_user', localpart);
  }

  setDisplayName(localpart: string, displayName: string | undefined): Promise<HomeserverResult<unknown>> {
    return this.#skip(displayName === undefined ? 'unset_displayname' : 'set_displayname', localpart);
  }

  allowCrossSigningReset(localpart: string): Promise<HomeserverResult<unknown>> {
    return this.#skip('allow_cross_signing_reset', localpart);
  }

  renameDevice(localpart: string, { id }: NamedDevice): Promise<HomeserverResult<unknown>> {
    return this.#skip('update_device_display_name', localpart, [id]);
  }

  upsertDevice(localpart: string, { id }: Device): Promise<HomeserverResult<unknown>> {
    return this.#skip('upsert_device', localpart, [id]);
  }

  deleteDevices(localpart: string, ids: readonly string[]): Promise<HomeserverResult<unknown>> {
    return this.#skip('delete_device', localpart, ids);
  }

  syncDevices(localpart: string, ids: readonly string[]): Promise<HomeserverResult<unknown>> {
    return this.#skip('sync_devices', localpart, ids);
  }

  #skip(call: string, localpart: string, devices?: readonly string[]): Promise<HomeserverResult<unknown>> {
    const fields = { call, localpart, devices: devices?.join(' ') };
    this.#log.info('homeserver.skipped', 'homeserver write skipped: homeserver.kind is "synapse_read_only"', fields);
    return Promise.resolve(SKIPPED);
  }
}
