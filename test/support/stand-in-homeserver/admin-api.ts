/**
 * What the stand-in needs to emulate Synapse up to 1.156: its part of `/_synapse/admin/*`, and profiles, which the
 * secret also authorizes.
 */
import { chatNames } from '#protocol/chat/names.ts';
import {
  addUser,
  ChatError,
  checkDeviceName,
  checkDisplayName,
  checkLocalpart,
  knownUser,
  type StandInRequest,
  type StandInResponse,
  type StandInState,
  type StandInUser,
} from './state.ts';

const USER = /^\/_synapse\/admin\/v2\/users\/@([^:]*):(.*)$/;
const DEVICES = /^\/_synapse\/admin\/v2\/users\/@([^:]*):([^/]*)\/(devices|delete_devices)(?:\/(.+))?$/;
const DEACTIVATE = /^\/_synapse\/admin\/v1\/deactivate\/@([^:]*):(.*)$/;
const RESET = /^\/_synapse\/admin\/v1\/users\/@([^:]*):(.*)\/_allow_cross_signing_replacement_without_uia$/;
const PROFILE = /^client\/v3\/profile\/@([^:]*):(.*)\/displayname$/;
const RESET_ALLOWED_MS = 10 * 60_000;
const AVAILABLE = '/_synapse/admin/v1/username_available';

/** Returns undefined for paths of other APIs. */
export function handleAdmin(state: StandInState, request: StandInRequest): StandInResponse | undefined {
  const { path, method, query } = request;
  const { pathPrefix } = chatNames(state.protocolName);
  // Reads are public and belong to the client API.
  const profile = method !== 'GET' && path.startsWith(pathPrefix) ? PROFILE.exec(path.slice(pathPrefix.length)) : null;
  if (!path.startsWith('/_synapse/admin/') && profile === null) return undefined;
  if (request.authorization === undefined) throw new ChatError(401, 'M_MISSING_TOKEN', 'Missing access token');
  if (request.authorization !== `Bearer ${state.secret}`)
    throw new ChatError(401, 'M_UNKNOWN_TOKEN', 'Invalid access token passed.');
  if (path === AVAILABLE && method === 'GET') {
    checkLocalpart(state, query.get('username') ?? '');
    return { status: 200, body: { available: true } };
  }
  if (profile !== null && method === 'PUT') {
    const { displayname } = membersOf(request.body);
    if (typeof displayname !== 'string') throw new ChatError(400, 'M_BAD_JSON', 'displayname must be a string');
    checkDisplayName(displayname);
    knownUser(state, ownLocalpart(state, profile)).displayName = displayname === '' ? undefined : displayname;
    return { status: 200, body: {} };
  }
  const reset = RESET.exec(path);
  if (reset !== null && method === 'POST') {
    const until = state.clock.now() + RESET_ALLOWED_MS;
    knownUser(state, ownLocalpart(state, reset)).resetAllowedUntil = until;
    return { status: 200, body: { updatable_without_uia_before_ms: until } };
  }
  const devices = DEVICES.exec(path);
  if (devices !== null) {
    const [, , , collection = '', id] = devices;
    return handleDevices(request, knownUser(state, ownLocalpart(state, devices)), collection, id);
  }
  const user = USER.exec(path);
  if (user !== null) return handleUser(state, request, ownLocalpart(state, user));
  const deactivated = DEACTIVATE.exec(path);
  if (deactivated === null || method !== 'POST') throw new ChatError(404, 'M_UNRECOGNIZED', 'Unrecognized request');
  const known = knownUser(state, ownLocalpart(state, deactivated));
  known.isDeactivated = true;
  known.isErased = membersOf(request.body)['erase'] === true;
  known.emails = [];
  return { status: 200, body: { id_server_unbind_result: 'success' } };
}

function handleUser(state: StandInState, { method, body }: StandInRequest, localpart: string): StandInResponse {
  if (method === 'GET') {
    const { displayName, avatarUrl, isDeactivated } = knownUser(state, localpart);
    const members = { displayname: displayName ?? null, avatar_url: avatarUrl ?? null, deactivated: isDeactivated };
    return { status: 200, body: { name: `@${localpart}:${state.serverName}`, ...members } };
  }
  if (method !== 'PUT') throw new ChatError(405, 'M_UNRECOGNIZED', 'Unrecognized request');
  const known = state.users.get(localpart);
  const user = known ?? addUser(state, localpart);
  const { displayname, deactivated, external_ids: externalIds, threepids } = membersOf(body);
  if (known === undefined) user.displayName = localpart;
  if (typeof displayname === 'string') user.displayName = displayname === '' ? undefined : displayname;
  if (typeof deactivated === 'boolean') user.isDeactivated = deactivated;
  if (Array.isArray(externalIds)) user.subject = String(membersOf(externalIds[0])['external_id']);
  if (Array.isArray(threepids)) user.emails = threepids.map((entry: unknown) => String(membersOf(entry)['address']));
  return { status: known === undefined ? 201 : 200, body: {} };
}

function handleDevices(
  { method, body }: StandInRequest,
  { devices, dehydratedDevice }: StandInUser,
  collection: string,
  id: string | undefined,
): StandInResponse {
  const members = membersOf(body);
  switch (`${method} ${collection}${id === undefined ? '' : '/:id'}`) {
    case 'GET devices': {
      const listed = [...devices].map(([device_id, name]) => ({
        device_id,
        display_name: name ?? null,
        dehydrated: device_id === dehydratedDevice,
      }));
      return { status: 200, body: { devices: listed, total: listed.length } };
    }
    case 'POST devices': {
      const device = String(members['device_id']);
      if (!devices.has(device)) devices.set(device, undefined);
      return { status: 201, body: {} };
    }
    case 'POST delete_devices': {
      const ids = members['devices'];
      if (!Array.isArray(ids)) throw new ChatError(400, 'M_MISSING_PARAM', 'Missing devices');
      for (const device of ids) devices.delete(String(device));
      return { status: 200, body: {} };
    }
    case 'PUT devices/:id': {
      if (id === undefined || !devices.has(id)) throw new ChatError(404, 'M_NOT_FOUND', 'No device found');
      const name = String(members['display_name']);
      checkDeviceName(name);
      devices.set(id, name);
      return { status: 200, body: {} };
    }
    default:
      throw new ChatError(404, 'M_UNRECOGNIZED', 'Unrecognized request');
  }
}

function ownLocalpart({ serverName }: StandInState, [, localpart = '', server]: RegExpExecArray): string {
  if (server !== serverName) throw new ChatError(400, 'M_UNKNOWN', 'This endpoint can only be used with local users');
  return localpart;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
