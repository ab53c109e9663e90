import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { type HttpsPeer, loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { type ServiceOptions, startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const RESOURCE_SERVER = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const SECRET = 'the secret of the resource server';
const CALLBACK = 'http://127.0.0.1/callback';
/** A native app listens on any free port (RFC 8252 7.3). */
const LISTENING_AT = 'http://127.0.0.1:51004/callback';

const clock = new FakeClock();
let peer: HttpsPeer;
let service: TestService;
/** What the publisher answers, and how often it was asked. */
let answer: { status: number; headers: Record<string, string>; body: (url: string) => string };
let asked = 0;

const documentOf = (url: string, more: object = {}): string =>
  JSON.stringify({
    client_id: url,
    client_name: 'Harbour',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...more,
  });

function publish(more: object = {}, headers: Record<string, string> = {}): void {
  answer = { status: 200, headers, body: (url) => documentOf(url, more) };
}

async function start(settings: object = {}, options: ServiceOptions = {}): Promise<TestService> {
  return await startService(
    {
      oauth: { client_id_metadata_documents: { enabled: true } },
      clients: [
        {
          client_id: RESOURCE_SERVER,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          redirect_uris: ['https://rs.example.org/callback'],
        },
      ],
      rate_limiting: { client_registration: { per_ip: { burst: 1000, per_second: 10 } } },
      ...settings,
    },
    { clock, outbound: loopbackOutbound([peer], { clock }), ...options },
  );
}

beforeAll(async () => {
  peer = await startHttpsPeer((request, response) => {
    asked += 1;
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body(`${peer.origin}${request.url}`));
  });
  service = await start();
  await service.registerUser('amira', PASSWORD);
});
beforeEach(() => {
  publish();
  asked = 0;
});
afterAll(async () => {
  await service.stop();
  await peer.stop();
});

let documents = 0;

/** The address of a document that nobody has asked for. */
function newClient(): string {
  documents += 1;
  return `${peer.origin}/clients/${documents}.json`;
}

const verifier = randomBytes(32).toString('base64url');

function authorizeUrl(clientId: string, fields: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: LISTENING_AT,
    response_type: 'code',
    scope: 'openid profile',
    state: 'st',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...fields,
  });
  return `/authorize?${query}`;
}

function newBrowser(at = service): Browser {
  return new Browser({ listener: at.address, publicBase: at.publicBase });
}

/** The consent page, after a sign-in unless the browser has one. */
async function consentPage(
  clientId: string,
  browser = newBrowser(),
  fields: Record<string, string> = {},
): Promise<Browser> {
  const shown = await browser.open(authorizeUrl(clientId, fields));
  if (new URL(shown.url).pathname === '/login') {
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.follow();
  }
  return browser;
}

async function consent(browser: Browser): Promise<string> {
  const shown = await browser.submit({ action: 'consent' }, { action: '/authorize' });
  return new URL(shown.location ?? '').searchParams.get('code') ?? '';
}

async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(service.address + path, { method: 'POST', body: new URLSearchParams(fields), headers });
  const body: Record<string, unknown> = await response.json();
  return { status: response.status, body };
}

async function redeem(clientId: string, code: string) {
  const fields = { grant_type: 'authorization_code', code, redirect_uri: LISTENING_AT, code_verifier: verifier };
  return await post('/oauth2/token', { ...fields, client_id: clientId });
}

async function introspect(token: unknown) {
  const authorization = `Basic ${Buffer.from(`${RESOURCE_SERVER}:${encodeURIComponent(SECRET)}`).toString('base64')}`;
  return (await post('/oauth2/introspect', { token: String(token) }, { authorization })).body;
}

async function signIn(clientId: string, browser?: Browser) {
  const page = await consentPage(clientId, browser);
  return (await redeem(clientId, await consent(page))).body;
}

function claimsOf(jwt: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString());
}

/** What an authorization request gets that is refused by a page. */
async function refused(clientId: string, fields: Record<string, string> = {}) {
  const before = service.logLines().length;
  const shown = await newBrowser().get(authorizeUrl(clientId, fields));
  const line = service
    .logLines()
    .slice(before)
    .find((text) => text.includes('auth.refused'));
  return { status: shown.status, body: shown.body, line: line ?? '' };
}

