/** Security 4.5: applications that register themselves, attacked. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { attackedService, basic, CHALLENGE, P1, VERIFIER } from './attacked-service.ts';
import { jsonOf, type RawAnswer, textMember } from './raw-http.ts';

// With the limits that the service has without any setting.
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
): Promise<RawAnswer> {
  const headers: [string, string][] = [
    ['Content-Type', type],
    ['X-Forwarded-For', address],
  ];
  return await attacked.ask({ method: 'POST', target: '/oauth2/registration', headers, body });
}

async function register(members: object, address?: string): Promise<RawAnswer> {
  return await send(JSON.stringify({ ...BODY, ...members }), 'application/json', address);
}

async function expectRefused(members: object, code: string): Promise<void> {
  const answer = await attacked.changingNothing(() => register(members));
  expect(`${answer.status} ${String(jsonOf(answer)['error'])}`, JSON.stringify(members)).toBe(`400 ${code}`);
}

async function registered(members: object) {
  const answer = await register(members);
  expect(answer.status, answer.body).toBe(201);
  const { client_id, client_secret } = jsonOf(answer);
  const secret = typeof client_secret === 'string' ? client_secret : undefined;
  if (secret !== undefined) attacked.secrets.add(secret);
  return { id: String(client_id), secret, callback: 'https://app.example/cb' };
}

describe('redirect URIs', () => {
  test.each(['http://127.0.0.1/cb', 'http://localhost:3000/cb', 'com.example:/cb', 'example.app:/cb'])(
    'a web application cannot take %s (S-04)',
    async (uri) => {
      await expectRefused({ redirect_uris: [uri] }, 'invalid_redirect_uri');
      const { location } = (await attacked.browser().get(attacked.authorizeUrl({ ...P1, callback: uri }))) ?? {};
      expect(location).toBeUndefined();
    },
  );

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
  ])('%j is refused for every kind of application (S-05)', async (uri) => {
    for (const application_type of ['web', 'native']) {
      await expectRefused({ application_type, redirect_uris: [uri] }, 'invalid_redirect_uri');
    }
  });
});

test('an application that registered itself gets no rights by what it says of itself (S-49)', async () => {
  const admin = 'urn:latchkey:admin';
  const client = await registered({
    ...{ token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials', 'authorization_code'] },
    ...{ scope: `openid ${admin} urn:synapse:admin:*`, first_party: true, is_static: true, client_id: P1.id },
  });
  expect(client.id).not.toBe(P1.id);
  for (const scope of [admin, 'urn:mas:admin', 'urn:synapse:admin:*']) {
    const answer = await attacked.post('/oauth2/token', { grant_type: 'client_credentials', scope }, basic(client));
    expect(answer.status, scope).toBe(400);
  }
  const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), P1);
  const answer = await attacked.post('/oauth2/introspect', { token: accessToken }, basic(client));
  expect(jsonOf(answer)).toEqual({ active: false });
});

describe('addresses of pages', () => {
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
    '%s is a plain https address of the client’s host (S-50)',
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
    ['10,000 localized names', JSON.stringify({ ...BODY, ...wide(2_500) }), 400],
    [
      '100 redirect URIs',
      JSON.stringify({ ...BODY, redirect_uris: Array.from({ length: 100 }, (_, i) => `https://app.example/${i}`) }),
      400,
    ],
    ['500 levels', `{"x":${'['.repeat(500)}${']'.repeat(500)}}`, 400],
    ['a name of 50 KiB', JSON.stringify({ ...BODY, client_name: 'x'.repeat(51_200) }), 400],
    ['a variant __proto__', JSON.stringify({ ...BODY, 'client_name#__proto__': 'x' }), 400],
    ['a repeated member', `{"client_name":"a",${JSON.stringify(BODY).slice(1)}`, 400],
    ['a list', '[]', 400],
    ['a text', '"x"', 400],
    ['bytes that are no UTF-8', Buffer.from('{"client_name":"\xff"}', 'latin1'), 400],
    ['NUL', '{"client_name":"\\u0000"}', 400],
    ['half a character', '{"client_name":"\\ud800"}', 400],
  ])('%s', async (_what, body, status) => {
    const answer = await attacked.changingNothing(() => send(body));
    expect(answer.status).toBe(status);
    expect(['invalid_request', 'invalid_client_metadata', 'invalid_redirect_uri']).toContain(jsonOf(answer)['error']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'sent as %j',
    async (type) => {
      expect((await send(JSON.stringify(BODY), type)).status).toBe(400);
    },
  );

  test('members named __proto__ and constructor change no object', async () => {
    const answer = await send(
      `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${JSON.stringify(BODY).slice(1)}`,
    );
    expect(answer.status).toBe(201);
    expect(jsonOf(answer)).not.toHaveProperty('polluted');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

test('no address of a registration is ever contacted (S-52)', async () => {
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

describe('contradictions', () => {
  test.each<[object]>([
    [{ jwks: { keys: [] }, jwks_uri: 'https://app.example/keys' }],
    [{ grant_types: ['client_credentials'] }],
    [{ grant_types: ['urn:example:unknown'] }],
    [{ grant_types: ['refresh_token'], response_types: ['code'] }],
    [{ id_token_signed_response_alg: 'none' }],
    [{ token_endpoint_auth_signing_alg: 'none' }],
    [{ token_endpoint_auth_method: 'private_key_jwt' }],
  ])('%j (S-53)', async (members) => {
    await expectRefused(members, 'invalid_client_metadata');
  });

  test('a private key is refused, neither stored nor logged (S-53)', async () => {
    // Good in every other way, so that nothing else refuses it.
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    attacked.secrets.add(jwk.d ?? expect.fail('no private key'));
    await expectRefused({ jwks: { keys: [jwk] } }, 'invalid_client_metadata');
    const { d: _, ...open } = jwk;
    expect((await register({ jwks: { keys: [open] } })).status).toBe(201);
  });
});

describe('many registrations from one address (S-54)', () => {
  test('different ones end at the limit', async () => {
    const address = attacked.newAddress();
    const before = await attacked.count('oauth2_clients');
    const answers: RawAnswer[] = [];
    for (let index = 0; index < 100; index += 1)
      answers.push(await register({ client_name: `Many ${index}` }, address));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90);
    expect(answers.at(-1)?.headers.get('retry-after')).toEqual(['120']);
    expect((await attacked.count('oauth2_clients')) - before).toBe(10);
  });

  test('equal ones are one client, from wherever they come', async () => {
    const before = await attacked.count('oauth2_clients');
    const answers = await Promise.all(Array.from({ length: 50 }, () => register({ client_name: 'Equal' })));
    expect(new Set(answers.map((answer) => jsonOf(answer)['client_id'])).size).toBe(1);
    expect((await attacked.count('oauth2_clients')) - before).toBe(1);
  });
});

describe('an application that poses as another one (S-56)', () => {
  test.each(['Latchkey', 'a\u200bb', '\u{1F600}'.repeat(40), '\uff37'.repeat(255), 'שלום Latchkey'])(
    'called %j is shown as not verified, with its host',
    async (client_name) => {
      const client = await registered({ client_name });
      const browser = await attacked.signedIn('amira');
      await browser.open(attacked.authorizeUrl(client));
      const { text, body } = browser.shown;
      expect(text).toContain('app.example');
      expect(text).toContain('This application registered itself.');
      expect(body).toContain('<bdi class="name">');
    },
  );

  test.each(['a\u202eb', 'a\u2066b', 'a\u0007b', 'a\u2028b'])('%j is not a name', async (client_name) => {
    await expectRefused({ client_name }, 'invalid_client_metadata');
  });
});

test('a client that registered itself redeems a code with its verifier', async () => {
  const client = await registered({ client_name: 'Whole way' });
  const code = await attacked.code(await attacked.signedIn('bruno'), client, { code_challenge: CHALLENGE });
  const answer = await attacked.exchange(client, code, { code_verifier: VERIFIER });
  expect(answer.status).toBe(200);
  attacked.secrets.add(textMember(answer, 'access_token'));
});
