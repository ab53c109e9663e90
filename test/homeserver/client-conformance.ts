/**
 * What clients receive from a homeserver that delegates authentication, and how it interprets introspection responses
 * (chat-compat 12, 18.2). The stand-in homeserver must conform, and so must a real Synapse where one is available.
 */
import { z } from 'zod';
import { crossSigningKey } from '#test/support/chat-apps/chat-app.ts';
import { METADATA, type ScriptedIntrospection, type ScriptedResponse } from '#test/support/scripted-introspection.ts';
import { takeStep } from './conformance.ts';

export interface ClientStep {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/_matrix/client/`. */
  readonly path: string;
  /** The introspection response for the token. null sends no token. */
  readonly token: ScriptedResponse | null;
  readonly body?: unknown;
  readonly status: number;
  readonly errcode?: string;
  /** Expected members of the response. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** The user and device that must exist beforehand. */
export const CLIENT_OF_CONFORMANCE = { localpart: 'tokens', device_id: 'PHONE' };

const API = 'urn:matrix:client:api:*';
const UNSTABLE = 'urn:matrix:org.matrix.msc2967.client:';
/** The response of this service for a signed-in chat client. */
const ACTIVE = {
  active: true,
  scope: `${API} ${UNSTABLE}api:*`,
  username: CLIENT_OF_CONFORMANCE.localpart,
  sub: '01JD3Q5Z8W2N4K6M7P9R0S1T2W',
  device_id: CLIENT_OF_CONFORMANCE.device_id,
  client_id: 'legacy',
};

function whoAmI(
  name: string,
  members: Readonly<Record<string, unknown>>,
  status: number,
  errcode?: string,
): ClientStep {
  const token = { body: { ...ACTIVE, ...members } };
  const step = { name, method: 'GET', path: 'v3/account/whoami', token, status } as const;
  return { ...step, ...(errcode !== undefined && { errcode }) };
}

function unserved(method: 'GET' | 'POST' | 'DELETE', path: string): ClientStep {
  const name = `${method} ${path} is unknown to it`;
  const step = { name, method, path, token: { body: ACTIVE }, status: 404, errcode: 'M_UNRECOGNIZED' } as const;
  return method === 'GET' ? step : { ...step, body: {} };
}

export const CLIENT_CONFORMANCE: readonly ClientStep[] = [
  { name: 'its versions', method: 'GET', path: 'versions', token: null, status: 200 },
  {
    name: 'no token',
    method: 'GET',
    path: 'v3/account/whoami',
    token: null,
    status: 401,
    errcode: 'M_MISSING_TOKEN',
  },
  {
    ...whoAmI('whose token it is', {}, 200),
    members: { device_id: CLIENT_OF_CONFORMANCE.device_id, is_guest: false },
  },
  whoAmI('the older version', {}, 200),
  whoAmI('a token that is not active', { active: false }, 401, 'M_UNKNOWN_TOKEN'),
  whoAmI('one without the client API', { scope: 'openid' }, 401, 'M_UNKNOWN_TOKEN'),
  whoAmI('one with the stable scope alone', { scope: API }, 200),
  whoAmI('one with the unstable scope alone', { scope: `${UNSTABLE}api:*` }, 200),
  whoAmI('one of somebody unknown', { username: 'nobody' }, 500),
  whoAmI('one without a user', { username: null }, 500),
  whoAmI('one of an unknown device', { device_id: 'OTHER' }, 401, 'M_UNKNOWN_TOKEN'),
  {
    ...whoAmI('one whose scope names the device', { device_id: null, scope: `${API} ${UNSTABLE}device:PHONE` }, 200),
    members: { device_id: CLIENT_OF_CONFORMANCE.device_id },
  },
  whoAmI('the same device in both forms', { device_id: null, scope: deviceScopes('PHONE', 'PHONE') }, 200),
  whoAmI('two devices', { device_id: null, scope: deviceScopes('PHONE', 'OTHER') }, 500),
  whoAmI('one without a device', { device_id: null }, 200),
  whoAmI('one that expires', { expires_in: 60 }, 200),
  whoAmI('one that has expired', { expires_in: 0 }, 401, 'M_UNKNOWN_TOKEN'),
  whoAmI('a time that is not an integer', { expires_in: 59.5 }, 503),
  whoAmI('a text for a time', { expires_in: '60' }, 503),
  whoAmI('a text for a boolean', { active: 'true' }, 503),
  whoAmI('a list of scopes', { scope: [API] }, 503),
  whoAmI('a number for a name', { username: 7 }, 503),
  whoAmI('a member of its own name', { retrieved_at_ms: 1 }, 503),
  whoAmI('a device id of 256 characters', { device_id: 'x'.repeat(256) }, 500),
  { ...whoAmI('a service that fails', {}, 503), token: { status: 500, body: {} } },
  { ...whoAmI('a service that refuses', {}, 503), token: { status: 401, body: {} } },
  { ...whoAmI('no JSON', {}, 503), token: { body: 'active' } },

  ...['v1', 'unstable/org.matrix.msc2965'].map((version): ClientStep => {
    const name = `the metadata of the service, by the path of ${version}`;
    return { name, method: 'GET', path: `${version}/auth_metadata`, token: null, status: 200, members: METADATA };
  }),
  { name: 'their devices', method: 'GET', path: 'v3/devices', token: { body: ACTIVE }, status: 200 },
  ...['v3/login', 'r0/login', 'v3/login/sso/redirect'].map((path) => unserved('GET', path)),
  ...['login', 'logout', 'logout/all', 'refresh', 'account/password', 'account/deactivate'].map((name) =>
    unserved('POST', `v3/${name}`),
  ),
  unserved('DELETE', 'v3/devices/PHONE'),
  unserved('POST', 'v3/delete_devices'),
];

function deviceScopes(stable: string, unstable: string): string {
  return `${API} urn:matrix:client:device:${stable} ${UNSTABLE}device:${unstable}`;
}

/** Performs one step with a unique token, because the homeserver caches introspection responses. */
export async function takeClientStep(endpoint: string, service: ScriptedIntrospection, step: ClientStep) {
  const { method, path, token, body } = step;
  const bearer = `token-${step.name.replaceAll(/\W/g, '-')}`;
  if (token !== null) service.answers.set(bearer, token);
  const response = await fetch(new URL(`_matrix/client/${path}`, endpoint), {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const members: Record<string, unknown> = await response.json();
  return { status: response.status, errcode: members['errcode'], members };
}

/** Responses to a user's first cross-signing key, to the same key, to another key, and to another key with approval. */
export const CROSS_SIGNING = [
  200,
  200,
  [
    401,
    ['m.oauth', 'org.matrix.cross_signing_reset'],
    'https://auth.example/account/?action=org.matrix.cross_signing_reset',
  ],
  200,
];

export async function replaceCrossSigningKey(
  { endpoint, serverName }: { readonly endpoint: string; readonly serverName: string },
  secret: string,
  service: ScriptedIntrospection,
): Promise<unknown[]> {
  const { localpart } = CLIENT_OF_CONFORMANCE;
  const upload = async (key: string) => {
    const body = { master_key: crossSigningKey(`@${localpart}:${serverName}`, key) };
    const path = 'v3/keys/device_signing/upload';
    return await takeClientStep(endpoint, service, {
      name: key,
      method: 'POST',
      path,
      token: { body: ACTIVE },
      body,
      status: 200,
    });
  };
  const [first, second] = [
    'BgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA',
    'CgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA',
  ];
  const responses: unknown[] = [(await upload(first)).status, (await upload(first)).status];
  const { status, members } = await upload(second);
  responses.push([status, ...offered(members)]);
  const path = 'allow_cross_signing_reset';
  await takeStep(endpoint, secret, { name: path, method: 'POST', path, body: { localpart }, status: 200 });
  responses.push((await upload(second)).status);
  return responses;
}

const interactive = z.object({
  flows: z.array(z.object({ stages: z.array(z.string()) })),
  params: z.record(z.string(), z.object({ url: z.string() })),
});

/** Returns the offered stages and their URLs. */
function offered(members: unknown): readonly unknown[] {
  const { flows, params } = interactive.parse(members);
  const stages = flows.flatMap((flow) => flow.stages);
  return [stages, ...new Set(stages.map((stage) => params[stage]?.url))];
}