describe('a client that is named by the address of its metadata document', () => {
  test('signs a user in, and finds its address in tokens and at introspection', async () => {
    const clientId = newClient();
    const tokens = await signIn(clientId);
    expect(claimsOf(tokens['id_token'])).toMatchObject({ aud: clientId });
    expect(await introspect(tokens['access_token'])).toMatchObject({
      active: true,
      client_id: clientId,
      aud: [clientId],
    });
    const refreshed = await post('/oauth2/token', {
      grant_type: 'refresh_token',
      refresh_token: String(tokens['refresh_token']),
      client_id: clientId,
    });
    expect(refreshed.status).toBe(200);
    expect(await introspect(refreshed.body['access_token'])).toMatchObject({ client_id: clientId });
    expect(asked).toBe(1);
  });

  test('tokens and sessions go on without its document, and nothing but a new request asks for it', async () => {
    const clientId = newClient();
    const tokens = await signIn(clientId);
    answer = { ...answer, status: 404 };
    clock.advanceSeconds(30 * 3600);
    asked = 0;
    const refreshed = await post('/oauth2/token', {
      grant_type: 'refresh_token',
      refresh_token: String(tokens['refresh_token']),
      client_id: clientId,
    });
    expect(refreshed.status).toBe(200);
    expect(await introspect(refreshed.body['access_token'])).toMatchObject({ active: true });
    const userinfo = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${String(refreshed.body['access_token'])}` },
    });
    expect(userinfo.status).toBe(200);
    expect(asked).toBe(0);
    expect(await refused(clientId)).toMatchObject({ status: 400 });
    expect(asked).toBe(1);
  });

  test('the consent page and the sign-in page name the host of the address, and warn of local programs', async () => {
    publish({ client_name: 'Bank of Elsewhere' });
    const clientId = newClient();
    const browser = newBrowser();
    const login = await browser.open(authorizeUrl(clientId));
    expect(login.body).toContain(`<bdi class="name">${new URL(peer.origin).host}</bdi>`);
    expect(login.body).not.toContain('Bank of Elsewhere');
    const { shown } = await consentPage(clientId, browser);
    expect(shown.body).toContain('Bank of Elsewhere');
    expect(shown.body).toContain(`Published by</span><span><bdi class="name">${new URL(peer.origin).host}</bdi>`);
    expect(shown.body).toContain('This application describes itself at');
    expect(shown.body).toContain('a program on this device');
    publish({ redirect_uris: [`${peer.origin}/callback`, CALLBACK], application_type: 'native' });
    const other = await consentPage(newClient(), browser);
    expect(other.shown.body).not.toContain('a program on this device');
  });

  test('pushes requests and starts on devices', async () => {
    publish({ grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] });
    const clientId = newClient();
    expect(await post('/oauth2/device', { client_id: clientId, scope: 'openid' })).toMatchObject({ status: 200 });
    const pushed = newClient();
    const fields = Object.fromEntries(new URL(authorizeUrl(pushed), peer.origin).searchParams);
    expect(await post('/oauth2/par', fields)).toMatchObject({ status: 201 });
    answer = { ...answer, status: 500 };
    const refusal = await post('/oauth2/par', { ...fields, client_id: newClient() });
    expect(refusal).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('its id inside is not a second name', async () => {
    const clientId = newClient();
    await signIn(clientId);
    const line = service.logLines().find((text) => text.includes('client.document_read') && text.includes(clientId));
    const id = / id=(\w{26})/.exec(line ?? '')?.[1] ?? '';
    expect(id).toMatch(/^[0-7]\w{25}$/);
    expect(await refused(id)).toMatchObject({ status: 400 });
    const code = await consent(await consentPage(clientId));
    expect(await redeem(id, code)).toMatchObject({ status: 401 });
  });
});

describe('a document', () => {
  test('is read once while it is fresh, by the lifetime that its host gives it', async () => {
    publish({}, { 'cache-control': 'max-age=1800' });
    const clientId = newClient();
    const browser = await consentPage(clientId);
    clock.advanceSeconds(1700);
    await consentPage(clientId, browser);
    expect(asked).toBe(1);
    clock.advanceSeconds(200);
    await consentPage(clientId, browser);
    expect(asked).toBe(2);
    // Nothing has changed in it, so the client has not either.
    expect(
      service.logLines().filter((line) => line.includes('client.document_read') && line.includes(clientId)),
    ).toHaveLength(1);
  });

  test('that changes counts from then on, and ends what a user allowed an application that looked different', async () => {
    const callback = { redirect_uri: `${peer.origin}/callback` };
    publish({ redirect_uris: [callback.redirect_uri] });
    const clientId = newClient();
    const browser = newBrowser();
    await consentPage(clientId, browser, callback);
    expect(await consent(browser)).not.toBe('');
    const again = await browser.get(authorizeUrl(clientId, callback));
    expect(again.location).toContain('code=');
    publish({ redirect_uris: [callback.redirect_uri], client_name: 'Another name' });
    clock.advanceSeconds(3600);
    await consentPage(clientId, browser, callback);
    expect(browser.shown.body).toContain('Another name');
    publish();
    clock.advanceSeconds(3600);
    const line = expect.stringContaining('redirect_uri must be one of those registered');
    expect(await refused(clientId, callback)).toMatchObject({ status: 400, line });
  });

  test('that cannot be had serves for a day as it was', async () => {
    const clientId = newClient();
    const browser = await consentPage(clientId);
    answer = { ...answer, status: 503 };
    clock.advanceSeconds(12 * 3600);
    await consentPage(clientId, browser);
    expect(browser.shown.body).toContain('Harbour');
    expect(asked).toBe(2);
    clock.advanceSeconds(30);
    await consentPage(clientId, browser);
    expect(asked).toBe(2);
    clock.advanceSeconds(13 * 3600);
    const refusal = await refused(clientId);
    expect(refusal.line).toContain('reason="fetch failed: status"');
    expect(refusal.status).toBe(400);
  });

  test('is known to every instance, and after a restart', async () => {
    const clientId = newClient();
    await consentPage(clientId);
    const other = await start({}, { like: service });
    try {
      answer = { ...answer, status: 500 };
      const shown = await newBrowser(other).open(authorizeUrl(clientId));
      expect(new URL(shown.url).pathname).toBe('/login');
      expect(asked).toBe(1);
    } finally {
      await other.stop();
    }
  });
});

describe('refused', () => {
  test.each([
    ['client_id is another address', (url: string) => documentOf(`${url}?`), 'client_id in the document'],
    ['there is no client_id', () => JSON.stringify({ redirect_uris: [CALLBACK] }), 'received=undefined'],
    ['it is a list', () => '[]', 'not a JSON object'],
    ['it is no JSON', () => '<html>', 'not a JSON object'],
    [
      'it is too large',
      (url: string) => documentOf(url, { contacts: ['x'.repeat(17_000)] }),
      'fetch failed: too-large',
    ],
    ['it has a secret', (url: string) => documentOf(url, { client_secret: 'x' }), 'client_secret'],
    [
      'its method needs a secret',
      (url: string) => documentOf(url, { token_endpoint_auth_method: 'client_secret_post' }),
      'token_endpoint_auth_method',
    ],
    [
      'it shows a private key',
      (url: string) => documentOf(url, { jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'eA', d: 'eA' }] } }),
      'jwks',
    ],
    [
      'it has an address on another host',
      (url: string) => documentOf(url, { redirect_uris: ['https://victim.example.org/callback'] }),
      'policy.data.client_registration.allow_host_mismatch',
    ],
  ])('a document, when %s', async (_, body, reason) => {
    answer = { ...answer, body };
    const refusal = await refused(newClient());
    expect(refusal.status).toBe(400);
    expect(refusal.line).toContain(reason);
  });

  test('an address that is not in the document', async () => {
    const refusal = await refused(newClient(), { redirect_uri: 'https://victim.example.org/callback' });
    expect(refusal).toMatchObject({ status: 400, line: expect.stringContaining('redirect_uri') });
  });

  test('a redirect and another content type', async () => {
    answer = { ...answer, status: 302, headers: { location: `${peer.origin}/clients/1.json` } };
    expect((await refused(newClient())).line).toContain('fetch failed: redirect');
    publish({}, { 'content-type': 'text/html' });
    expect((await refused(newClient())).line).toContain('received=text/html');
  });

  test.each([
    ['http', 'http://peer.example/client'],
    ['no path', 'https://peer.example'],
    ['a fragment', 'https://peer.example/client#x'],
    ['user information', 'https://user@peer.example/client'],
    ['dot segments', 'https://peer.example/a/../client'],
    ['hidden dot segments', 'https://peer.example/a/%2e%2e/client'],
    ['an IP address', 'https://127.0.0.1/client'],
    ['an IPv6 address', 'https://[::1]/client'],
    ['an IP address in one number', 'https://2130706433/client'],
    ['capitals in the host', 'https://PEER.example/client'],
    ['too many characters', `https://peer.example/${'x'.repeat(600)}`],
  ])('an address with %s, without a request', async (_, clientId) => {
    expect((await refused(clientId)).status).toBe(400);
    expect(asked).toBe(0);
  });

  test('an address that gave nothing is left alone for a minute, and strangers hear nothing of its host', async () => {
    const clientId = newClient();
    answer = { ...answer, status: 500 };
    const first = await refused(clientId);
    answer = { ...answer, status: 200, body: () => 'internal' };
    const other = await refused(newClient());
    const text = (page: string) => /<main[\s\S]*<\/main>/.exec(page)?.[0].replace(/GET-\d+/, 'GET');
    expect(text(first.body)).toBe(text(other.body));
    publish();
    expect((await refused(clientId)).status).toBe(400);
    expect(asked).toBe(2);
    clock.advanceSeconds(60);
    await consentPage(clientId);
    expect(asked).toBe(3);
  });
});

