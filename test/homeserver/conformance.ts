/**
 * How a homeserver without users responds, step by step and in this order. The stand-in homeserver must conform, and so
 * must a real Synapse where one is available. Behavior found in either is fixed for both.
 */
export interface ConformanceStep {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** Relative to `/_synapse/mas/`. */
  readonly path: string;
  readonly body?: unknown;
  /** Replaces the correct secret. null sends none. */
  readonly secret?: string | null;
  readonly status: number;
  readonly errcode?: string;
  /** Expected members of the response. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Names that an application service reserves on every tested homeserver. */
export const EXCLUSIVE_NAMES = 'bridge-.*';

function get(name: string, path: string, status: number, errcode?: string): ConformanceStep {
  return { name, method: 'GET', path, status, ...(errcode !== undefined && { errcode }) };
}

function post(name: string, path: string, body: unknown, status: number, errcode?: string): ConformanceStep {
  return { name, method: 'POST', path, body, status, ...(errcode !== undefined && { errcode }) };
}

const available = (localpart: string) => `is_localpart_available?localpart=${encodeURIComponent(localpart)}`;
const user = (localpart: string) => `query_user?localpart=${localpart}`;
const DEVICE = { localpart: 'amira', device_id: 'PHONE' };

function knows(name: string, localpart: string, members: Readonly<Record<string, unknown>>): ConformanceStep {
  return { ...get(name, user(localpart), 200), members };
}

export const CONFORMANCE: readonly ConformanceStep[] = [
  { ...get('a wrong secret', available('amira'), 403), secret: 'another-secret' },
  { ...get('no secret', available('amira'), 401, 'M_MISSING_TOKEN'), secret: null },
  get('no localpart', 'is_localpart_available', 400),
  get('a free name', available('amira'), 200),
  get('a name outside of ASCII', available('amirä'), 400, 'M_UNKNOWN'),
  ...['', 'Amira', 'a b', '_amira', '12345', 'a@b', 'a:b', 'x'.repeat(250)].map((localpart) =>
    get(`the name ${JSON.stringify(localpart.slice(0, 12))}`, available(localpart), 400, 'M_INVALID_USERNAME'),
  ),
  get('a name with every sign', available('a.b_c=d-e/f+g'), 200),
  get('a name of an application service', available('bridge-x'), 400, 'M_EXCLUSIVE'),
  get('an unknown person', user('amira'), 404, 'M_NOT_FOUND'),

  post('provisioning without a name', 'provision_user', {}, 400, 'M_MISSING_PARAM'),
  post('a list for an object', 'provision_user', [], 400, 'M_BAD_JSON'),
  post('a number for a name', 'provision_user', { localpart: 7 }, 400, 'M_BAD_JSON'),
  post('a text for a boolean', 'provision_user', { localpart: 'amira', locked: 'true' }, 400, 'M_BAD_JSON'),
  post('a number for a boolean', 'provision_user', { localpart: 'amira', locked: 1 }, 400, 'M_BAD_JSON'),
  post(
    'set and unset of one value, even when the one says no',
    'provision_user',
    { localpart: 'amira', set_displayname: 'A', unset_displayname: false },
    400,
    'M_INVALID_PARAM',
  ),
  post(
    'provisioning somebody new',
    'provision_user',
    { localpart: 'amira', set_displayname: 'Amira Öz', set_emails: ['amira@example.org'], locked: false },
    201,
  ),
  knows('their name', 'amira', { display_name: 'Amira Öz', is_deactivated: false }),
  get('their name is taken', available('amira'), 400, 'M_USER_IN_USE'),
  post('provisioning them again', 'provision_user', { localpart: 'amira', unset_emails: true, locked: true }, 200),
  knows('the name stays', 'amira', { display_name: 'Amira Öz' }),
  post('unlocking them', 'provision_user', { localpart: 'amira', locked: false }, 200),
  post('a person without a name', 'provision_user', { localpart: 'plain', unset_emails: true, locked: false }, 201),
  knows('is called as they sign in', 'plain', { display_name: 'plain' }),

  post('a display name', 'set_displayname', { localpart: 'amira', displayname: 'A' }, 200),
  post('one of 257 characters', 'set_displayname', { localpart: 'amira', displayname: 'x'.repeat(257) }, 400),
  post('one of 256', 'set_displayname', { localpart: 'amira', displayname: 'x'.repeat(256) }, 200),
  post('one of somebody unknown', 'set_displayname', { localpart: 'nobody', displayname: 'N' }, 404, 'M_NOT_FOUND'),
  post('none', 'unset_displayname', { localpart: 'amira' }, 200),
  knows('no name', 'amira', { display_name: null }),

  post('a device', 'upsert_device', { ...DEVICE, display_name: 'Phone' }, 201),
  post('the same device', 'upsert_device', DEVICE, 200),
  post('a device of somebody unknown', 'upsert_device', { ...DEVICE, localpart: 'nobody' }, 404, 'M_NOT_FOUND'),
  post('a device name of 101 characters', 'upsert_device', { ...DEVICE, display_name: 'x'.repeat(101) }, 400),
  post('another device name', 'update_device_display_name', { ...DEVICE, display_name: 'Telephone' }, 200),
  post('a name for no device', 'update_device_display_name', { ...DEVICE, device_id: 'NONE', display_name: 'N' }, 404),
  post('the set of devices', 'sync_devices', { localpart: 'amira', devices: ['PHONE', 'LAPTOP'] }, 200),
  post('a device that the set has added', 'upsert_device', { ...DEVICE, device_id: 'LAPTOP' }, 200),
  post('a set with a number', 'sync_devices', { localpart: 'amira', devices: [1] }, 400, 'M_BAD_JSON'),
  post('the end of a device', 'delete_device', DEVICE, 204),
  post('the end of the same device', 'delete_device', DEVICE, 204),
  post('a device that has ended', 'upsert_device', DEVICE, 201),
  post('an empty set of devices', 'sync_devices', { localpart: 'amira', devices: [] }, 200),
  post('all devices were deleted', 'upsert_device', DEVICE, 201),
  post('leave to reset keys', 'allow_cross_signing_reset', { localpart: 'amira' }, 200),

  post('deleting without a word about erasure', 'delete_user', { localpart: 'amira' }, 400, 'M_MISSING_PARAM'),
  post('deleting somebody unknown', 'delete_user', { localpart: 'nobody', erase: false }, 404, 'M_NOT_FOUND'),
  post('deleting', 'delete_user', { localpart: 'amira', erase: true }, 200),
  post('deleting again', 'delete_user', { localpart: 'amira', erase: true }, 200),
  knows('a deleted person', 'amira', { is_deactivated: true }),
  get('their name stays taken', available('amira'), 400, 'M_USER_IN_USE'),
  post('reactivating somebody unknown', 'reactivate_user', { localpart: 'nobody' }, 404, 'M_NOT_FOUND'),
  post('reactivating', 'reactivate_user', { localpart: 'amira' }, 200),
  knows('a reactivated person', 'amira', { is_deactivated: false }),

  get('another method', 'provision_user', 405, 'M_UNRECOGNIZED'),
];

/** Performs one step. @returns the response, reduced to what the step expects */
export async function takeStep(endpoint: string, secret: string, step: ConformanceStep) {
  const { method, path, body } = step;
  const sent = step.secret === undefined ? secret : step.secret;
  const response = await fetch(new URL(`_synapse/mas/${path}`, endpoint), {
    method,
    headers: {
      ...(sent !== null && { authorization: `Bearer ${sent}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const members: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
  const { errcode } = members;
  return { status: response.status, errcode, members };
}
