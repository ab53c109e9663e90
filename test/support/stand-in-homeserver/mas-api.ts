/** `/_synapse/mas/*` of the stand-in, as strict as Synapse: types are validated, never coerced. */
import { z } from 'zod';
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
} from './state.ts';

const RESET_ALLOWED_MS = 10 * 60_000;
const EMPTY: StandInResponse = { status: 200, body: {} };

const localpart = z.string();
const device = z.object({ localpart, device_id: z.string() });
const provisioned = z.object({
  localpart,
  set_displayname: z.string().optional(),
  unset_displayname: z.boolean().optional(),
  set_avatar_url: z.string().optional(),
  unset_avatar_url: z.boolean().optional(),
  set_emails: z.array(z.string()).optional(),
  unset_emails: z.boolean().optional(),
  locked: z.boolean().optional(),
});

const OPERATIONS: Readonly<Record<string, (state: StandInState, request: StandInRequest) => StandInResponse>> = {
  'GET query_user': (state, { query }) => {
    const name = query.get('localpart');
    if (name === null) throw new ChatError(400, 'M_MISSING_PARAM', 'Missing required string parameter localpart');
    const user = knownUser(state, name);
    return {
      status: 200,
      body: {
        user_id: `@${user.localpart}:${state.serverName}`,
        display_name: user.displayName ?? null,
        avatar_url: user.avatarUrl ?? null,
        is_suspended: false,
        is_deactivated: user.isDeactivated,
      },
    };
  },

  'GET is_localpart_available': (state, { query }) => {
    const name = query.get('localpart');
    if (name === null) throw new ChatError(400, 'M_UNKNOWN', 'Missing localpart');
    if (/[^\p{ASCII}]/u.test(name)) throw new ChatError(400, 'M_UNKNOWN', 'must be ascii');
    checkLocalpart(state, name);
    return EMPTY;
  },

  'POST provision_user': (state, { body }) => {
    for (const name of ['displayname', 'avatar_url', 'emails']) {
      if (has(body, `set_${name}`) && has(body, `unset_${name}`))
        throw new ChatError(400, 'M_INVALID_PARAM', `Cannot specify both unset_${name} and set_${name}`);
    }
    const wanted = read(provisioned, body);
    const known = state.users.get(wanted.localpart);
    if (known === undefined) checkLocalpart(state, wanted.localpart);
    if (wanted.set_displayname !== undefined) checkDisplayName(wanted.set_displayname);
    const user = known ?? addUser(state, wanted.localpart);
    // Synapse names a new user after the localpart.
    if (known === undefined) user.displayName = wanted.set_displayname ?? user.localpart;
    if (wanted.set_displayname !== undefined) user.displayName = wanted.set_displayname;
    if (wanted.unset_displayname === true) user.displayName = undefined;
    if (wanted.set_avatar_url !== undefined) user.avatarUrl = wanted.set_avatar_url;
    if (wanted.unset_avatar_url === true) user.avatarUrl = undefined;
    if (wanted.set_emails !== undefined) user.emails = wanted.set_emails;
    if (wanted.unset_emails === true) user.emails = [];
    if (wanted.locked !== undefined) user.isLocked = wanted.locked;
    return { status: known === undefined ? 201 : 200, body: {} };
  },

  'POST delete_user': (state, { body }) => {
    const wanted = read(z.object({ localpart, erase: z.boolean() }), body);
    const user = knownUser(state, wanted.localpart);
    user.isDeactivated = true;
    user.isErased = wanted.erase;
    user.emails = [];
    user.devices.clear();
    return EMPTY;
  },

  'POST reactivate_user': (state, { body }) => {
    const user = knownUser(state, read(z.object({ localpart }), body).localpart);
    user.isDeactivated = false;
    user.isErased = false;
    return EMPTY;
  },

  'POST upsert_device': (state, { body }) => {
    const wanted = read(device.extend({ display_name: z.string().optional() }), body);
    const { devices, keyIds } = knownUser(state, wanted.localpart);
    checkDeviceName(wanted.display_name);
    if (wanted.device_id === state.hiddenDevice || keyIds.has(wanted.device_id))
      throw new ChatError(400, 'M_FORBIDDEN', 'The device ID is in use');
    const isNew = !devices.has(wanted.device_id);
    if (isNew || wanted.display_name !== undefined) devices.set(wanted.device_id, wanted.display_name);
    return { status: isNew ? 201 : 200, body: {} };
  },

  'POST delete_device': (state, { body }) => {
    const wanted = read(device, body);
    knownUser(state, wanted.localpart).devices.delete(wanted.device_id);
    return { status: 204, body: undefined };
  },

  'POST update_device_display_name': (state, { body }) => {
    const wanted = read(device.extend({ display_name: z.string() }), body);
    const { devices } = knownUser(state, wanted.localpart);
    checkDeviceName(wanted.display_name);
    if (!devices.has(wanted.device_id)) throw new ChatError(404, 'M_NOT_FOUND', 'No device found');
    devices.set(wanted.device_id, wanted.display_name);
    return EMPTY;
  },

  'POST sync_devices': (state, { body }) => {
    const wanted = read(z.object({ localpart, devices: z.array(z.string()) }), body);
    const { devices, dehydratedDevice } = knownUser(state, wanted.localpart);
    const target = new Set(wanted.devices);
    for (const id of devices.keys()) {
      if (!target.has(id) && id !== dehydratedDevice) devices.delete(id);
    }
    for (const id of target) {
      if (!devices.has(id)) devices.set(id, undefined);
    }
    return EMPTY;
  },

  'POST set_displayname': (state, { body }) => {
    const wanted = read(z.object({ localpart, displayname: z.string() }), body);
    const user = knownUser(state, wanted.localpart);
    checkDisplayName(wanted.displayname);
    user.displayName = wanted.displayname === '' ? undefined : wanted.displayname;
    return EMPTY;
  },

  'POST unset_displayname': (state, { body }) => {
    knownUser(state, read(z.object({ localpart }), body).localpart).displayName = undefined;
    return EMPTY;
  },

  'POST allow_cross_signing_reset': (state, { body }) => {
    const user = knownUser(state, read(z.object({ localpart }), body).localpart);
    user.resetAllowedUntil = state.clock.now() + RESET_ALLOWED_MS;
    return EMPTY;
  },
};