test('private addresses are not asked', async () => {
  const guarded = loopbackOutbound([peer], { clock, allowedNetworks: [] });
  const strict = await start({}, { outbound: guarded });
  try {
    const shown = await newBrowser(strict).get(authorizeUrl(newClient()));
    expect(shown.status).toBe(400);
    expect(strict.logLines().join('\n')).toContain('fetch failed: address');
    expect(asked).toBe(0);
  } finally {
    await strict.stop();
  }
});

test('each fetch counts as a registration of the address that caused it', async () => {
  const limited = await start({ rate_limiting: { client_registration: { per_ip: { burst: 2, per_second: 0.001 } } } });
  try {
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      statuses.push((await newBrowser(limited).get(authorizeUrl(newClient()))).status);
    }
    expect(statuses).toEqual([303, 303, 429, 429]);
    expect(asked).toBe(2);
  } finally {
    await limited.stop();
  }
});

test('hosts may be listed, and nothing is fetched while it is off', async () => {
  const settings = { enabled: true, allowed_hosts: ['apps.example.org', '*.peer.example'] };
  const listed = await start({ oauth: { client_id_metadata_documents: settings } });
  const off = await start({ oauth: {} });
  try {
    const ask = async (at: TestService, url: string) => (await newBrowser(at).get(authorizeUrl(url))).status;
    expect(await ask(listed, newClient())).toBe(400);
    expect(listed.logLines().join('\n')).toContain('setting=oauth.client_id_metadata_documents.allowed_hosts');
    expect(asked).toBe(0);
    expect(await ask(listed, newClient().replace('peer.example', 'a.peer.example'))).toBe(400);
    expect(asked).toBe(1);
    expect(await ask(off, newClient())).toBe(400);
    expect(off.logLines().join('\n')).toContain('setting=oauth.client_id_metadata_documents.enabled');
    expect(asked).toBe(1);
    const metadata = async (at: TestService) =>
      await (await fetch(`${at.address}/.well-known/oauth-authorization-server`)).json();
    expect(await metadata(listed)).toMatchObject({ client_id_metadata_document_supported: true });
    expect(await metadata(off)).not.toHaveProperty('client_id_metadata_document_supported');
  } finally {
    await listed.stop();
    await off.stop();
  }
});
