/**
 * Every member of a registration (oauth 4.3), when a client registers and when it replaces its registration: valid and
 * invalid values, wrong types, limits, languages, repeated and omitted. The list of members comes from the code, so
 * that none is forgotten here.
 */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { MetadataMembers } from '#protocol/oauth/metadata-members.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const HIGH_LIMIT = { rate_limiting: { client_registration: { per_ip: { burst: 100_000, per_second: 1000 } } } };
const CALLBACK = 'https://app.example/cb';
const BODY = {
  client_uri: 'https://app.example/',
  redirect_uris: [CALLBACK],
  token_endpoint_auth_method: 'client_secret_basic',
};
type Body = Readonly<Record<string, unknown>>;

const keyPair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = keyPair.publicKey.export({ format: 'jwk' });
const KEYS = { jwks: { keys: [key] } };
const SIGNING = { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256', ...KEYS };
const WITH_MAC = { token_endpoint_auth_method: 'client_secret_jwt' };
const NOT_HTTPS = ['x', '/page', 'http://app.example/x', 'ftp://app.example/x', 'https://'];
const NO_PAGES = [
  ...[...NOT_HTTPS, 'https://localhost/', 'https://127.0.0.1/', 'https://192.0.2.7/', 'https://me@app.example/'],
  ...['https://github.io/', 'https://github.io./', `https://app.example/${'x'.repeat(2048)}`, 'https://app.example/ x'],
];
const ELSEWHERE = ['https://other.example/', 'https://app.example.other.example/', 'https://notapp.example/'];
const many = (count: number, text: (index: number) => string) => Array.from({ length: count }, (_, i) => text(i));

interface Row {
  /** Accepted, and returned as sent. */
  readonly right?: readonly unknown[];
  /** Accepted, but not returned. */
  readonly ignored?: readonly unknown[];
  readonly wrong?: readonly unknown[];
  /** Error code for an invalid value. A value of the wrong type always gets `invalid_client_metadata`. */
  readonly code?: string;
  /** Other members that a value requires, so that an invalid value is the only problem. */
  readonly next?: (value: unknown) => Body;
}

const FLAG: Row = { right: [true, false] };
const PAGE: Row = {
  right: ['https://app.example/page', 'https://www.app.example/?x=1'],
  wrong: [...NO_PAGES, ...ELSEWHERE],
};
const SIGNED: Row = { right: ['RS256', 'ES256', 'EdDSA'], wrong: ['none', 'HS256', 'ES512', 'rs256', ''] };
const NOT_OFFERED: Row = { wrong: ['RSA-OAEP', 'A128GCM', ''] };
const SHOWN: Row = {
  right: ['App', 'x'.repeat(255), '\u{1F600}'.repeat(255)],
  wrong: ['', 'x'.repeat(256), 'a\nb', 'a\u202eb', 'a\u2066b'],
};

const ROWS: Readonly<Record<string, Row>> = {
  application_type: { right: ['web', 'native'], wrong: ['service', 'WEB', ''] },
  authorization_encrypted_response_alg: NOT_OFFERED,
  authorization_encrypted_response_enc: NOT_OFFERED,
  authorization_signed_response_alg: SIGNED,
  backchannel_logout_session_required: FLAG,
  backchannel_logout_uri: {
    right: ['https://app.example/out'],
    wrong: [...NO_PAGES, ...ELSEWHERE, 'https://app.example/out#part'],
  },
  client_name: SHOWN,
  client_uri: { right: ['https://app.example/', 'https://app.example/about'], wrong: NO_PAGES },
  contacts: {
    right: [[], ['ops@app.example'], many(10, (i) => `${i}`.padEnd(254, 'x'))],
    wrong: [many(11, (i) => `${i}`), ['x'.repeat(255)], [''], ['a\nb']],
  },
  default_acr_values: {
    right: [['urn:latchkey:acr:1'], many(20, (i) => `${i}`.padEnd(255, 'x'))],
    wrong: [many(21, (i) => `${i}`), ['x'.repeat(256)]],
  },
  default_max_age: { right: [0, 2_147_483_647], wrong: [-1, 1.5, 2_147_483_648] },
  dpop_bound_access_tokens: FLAG,
  frontchannel_logout_session_required: { ignored: [false], wrong: [true] },
  grant_types: {
    right: [['authorization_code'], ['authorization_code', 'refresh_token', 'client_credentials']],
    wrong: [[], ['implicit'], ['password', 'x'], ['Authorization_code']],
  },
  id_token_encrypted_response_alg: NOT_OFFERED,
  id_token_encrypted_response_enc: NOT_OFFERED,
  id_token_signed_response_alg: SIGNED,
  initiate_login_uri: PAGE,
  introspection_encrypted_response_alg: NOT_OFFERED,
  introspection_encrypted_response_enc: NOT_OFFERED,
  introspection_signed_response_alg: SIGNED,
  jwks: {
    right: [KEYS.jwks, { keys: [] }, { keys: many(20, (i) => `${i}`).map((kid) => ({ ...key, kid })) }],
    wrong: [
      {},
      { keys: 'x' },
      { keys: ['x'] },
      { keys: many(21, (i) => `${i}`).map((kid) => ({ ...key, kid })) },
      { keys: many(2, () => 'same').map((kid) => ({ ...key, kid })) },
      { keys: [keyPair.privateKey.export({ format: 'jwk' })] },
      { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] },
      { keys: [{ ...key, x: 'AA' }] },
    ],
  },
  jwks_uri: { right: ['https://keys.example/set.json'], wrong: NO_PAGES },
  logo_uri: PAGE,
  policy_uri: PAGE,
  post_logout_redirect_uris: {
    right: [[], ['https://app.example/bye'], many(20, (i) => `https://app.example/${i}`)],
    wrong: [['http://app.example/'], ['https://other.example/'], ['x'], many(21, (i) => `https://app.example/${i}`)],
  },
  profile: { right: ['fapi2'], wrong: ['fapi1', 'FAPI2', ''], next: () => SIGNING },
  redirect_uris: {
    right: [[CALLBACK], ['https://www.app.example/cb?keep=1'], many(20, (i) => `https://app.example/${i}`)],
    wrong: [
      [],
      ['http://app.example/cb'],
      ['https://other.example/cb'],
      ['x'],
      many(21, (i) => `https://app.example/${i}`),
    ],
    code: 'invalid_redirect_uri',
  },
  request_object_encryption_alg: NOT_OFFERED,
  request_object_encryption_enc: NOT_OFFERED,
  request_object_signing_alg: { right: ['ES256'], wrong: ['none', 'HS256', 'x', ''], next: () => KEYS },
  request_uris: { ignored: [[], ['https://app.example/request']] },
  require_auth_time: FLAG,
  require_pushed_authorization_requests: FLAG,
  require_signed_request_object: { ...FLAG, next: () => KEYS },
  response_types: { right: [[], ['code']], wrong: [['id_token'], ['token', 'x']] },
  scope: {
    right: ['openid profile', many(50, (i) => `${i}`).join(' ')],
    wrong: ['"', 'a\u00e9', many(51, (i) => `${i}`).join(' '), 'x'.repeat(2049)],
  },
  // sector-identifier.test.ts covers URIs that return a list of redirect URIs.
  sector_identifier_uri: { wrong: [...NO_PAGES, 'https://nobody.invalid/sector.json'] },
  software_id: SHOWN,
  // A well-formed JWT gets a different code, see client-registration.test.ts.
  software_statement: { wrong: ['x', '', 'a.b'], code: 'invalid_software_statement' },
  software_version: SHOWN,
  subject_type: { right: ['public', 'pairwise'], wrong: ['other', 'public pairwise', ''] },
  tls_client_certificate_bound_access_tokens: { ignored: [false], wrong: [true] },
  token_endpoint_auth_method: {
    right: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    wrong: ['tls_client_auth', 'self_signed_tls_client_auth', 'x', ''],
    next: (value) => {
      if (value === 'private_key_jwt') return { ...KEYS, token_endpoint_auth_signing_alg: 'ES256' };
      return value === 'client_secret_jwt' ? { token_endpoint_auth_signing_alg: 'HS256' } : {};
    },
  },
  token_endpoint_auth_signing_alg: {
    right: ['HS256', 'HS384', 'HS512', 'ES256'],
    wrong: ['none', 'RS256', 'x', ''],
    next: (value) => (value === 'ES256' ? SIGNING : WITH_MAC),
  },
  tos_uri: PAGE,
  userinfo_encrypted_response_alg: NOT_OFFERED,
  userinfo_encrypted_response_enc: NOT_OFFERED,
  userinfo_signed_response_alg: SIGNED,
};
const REQUIRED = ['client_uri', 'redirect_uris'];