const PREFIX = '/_synapse/mas/';

/** Returns undefined for paths of other APIs. */
export function handleMas(state: StandInState, request: StandInRequest): StandInResponse | undefined {
  if (!request.path.startsWith(PREFIX)) return undefined;
  const name = request.path.slice(PREFIX.length);
  const operation = OPERATIONS[`${request.method} ${name}`];
  if (operation === undefined) {
    const isKnown = Object.keys(OPERATIONS).some((key) => key.endsWith(` ${name}`));
    throw new ChatError(isKnown ? 405 : 404, 'M_UNRECOGNIZED', 'Unrecognized request');
  }
  if (request.authorization === undefined) throw new ChatError(401, 'M_MISSING_TOKEN', 'Missing access token');
  if (request.authorization !== `Bearer ${state.secret}`)
    throw new ChatError(403, 'M_UNKNOWN', 'This endpoint must only be called by MAS');
  return operation(state, request);
}

function has(body: unknown, name: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name);
}

function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (body === undefined) throw new ChatError(400, 'M_NOT_JSON', 'Content not JSON.');
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ChatError(400, 'M_BAD_JSON', 'Content must be a JSON object.');
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const isMissing = result.error.issues.some(({ path: [name] }) => typeof name === 'string' && !has(body, name));
  throw new ChatError(400, isMissing ? 'M_MISSING_PARAM' : 'M_BAD_JSON', result.error.message);
}
