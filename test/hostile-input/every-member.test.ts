/** Sends each hostile value in each member of each JSON body that would otherwise be accepted. */
import { beforeAll, expect, test } from 'vitest';
import { attackedService, PASSWORD } from '../attacks/attacked-service.ts';
import { HOSTILE_VALUES } from './hostile-values.ts';
import { expectValidLogLines, expectValidResponse } from './invariants.ts';

const TIMEOUT_MS = 600_000;
const ROUTES_OF_CHAT = '/_chat/client/v3/';

const attacked = attackedService({}, { arePasswordsChosen: true });

type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** JSON source text. The strings are the hostile form values that can be decoded. */
const VALUES: readonly string[] = [
  ...HOSTILE_VALUES.flatMap((value) => decoded(value)).map((value) => JSON.stringify(value)),
  ...['null', 'true', 'false', '0', '-0', '-1', '1.5', '1e309', '1e-400', '9007199254740993', '2147483648'],
  ...['[]', '{}', '[null]', '[[[[]]]]', '{"__proto__":{"a":1}}', '{"a":1,"a":2}', '{"type":"m.id.user"}'],
  ...['"\\ud800"', '"\\u0000"', '"\\u202e"', '"a\\u0000b"', `"${'a'.repeat(20_000)}"`, '['.repeat(33) + ']'.repeat(33)],
];

function decoded(value: string): string[] {
  try {
    return [decodeURIComponent(value)];
  } catch {
    return [];
  }
}

const DEVICE = { device_id: 'HOSTILE', initial_device_display_name: 'Phone', refresh_token: true };
const BY_PASSWORD = { type: 'm.login.password', password: PASSWORD };
const LOGIN = { ...BY_PASSWORD, identifier: { type: 'm.id.user', user: 'adele' } };

/** Bodies whose structure the routes accept. */
const BODIES: readonly (readonly [what: string, path: string, body: Json])[] = [
  ['a login with a password', `${ROUTES_OF_CHAT}login`, { ...LOGIN, ...DEVICE }],
  ['a login in the format of old clients', `${ROUTES_OF_CHAT}login`, { ...BY_PASSWORD, user: 'bruno' }],
  ['a login by address', `${ROUTES_OF_CHAT}login`, { ...BY_PASSWORD, medium: 'email', address: 'amira@mail.example' }],
  ['a login with a token', `${ROUTES_OF_CHAT}login`, { type: 'm.login.token', token: 'x'.repeat(32), ...DEVICE }],
  ['a refresh', `${ROUTES_OF_CHAT}refresh`, { refresh_token: 'mcr_0123456789ABCDEFGHIJabcdefghij_0WADMv' }],
  ['a sign-out everywhere', `${ROUTES_OF_CHAT}logout/all`, { 'io.element.only_compat_is_fine': true }],
  ['GraphQL', '/graphql', { query: 'query A { viewer { __typename } }', operationName: 'A', variables: {} }],
  [
    'a registration of a client',
    '/oauth2/registration',
    {
      client_name: 'A',
      client_uri: 'https://app.example/',
      redirect_uris: ['https://app.example/cb'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
    },
  ],
];

let accessToken = '';

beforeAll(async () => {
  const response = await attacked.ask({
    method: 'POST',
    target: `${ROUTES_OF_CHAT}login`,
    headers: [['X-Forwarded-For', attacked.newAddress()]],
    body: JSON.stringify(LOGIN),
  });
  accessToken = String(JSON.parse(response.body).access_token);
});

/** Replaces each member in turn by each value, including nested members, and adds each value as an extra member. */
function* spoilt(body: Json): Generator<string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    yield* VALUES;
    return;
  }
  const members = Object.entries(body);
  for (const [changed, right] of members) {
    for (const value of spoilt(right)) yield written(members, changed, value);
    if (typeof right === 'object') for (const value of VALUES) yield written(members, changed, value);
  }
  for (const name of ['__proto__', 'constructor', 'toString', 'toJSON', 'length', '']) {
    yield `{${JSON.stringify(name)}:{"a":1},${JSON.stringify(body).slice(1)}`;
  }
}

function written(members: readonly (readonly [string, Json])[], changed: string, value: string): string {
  const pairs = members.map(
    ([name, right]) => `${JSON.stringify(name)}:${name === changed ? value : JSON.stringify(right)}`,
  );
  return `{${pairs.join(',')}}`;
}

test.each(BODIES)(
  '%s at %s: no internal error and one log line for any member value (S-157, S-159 to S-162)',
  async (_, path, body) => {
    const seen = new Set<number>();
    for (const text of [...spoilt(body), ...VALUES]) {
      const logged = attacked.service.logLines().length;
      const headers: [string, string][] = [
        ['Content-Type', 'application/json'],
        ['X-Forwarded-For', attacked.newAddress()],
      ];
      if (path.includes('logout')) headers.push(['Authorization', `Bearer ${accessToken}`]);
      const response = await attacked.ask({ method: 'POST', target: path, headers, body: text });
      const where = `${path} ${text.slice(0, 300)}`;
      expectValidResponse(response, where);
      const lines = expectValidLogLines(attacked.service.logLines().slice(logged));
      expect(
        lines.map(({ status }) => status),
        where,
      ).toEqual([response.status]);
      expect(JSON.parse(response.body), where).toEqual(expect.any(Object));
      seen.add(response.status);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(seen.has(400), 'some were refused for their form').toBe(true);
    expect(seen.size, 'and some came past that').toBeGreaterThan(1);
  },
  TIMEOUT_MS,
);