const service = await sharedByTests(startService(HIGH_LIMIT));

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function send(method: string, path: string, body: string | Body, token?: string): Promise<TestResponse> {
  const response = await fetch(`${service.address}/oauth2/registration${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const responded: Record<string, unknown> = JSON.parse(await response.text());
  return { status: response.status, body: responded };
}

/** How a new registration or a replacement is sent, and the status of success. */
interface Sending {
  readonly accepted: number;
  /** Additional members of the body. */
  readonly own: Body;
  send(body: string | Body): Promise<TestResponse>;
}

const registering: Sending = { accepted: 201, own: {}, send: async (body) => await send('POST', '', body) };

async function replacing(): Promise<Sending> {
  const { body } = await send('POST', '', BODY);
  const { client_id, registration_access_token: token } = body;
  return {
    accepted: 200,
    own: { client_id },
    send: async (members) => await send('PUT', `/${String(client_id)}`, members, String(token)),
  };
}

const WAYS: [string, () => Promise<Sending>][] = [
  ['POST', async () => registering],
  ['PUT', replacing],
];

/** Returns values of every JSON type except the sample's. */
function otherTypes(sample: unknown): unknown[] {
  const values = [7, true, 'x', { x: 'x' }];
  if (Array.isArray(sample)) return [...values, [7], [null], ['x', ['x']]];
  return [...values.filter((value) => typeof value !== typeof sample), ['x']];
}

function sampleOf({ right, ignored, wrong }: Row): unknown {
  return (right ?? ignored ?? wrong)?.[0];
}

/** Names that the code reads from a registration. Names with language variants are listed separately. */
async function readNames(): Promise<{ all: string[]; localized: string[] }> {
  const spies = (['get', 'text', 'flag', 'seconds', 'strings', 'choice', 'shown'] as const).map((name) =>
    vi.spyOn(MetadataMembers.prototype, name),
  );
  const localized = vi.spyOn(MetadataMembers.prototype, 'localized');
  try {
    expect((await registering.send(BODY)).status).toBe(201);
    const names = (spy: { readonly mock: { readonly calls: readonly (readonly unknown[])[] } }) =>
      spy.mock.calls.map(([name]) => String(name));
    const inLanguages = [...new Set(names(localized))];
    return { all: [...new Set([...spies.flatMap(names), ...inLanguages])].toSorted(), localized: inLanguages };
  } finally {
    vi.restoreAllMocks();
  }
}

test('every supported member is tested here', async () => {
  expect((await readNames()).all).toEqual(Object.keys(ROWS).toSorted());
});

describe.each(WAYS)('%s', (_method, begin) => {
  test.each(Object.entries(ROWS))('%s: accepts and returns valid values', async (name, { right, ignored, next }) => {
    for (const [values, isDecided] of [[right ?? [], true] as const, [ignored ?? [], false] as const]) {
      for (const value of values) {
        const sending = await begin();
        const response = await sending.send({ ...BODY, ...sending.own, ...next?.(value), [name]: value });
        expect([value, response.status, response.body['error_description']]).toEqual([
          value,
          sending.accepted,
          undefined,
        ]);
        expect(response.body[name]).toEqual(isDecided ? value : undefined);
      }
    }
    const sending = await begin();
    const absent = await sending.send({ ...BODY, ...sending.own, [name]: null });
    expect(absent.status === sending.accepted).toBe(!REQUIRED.includes(name));
  });

  test('rejects wrong values, types and repetitions by name, and changes nothing', async () => {
    const sending = await begin();
    const before = sending.accepted === 200 ? await sending.send({ ...BODY, ...sending.own }) : undefined;
    for (const [name, row] of Object.entries(ROWS)) {
      const wrong = (row.wrong ?? []).map((value) => [value, row.code ?? 'invalid_client_metadata'] as const);
      const types = otherTypes(sampleOf(row)).map((value) => [value, 'invalid_client_metadata'] as const);
      for (const [value, code] of [...wrong, ...types]) {
        const response = await sending.send({ ...BODY, ...sending.own, ...row.next?.(value), [name]: value });
        expect([name, value, response.status, response.body['error']]).toEqual([name, value, 400, code]);
        expect(response.body['error_description']).toContain(name);
      }
      const { [name]: own = sampleOf(row), ...others }: Body = { ...BODY, ...sending.own };
      const member = `${JSON.stringify(name)}:${JSON.stringify(own)}`;
      const twice = JSON.stringify({ ...others }).replace(/^\{/, `{${member},${member},`);
      const response = await sending.send(twice);
      expect([name, response.status, response.body['error']]).toEqual([name, 400, 'invalid_request']);
    }
    if (before !== undefined) expect(await sending.send({ ...BODY, ...sending.own })).toEqual(before);
  });

  test('keeps and validates each language variant like its member, and allows none for other members', async () => {
    const { localized } = await readNames();
    expect(localized.toSorted()).toEqual(['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri']);
    for (const [name, row] of Object.entries(ROWS)) {
      const sending = await begin();
      const right = sampleOf({ right: row.right ?? [] }) ?? sampleOf(row);
      const base = { ...BODY, ...sending.own, ...row.next?.(right) };
      if (!localized.includes(name)) {
        const own = row.right === undefined ? {} : { [name]: right };
        const response = await sending.send({ ...base, ...own, [`${name}#de`]: 'x' });
        expect([name, response.status, response.body[`${name}#de`]]).toEqual([name, sending.accepted, undefined]);
        continue;
      }
      const variants = Object.fromEntries(many(50, (i) => `${name}#x-${i}`).map((member) => [member, right]));
      const kept = await sending.send({ ...base, [name]: right, [`${name}#zh-Hant-TW`]: right });
      expect([name, kept.status, kept.body[`${name}#zh-Hant-TW`]]).toEqual([name, sending.accepted, right]);
      expect((await sending.send({ ...base, [name]: right, ...variants })).status).toBe(sending.accepted);
      const { [name]: _, ...without }: Body = base;
      const refused: Body[] = [
        { ...without, [`${name}#de`]: right },
        { ...base, [name]: right, [`${name}#de`]: right, [`${name}#DE`]: right },
        ...['', 'd e', '__proto__', 'de_DE', 'x'.repeat(9)].map((tag) => ({
          ...{ ...base, [name]: right },
          [`${name}#${tag}`]: right,
        })),
        { ...base, [name]: right, ...variants, [`${name}#de`]: right },
        ...[...(row.wrong ?? []), 7, true, {}, ['x']].map((value) => ({
          ...base,
          [name]: right,
          [`${name}#de`]: value,
        })),
      ];
      for (const body of refused) {
        const response = await sending.send(body);
        expect([body, response.status, response.body['error']]).toEqual([body, 400, 'invalid_client_metadata']);
        expect(response.body['error_description']).toContain(name);
      }
    }
  });

  test('refuses clients that pass for the admin area (S-196)', async () => {
    const sending = await begin();
    const base = { ...BODY, ...sending.own };
    const named = await sending.send({ ...base, client_name: 'App', 'client_name#de': 'LATCHKEY-administrati\u03bfn' });
    expect([named.status, named.body['error']]).toEqual([400, 'invalid_client_metadata']);
    const { publicBase } = service.core.config.http;
    const redirect_uris = [CALLBACK, `${publicBase}admin/callback`];
    const reached = await sending.send({ ...base, redirect_uris });
    expect([reached.status, reached.body['error']]).toEqual([400, 'invalid_redirect_uri']);
  });

  test('ignores and drops unknown members', async () => {
    const sending = await begin();
    const unknown = { x: 1, X_y: [{}], client_name_: 'x', ['__proto__']: 'x', constructor: 'x', first_party: true };
    const response = await sending.send({ ...BODY, ...sending.own, ...unknown });
    expect(response.status).toBe(sending.accepted);
    expect(Object.keys(response.body).filter((name) => Object.hasOwn(unknown, name))).toEqual([]);
  });
});
