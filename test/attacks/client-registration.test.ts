/** Security 4.5: attacks on dynamic client registration. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import type { Page } from '../support/browser.ts';
import { expectCleanPage } from '../support/clean-page.ts';
import { attackedService, basic, CHALLENGE, P1, VERIFIER } from './attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

// With the default limits.
const attacked = attackedService({ rate_limiting: {} });

const BODY = {
  client_name: 'Example',
  client_uri: 'https://app.example/',
  redirect_uris: ['https://app.example/cb'],
  token_endpoint_auth_method: 'none',
};

async function send(
  body: string | Buffer,
  type = 'application/json',
  address = attacked.newAddress(),
): Promise<RawResponse> {
  const headers: [string, string][] = [
    ['Content-Type', type],
    ['X-Forwarded-For', address],
  ];
  return await attacked.ask({ method: 'POST', target: '/oauth2/registration', headers, body });
}

async function register(members: object, address?: string): Promise<RawResponse> {
  return await send(JSON.stringify({ ...BODY, ...members }), 'application/json', address);
}

async function expectRefused(members: object, code: string): Promise<void> {
  const response = await attacked.changingNothing(() => register(members));
  expect(`${response.status} ${String(jsonOf(response)['error'])}`, JSON.stringify(members)).toBe(`400 ${code}`);
}

async function registered(members: object) {
  const response = await register(members);
  expect(response.status, response.body).toBe(201);
  const { client_id, client_secret } = jsonOf(response);
  const secret = typeof client_secret === 'string' ? client_secret : undefined;
  if (secret !== undefined) attacked.secrets.add(secret);
  return { id: String(client_id), secret, callback: 'https://app.example/cb' };
}

describe('redirect URIs', () => {
  const NATIVE = [
    ...['http://127.0.0.1/cb', 'http://localhost:3000/cb', 'http://[::1]/cb', 'https://127.0.0.1/cb'],
    ...['com.example:/cb', 'example.app:/cb', 'app.example:/cb'],
  ];

  test.each(NATIVE)('a web application can neither register %s nor use it (S-04)', async (uri) => {
    const own = 'https://app.example/cb';
    // A public client with only loopback redirect URIs counts as native unless its metadata says otherwise.
    if (!uri.startsWith('http:')) await expectRefused({ redirect_uris: [uri] }, 'invalid_redirect_uri');
    await expectRefused({ redirect_uris: [own, uri] }, 'invalid_redirect_uri');
    for (const redirect_uris of [[uri], [own, uri]]) {
      for (const members of [{ application_type: 'web' }, { token_endpoint_auth_method: 'client_secret_basic' }]) {
        await expectRefused({ ...members, redirect_uris }, 'invalid_redirect_uri');
      }
    }
    const web = await registered({ application_type: 'web', client_name: 'Web' });
    for (const client of [P1, web]) {
      await attacked.changingNothing(async () => {
        const page = await attacked.browser().get(attacked.authorizeUrl({ ...client, callback: uri }));
        expect(page).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_redirect_uri'] });
      });
    }
  });

  test('a native application may only register a private scheme of its own website (S-04)', async () => {
    const native = { application_type: 'native' };
    for (const uri of [
      'com.example:/cb',
      'example:/cb',
      'example.app.evil:x',
      'example.evil://app.example/cb',
      'example.application:///cb',
    ]) {
      await expectRefused({ ...native, redirect_uris: [uri] }, 'invalid_redirect_uri');
    }
    expect((await register({ ...native, redirect_uris: ['example.app:/cb', 'http://127.0.0.1/cb'] })).status).toBe(201);
  });

  test.each([
    ...[
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      '\tjavascript:alert(1)',
      'java\tscript:alert(1)',
      '\u0001javascript:x',
    ],
    ...[
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://app.example/x',
      'about:blank',
      'ABOUT:blank',
    ],
  ])('%j is refused for every application type (S-05)', async (uri) => {
    for (const application_type of ['web', 'native']) {
      await expectRefused({ application_type, redirect_uris: [uri] }, 'invalid_redirect_uri');
    }
  });
});

test('a dynamically registered application gains no rights from its own metadata (S-49)', async () => {
  const admin = 'urn:latchkey:admin';
  const client = await registered({
    ...{ token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials', 'authorization_code'] },
    ...{ scope: `openid ${admin} urn:synapse:admin:*`, first_party: true, is_static: true, client_id: P1.id },
  });
  expect(client.id).not.toBe(P1.id);
  const POWERS = [admin, 'urn:mas:admin', 'urn:synapse:admin:*', 'urn:chat:client:api:*', `openid ${admin}`];
  for (const scope of POWERS) {
    await attacked.changingNothing(async () => {
      const response = await attacked.post('/oauth2/token', { grant_type: 'client_credentials', scope }, basic(client));
      expect([response.status, jsonOf(response)['error']], scope).toEqual([400, 'invalid_scope']);
    });
  }
  const { accessToken, refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), P1);
  await attacked.changingNothing(async () => {
    for (const token of [accessToken, refreshToken]) {
      const response = await attacked.post('/oauth2/introspect', { token }, basic(client));
      expect(jsonOf(response)).toEqual({ active: false });
      const revoked = await attacked.post('/oauth2/revoke', { token }, basic(client));
      expect([revoked.status, jsonOf(revoked)['error']]).toEqual([400, 'unauthorized_client']);
    }
  });
});

test('an ordinary user cannot grant such an application more rights than their own (S-49)', async () => {
  const admin = 'urn:latchkey:admin';
  const client = await registered({ client_name: 'Powers', scope: `openid ${admin} urn:synapse:admin:*` });
  for (const scope of [admin, `openid ${admin}`, 'openid urn:synapse:admin:*']) {
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(client, { scope }));
    expect(browser.page, scope).toMatchObject({ status: 403, location: undefined, errorCodes: ['admin-scope'] });
  }
  // A client never receives a scope it is not registered for, even if the user may grant it.
  const plain = await registered({ client_name: 'Plain', scope: 'openid' });
  const browser = await attacked.signedIn('adele');
  await browser.open(attacked.authorizeUrl(plain, { scope: `openid ${admin}` }));
  await browser.submit({ action: 'consent' }, { action: '/authorize' });
  const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
  const response = await attacked.exchange(plain, code, { code_verifier: VERIFIER });
  expect(textMember(response, 'scope')).toBe('openid');
  attacked.secrets.add(textMember(response, 'access_token'));
});

describe('page URLs', () => {
  const HOSTILE = [
    ...['javascript:alert(1)', 'data:text/html,x', 'http://app.example/', 'https://localhost/', 'https://127.0.0.1/'],
    ...['https://[::1]/', 'https://2130706433/', 'https://0x7f.1/', 'https://192.0.2.1/', 'https://me@app.example/'],
    ...[
      'https://github.io/',
      'https://github.io./',
      'https://co.uk/',
      'https://x"onerror=1',
      '//app.example/',
      'x',
      '',
    ],
  ];

  test.each(['client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'initiate_login_uri'])(
    '%s must be a plain https URL on the client’s host (S-50)',
    async (name) => {
      for (const uri of HOSTILE) await expectRefused({ [name]: uri }, 'invalid_client_metadata');
      if (name !== 'client_uri') await expectRefused({ [name]: 'https://evil.example/' }, 'invalid_client_metadata');
    },
  );
});

describe('oversized and malformed bodies (S-51)', () => {
  const wide = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`client_name#a-${index}`, 'x']));

  test.each<[string, string | Buffer, number]>([
    ['1 MB', JSON.stringify({ ...BODY, x: 'x'.repeat(1_000_000) }), 413],
    ['10,000 localized names', JSON.stringify({ ...BODY, ...wide(10_000) }), 413],
    ['as many as the body limit allows', JSON.stringify({ ...BODY, ...wide(2_500) }), 400],
    [
      '100 redirect URIs',
      JSON.stringify({ ...BODY, redirect_uris: Array.from({ length: 100 }, (_, i) => `https://app.example/${i}`) }),
      400,
    ],
    ['500 levels of nesting', `{"x":${'['.repeat(500)}${']'.repeat(500)}}`, 400],
    ['a name of 100 KiB', JSON.stringify({ ...BODY, client_name: 'x'.repeat(102_400) }), 413],
    ['a name of 50 KiB', JSON.stringify({ ...BODY, client_name: 'x'.repeat(51_200) }), 400],
    ['a variant __proto__', JSON.stringify({ ...BODY, 'client_name#__proto__': 'x' }), 400],
    ['a variant constructor', JSON.stringify({ ...BODY, 'client_name#constructor': 'x' }), 400],
    ['a name that is an object', '{"client_name":{"__proto__":{"polluted":true}}}', 400],
    ['a repeated member', `{"client_name":"a",${JSON.stringify(BODY).slice(1)}`, 400],
    ['a list', '[]', 400],
    ['a string', '"x"', 400],
    ['a number', '7', 400],
    ['null', 'null', 400],
    ['nothing', '', 400],
    ['invalid UTF-8', Buffer.from('{"client_name":"\xff"}', 'latin1'), 400],
    ['NUL', '{"client_name":"\\u0000"}', 400],
    ['a high surrogate', '{"client_name":"\\ud800"}', 400],
    ['a low surrogate', '{"client_name":"\\udc00"}', 400],
    ['a lone surrogate as a member name', `{"client_name#\\ud800":"x",${JSON.stringify(BODY).slice(1)}`, 400],
  ])('%s', async (_what, body, status) => {
    const response = await attacked.changingNothing(() => send(body));
    expect(response.status).toBe(status);
    expect(['invalid_request', 'invalid_client_metadata', 'invalid_redirect_uri']).toContain(jsonOf(response)['error']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'sent as %j',
    async (type) => {
      expect((await send(JSON.stringify(BODY), type)).status).toBe(400);
    },
  );

  test('members named __proto__ and constructor do not alter any object', async () => {
    const response = await send(
      `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${JSON.stringify(BODY).slice(1)}`,
    );
    expect(response.status).toBe(201);
    expect(jsonOf(response)).not.toHaveProperty('polluted');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

test('no URL in a registration is ever fetched (S-52)', async () => {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const bound = listener.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  for (const uri of [`http://127.0.0.1:${port}/`, `https://[::ffff:7f00:1]:${port}/`, `https://localhost:${port}/`]) {
    for (const name of ['jwks_uri', 'sector_identifier_uri', 'logo_uri']) {
      await expectRefused({ [name]: uri }, 'invalid_client_metadata');
    }
    expect((await register({ request_uris: [uri] })).status).toBe(201);
  }
  await new Promise((resolve) => listener.close(resolve));
  expect(connections).toBe(0);
});

test('the response reveals neither open and closed ports nor internal host names (S-52)', async () => {
  const listener = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const bound = listener.address();
  const open = bound !== null && typeof bound === 'object' ? bound.port : 0;
  const inside = [`localhost:${open}`, 'localhost:1', `[::ffff:7f00:1]:${open}`, '[::ffff:7f00:1]:1'];
  const names = ['metadata.internal', 'nobody.invalid'];
  for (const [name, hosts] of [
    ['jwks_uri', inside],
    ['logo_uri', inside],
    ['sector_identifier_uri', inside],
    ['sector_identifier_uri', names],
  ] as const) {
    const bodies = new Set<string>();
    for (const host of hosts) {
      const response = await attacked.changingNothing(() => register({ [name]: `https://${host}/` }));
      expect(response.status, `${name} ${host}`).toBe(400);
      bodies.add(response.body);
    }
    expect([...bodies], name).toHaveLength(1);
  }
  await new Promise((resolve) => listener.close(resolve));
});

describe('contradictory metadata', () => {
  test.each<[object]>([
    [{ jwks: { keys: [] }, jwks_uri: 'https://app.example/keys' }],
    [{ grant_types: ['client_credentials'] }],
    [{ grant_types: ['urn:example:unknown'] }],
    [{ grant_types: ['refresh_token'], response_types: ['code'] }],
    [{ grant_types: ['implicit'], response_types: ['token'] }],
    [{ response_types: ['code id_token'] }],
    [{ id_token_signed_response_alg: 'none' }],
    [{ token_endpoint_auth_signing_alg: 'none' }],
    [{ token_endpoint_auth_method: 'private_key_jwt' }],
  ])('%j (S-53)', async (members) => {
    await expectRefused(members, 'invalid_client_metadata');
  });

  test('a private key is refused and neither stored nor logged (S-53)', async () => {
    // Otherwise valid, so that nothing else rejects it.
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    attacked.secrets.add(jwk.d ?? expect.fail('no private key'));
    await expectRefused({ jwks: { keys: [jwk] } }, 'invalid_client_metadata');
    const { d: _, ...open } = jwk;
    expect((await register({ jwks: { keys: [open] } })).status).toBe(201);
  });
});

describe('many registrations from one address (S-54)', () => {
  test('distinct registrations stop at the limit', async () => {
    const address = attacked.newAddress();
    const before = await attacked.count('oauth2_clients');
    const responses: RawResponse[] = [];
    for (let index = 0; index < 100; index += 1)
      responses.push(await register({ client_name: `Many ${index}` }, address));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(90);
    expect(responses.at(-1)?.headers.get('retry-after')).toEqual(['120']);
    expect((await attacked.count('oauth2_clients')) - before).toBe(10);
  });

  test('equal registrations stop at the limit as well, and create one client', async () => {
    const address = attacked.newAddress();
    const before = await attacked.count('oauth2_clients');
    const responses: RawResponse[] = [];
    for (let index = 0; index < 30; index += 1) responses.push(await register({ client_name: 'Again' }, address));
    expect(responses.map(({ status }) => status)).toEqual(responses.map((_, index) => (index < 10 ? 201 : 429)));
    expect(new Set(responses.slice(0, 10).map((response) => jsonOf(response)['client_id'])).size).toBe(1);
    expect((await attacked.count('oauth2_clients')) - before).toBe(1);
  });

  test('equal registrations create one client, whatever their address', async () => {
    const before = await attacked.count('oauth2_clients');
    const responses = await Promise.all(Array.from({ length: 50 }, () => register({ client_name: 'Equal' })));
    expect(new Set(responses.map((response) => jsonOf(response)['client_id'])).size).toBe(1);
    expect((await attacked.count('oauth2_clients')) - before).toBe(1);
  });
});

describe('an application that impersonates another one (S-56)', () => {
  /** A client name and how pages display it. Undefined means that they display the client ID. */
  const POSING: [string, string | undefined][] = [
    ['Latchkey', 'Latchkey'],
    // The service's own name.
    ['auth.example.test', 'auth.example.test'],
    ['Lat\u200bch\u200dkey\u2060\ufeff', 'Latchkey'],
    ['Latch\u00adkey\u034f\u3164', 'Latchkey'],
    ['Latch\u{e0061}\u{e007f}key\ufe0f', 'Latchkey'],
    ['\u200b\u2060\u3164', undefined],
    ['  Latch \u2003\u00a0 key  ', 'Latch key'],
    ['\u{1F600}'.repeat(40), '\u{1F600}'.repeat(40)],
    ['\uff37'.repeat(255), `${'\uff37'.repeat(59)}…`],
    ['שלום Latchkey', 'שלום Latchkey'],
    ['"><svg onload=alert(1)>', '&quot;>&lt;svg onload=alert(1)>'],
  ];
  const UNSEEN = /\p{Default_Ignorable_Code_Point}|[\u2028-\u202e]/u;

  function expectUnmasked({ body, text }: Page, shown: string): void {
    expectCleanPage(body);
    expect(body).toMatch(/<h1>[^<]*<bdi class="name">/);
    expect([...body.matchAll(/<h1>[^<]*<bdi class="name">([^<]*)</g)].map((match) => match[1])).toEqual([shown]);
    const title = /<title>([^<]*)</.exec(body)?.[1] ?? '';
    expect(title.replaceAll('&quot;', '"')).toContain(shown.replaceAll('&quot;', '"'));
    expect(body).not.toMatch(UNSEEN);
    expect(text).toContain('app.example');
    expect(text).toContain('This app registered itself.');
  }

  test.each(POSING)('named %j is shown as unverified, with its host', async (client_name, shown) => {
    const client = await registered({ client_name });
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(client));
    expectUnmasked(browser.page, shown ?? client.id);
  });

  test.each(POSING)('named %j is also shown that way on device pages (S-56)', async (client_name, shown) => {
    const client = await registered({ client_name, grant_types: [DEVICE_CODE_GRANT_TYPE], response_types: [] });
    const codes = jsonOf(await attacked.post('/oauth2/device', { client_id: client.id, scope: 'openid' }));
    const browser = await attacked.signedIn('amira');
    await browser.get('/link');
    await browser.submit({ code: String(codes['user_code']) });
    await browser.follow();
    const { pathname } = new URL(browser.page.url);
    expect(pathname).toMatch(/^\/device\//);
    expectUnmasked(browser.page, shown ?? client.id);
    await browser.submit({ action: 'reject' }, { action: pathname });
    await browser.follow();
    expect(browser.page.body).toContain(`<bdi class="name">${shown ?? client.id}</bdi>`);
    expect(browser.page.body).not.toMatch(UNSEEN);
  });

  test("with a name only in the user's language is also shown as unverified", async () => {
    const names = { client_name: 'Harbour', 'client_name#de': 'Lat\u200bchkey' };
    const client = await registered(names);
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(client, { ui_locales: 'de' }));
    expect(browser.page.body).toContain('<bdi class="name">Latchkey</bdi>');
    expect(browser.page.body).not.toMatch(UNSEEN);
    expect(browser.page.text).toContain('Diese App hat sich selbst registriert.');
  });

  test.each(['a\u202eb', 'a\u2066b', 'a\u0007b', 'a\u2028b'])('%j is not a valid name', async (client_name) => {
    await expectRefused({ client_name }, 'invalid_client_metadata');
  });
});

test('a dynamically registered client redeems a code with its verifier', async () => {
  const client = await registered({ client_name: 'Whole way' });
  const code = await attacked.code(await attacked.signedIn('bruno'), client, { code_challenge: CHALLENGE });
  const response = await attacked.exchange(client, code, { code_verifier: VERIFIER });
  expect(response.status).toBe(200);
  attacked.secrets.add(textMember(response, 'access_token'));
});
