/**
 * The stand-in's part of the client API (chat-compat 18.2): token owners, devices, cross-signing keys, display names,
 * and the metadata of the authentication service. It knows none of the endpoints that Latchkey serves.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { chatNames } from '#protocol/chat/names.ts';
import { ChatError, knownUser, type StandInRequest, type StandInResponse, type StandInState } from './state.ts';
import { TokenCheck } from './token-check.ts';

const PROFILE = /(?:^|\/)v3\/profile\/@([^:]+):(.+)\/displayname$/;
const VERSIONS = ['v1.1', 'v1.11', 'v1.12', 'v1.15'];

export class ClientApi {
  readonly #state: StandInState;
  readonly #tokens: TokenCheck;
  #metadata: Readonly<Record<string, unknown>> | undefined;

  constructor(state: StandInState) {
    this.#state = state;
    this.#tokens = new TokenCheck(state);
  }

  /** Returns undefined for unknown paths. */
  async answer(request: StandInRequest): Promise<StandInResponse | undefined> {
    const { pathPrefix, actionPrefix } = chatNames(this.#state.protocolName);
    const prefix = `${pathPrefix}client/`;
    if (!request.path.startsWith(prefix)) return undefined;
    const [name = '', method] = operationOf(request.path.slice(prefix.length), actionPrefix);
    if (method === undefined) return undefined;
    if (request.method !== method) throw new ChatError(405, 'M_UNRECOGNIZED', 'Unrecognized request');
    switch (name) {
      case 'versions':
        return { status: 200, body: { versions: VERSIONS, unstable_features: {} } };
      case 'auth_metadata':
        return { status: 200, body: await this.#readMetadata() };
      case 'whoami':
        return await this.#whoAmI(request);
      case 'devices':
        return await this.#listDevices(request);
      case 'displayname':
        return this.#showDisplayName(request);
      default:
        return await this.#uploadKeys(request, actionPrefix);
    }
  }

  async #whoAmI(request: StandInRequest): Promise<StandInResponse> {
    const { user, deviceId } = await this.#tokens.ownerOf(request);
    const userId = `@${user.localpart}:${this.#state.serverName}`;
    return { status: 200, body: { user_id: userId, is_guest: false, device_id: deviceId } };
  }

  async #listDevices(request: StandInRequest): Promise<StandInResponse> {
    const { user } = await this.#tokens.ownerOf(request);
    const devices = [...user.devices].map(([id, name]) => ({
      device_id: id,
      display_name: name ?? null,
      last_seen_ip: null,
      last_seen_ts: null,
      user_id: `@${user.localpart}:${this.#state.serverName}`,
    }));
    return { status: 200, body: { devices } };
  }

  /** Public. */
  #showDisplayName({ path }: StandInRequest): StandInResponse {
    const [, localpart = '', serverName] = PROFILE.exec(path) ?? [];
    if (serverName !== this.#state.serverName) throw new ChatError(404, 'M_NOT_FOUND', 'Profile was not found');
    const { displayName } = knownUser(this.#state, localpart);
    return { status: 200, body: displayName === undefined ? {} : { displayname: displayName } };
  }

  /** Users can always upload their first key. Replacing it requires approval at the service. */
  async #uploadKeys(request: StandInRequest, actionPrefix: string): Promise<StandInResponse> {
    const { user } = await this.#tokens.ownerOf(request);
    const { body } = request;
    if (typeof body !== 'object' || body === null) throw new ChatError(400, 'M_NOT_JSON', 'Content not JSON.');
    const key = 'master_key' in body ? body.master_key : undefined;
    if (user.masterKey === undefined || this.#state.clock.now() < user.resetAllowedUntil) {
      user.masterKey = key;
      for (const id of Object.values(keysOf(key))) user.keyIds.add(id);
    }
    if (isDeepStrictEqual(key, user.masterKey)) return { status: 200, body: {} };
    const stages = ['m.oauth', `${actionPrefix}cross_signing_reset`];
    const { account_management_uri } = await this.#readMetadata();
    const url = `${String(account_management_uri)}?action=${actionPrefix}cross_signing_reset`;
    const params = Object.fromEntries(stages.map((stage) => [stage, { url }]));
    const flows = stages.map((stage) => ({ stages: [stage] }));
    return { status: 401, body: { session: 'dummy', flows, params, msg: `approve it at ${url}` } };
  }

  /** Fetches the metadata once. */
  async #readMetadata(): Promise<Readonly<Record<string, unknown>>> {
    if (this.#metadata !== undefined) return this.#metadata;
    const response = await fetch(new URL('.well-known/openid-configuration', this.#state.service));
    const members: Record<string, unknown> = await response.json();
    for (const name of ['issuer', 'account_management_uri']) {
      if (typeof members[name] !== 'string') throw new ChatError(500, 'M_UNKNOWN', 'Internal server error');
    }
    this.#metadata = members;
    return members;
  }
}

function keysOf(key: unknown): Readonly<Record<string, string>> {
  const parsed = z.object({ keys: z.record(z.string(), z.string()) }).safeParse(key);
  return parsed.success ? parsed.data.keys : {};
}

/** @param path relative to `client/` */
function operationOf(path: string, actionPrefix: string): readonly [string, 'GET' | 'POST'] | readonly [] {
  if (path === 'versions') return [path, 'GET'];
  if (path === 'v1/auth_metadata' || path === `unstable/${actionPrefix}msc2965/auth_metadata`)
    return ['auth_metadata', 'GET'];
  if (PROFILE.test(path)) return ['displayname', 'GET'];
  switch (/^(?:r0|v3|unstable)\/(.*)$/.exec(path)?.[1]) {
    case 'account/whoami':
      return ['whoami', 'GET'];
    case 'devices':
      return ['devices', 'GET'];
    case 'keys/device_signing/upload':
      return ['upload', 'POST'];
    default:
      return [];
  }
}
