import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '#test/support/fake-clock.ts';
import { loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import {
  authorizeUrl,
  CALLBACK,
  claimsOf,
  consent,
  documentOf,
  newBrowser,
  openConsent,
  PASSWORD,
  type Publisher,
  post,
  redeem,
  signInAt,
  startPublisher,
  USERNAME,
} from '#test/support/published-clients.ts';
import { type ServiceOptions, startService, type TestService } from '#test/support/service.ts';

const RESOURCE_SERVER = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const SECRET = 'the secret of the resource server';

const clock = new FakeClock();
let publisher: Publisher;
let service: TestService;

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
    { clock, outbound: loopbackOutbound([publisher.peer], { clock }), ...options },
  );
}

beforeAll(async () => {
  publisher = await startPublisher();
  service = await start();
  await service.registerUser(USERNAME, PASSWORD);
});
beforeEach(() => {
  publisher.publish();
  publisher.asked = 0;
});
afterAll(async () => {
  await service.stop();
  await publisher.peer.stop();
});

async function refresh(clientId: string, tokens: Readonly<Record<string, unknown>>) {
  const fields = { grant_type: 'refresh_token', refresh_token: String(tokens['refresh_token']), client_id: clientId };
  return await post(service, '/oauth2/token', fields);
}

async function introspect(token: unknown) {
  const authorization = `Basic ${Buffer.from(`${RESOURCE_SERVER}:${encodeURIComponent(SECRET)}`).toString('base64')}`;
  return (await post(service, '/oauth2/introspect', { token: String(token) }, { authorization })).body;
}

/** Returns the error page and the log line of a rejected authorization request. */
async function refused(clientId: string, fields: Record<string, string> = {}) {
  const before = service.logLines().length;
  const page = await newBrowser(service).get(authorizeUrl(clientId, fields));
  const line = service
    .logLines()
    .slice(before)
    .find((text) => text.includes('auth.refused'));
  return { status: page.status, body: page.body, line: line ?? '' };
}

describe('a client identified by its metadata document URL', () => {
  test('signs a user in, and has its URL in tokens and introspection', async () => {
    const clientId = publisher.newClient();
    const tokens = await signInAt(service, clientId);
    expect(claimsOf(tokens['id_token'])).toMatchObject({ aud: clientId });
    expect(await introspect(tokens['access_token'])).toMatchObject({
      active: true,
      client_id: clientId,
      aud: [clientId],
    });
    const refreshed = await refresh(clientId, tokens);
    expect(refreshed.status).toBe(200);
    expect(await introspect(refreshed.body['access_token'])).toMatchObject({ client_id: clientId });
    expect(publisher.asked).toBe(1);
  });

  test('keeps its tokens and sessions without its document, which only new requests fetch', async () => {
    const clientId = publisher.newClient();
    const tokens = await signInAt(service, clientId);
    publisher.answer = { ...publisher.answer, status: 404 };
    clock.advanceSeconds(30 * 3600);
    publisher.asked = 0;
    const refreshed = await refresh(clientId, tokens);
    expect(refreshed.status).toBe(200);
    expect(await introspect(refreshed.body['access_token'])).toMatchObject({ active: true });
    const userinfo = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${String(refreshed.body['access_token'])}` },
    });
    expect(userinfo.status).toBe(200);
    expect(publisher.asked).toBe(0);
    expect(await refused(clientId)).toMatchObject({ status: 400 });
    expect(publisher.asked).toBe(1);
  });

  test("is shown by the URL's host on the consent and sign-in pages, with a warning for local programs", async () => {
    publisher.publish({ client_name: 'Bank of Elsewhere' });
    const clientId = publisher.newClient();
    const browser = newBrowser(service);
    const login = await browser.open(authorizeUrl(clientId));
    expect(login.body).toContain(`<bdi class="name">${new URL(publisher.peer.origin).host}</bdi>`);
    expect(login.body).not.toContain('Bank of Elsewhere');
    const { page: shown } = await openConsent(browser, clientId);
    expect(shown.body).toContain('Bank of Elsewhere');
    expect(shown.body).toContain(
      `Published by</span><span><bdi class="name">${new URL(publisher.peer.origin).host}</bdi>`,
    );
    expect(shown.body).toContain('The information about this app comes from');
    expect(shown.body).toContain('an app on this device');
    publisher.publish({ redirect_uris: [`${publisher.peer.origin}/callback`, CALLBACK], application_type: 'native' });
    const other = await openConsent(browser, publisher.newClient());
    expect(other.page.body).not.toContain('an app on this device');
  });

  test('can use pushed requests and the device flow', async () => {
    publisher.publish({ grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] });
    const clientId = publisher.newClient();
    expect(await post(service, '/oauth2/device', { client_id: clientId, scope: 'openid' })).toMatchObject({
      status: 200,
    });
    const pushed = publisher.newClient();
    const fields = Object.fromEntries(new URL(authorizeUrl(pushed), publisher.peer.origin).searchParams);
    expect(await post(service, '/oauth2/par', fields)).toMatchObject({ status: 201 });
    publisher.answer = { ...publisher.answer, status: 500 };
    const refusal = await post(service, '/oauth2/par', { ...fields, client_id: publisher.newClient() });
    expect(refusal).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('cannot be addressed by its internal ID', async () => {
    const clientId = publisher.newClient();
    await signInAt(service, clientId);
    const line = service.logLines().find((text) => text.includes('client.document_read') && text.includes(clientId));
    const id = / id=(\w{26})/.exec(line ?? '')?.[1] ?? '';
    expect(id).toMatch(/^[0-7]\w{25}$/);
    expect(await refused(id)).toMatchObject({ status: 400 });
    const code = await consent(await openConsent(newBrowser(service), clientId));
    expect(await redeem(service, id, code)).toMatchObject({ status: 401 });
  });
});

describe('a client metadata document', () => {
  test('is fetched once while fresh, with the lifetime set by its host', async () => {
    publisher.publish({}, { 'cache-control': 'max-age=1800' });
    const clientId = publisher.newClient();
    const browser = await openConsent(newBrowser(service), clientId);
    clock.advanceSeconds(1700);
    await openConsent(browser, clientId);
    expect(publisher.asked).toBe(1);
    clock.advanceSeconds(200);
    await openConsent(browser, clientId);
    expect(publisher.asked).toBe(2);
    // The document is unchanged, so the client is not updated.
    expect(
      service.logLines().filter((line) => line.includes('client.document_read') && line.includes(clientId)),
    ).toHaveLength(1);
  });

  test('that changes applies from then on, and ends consents given to an application with other display data', async () => {
    const callback = { redirect_uri: `${publisher.peer.origin}/callback` };
    publisher.publish({ redirect_uris: [callback.redirect_uri] });
    const clientId = publisher.newClient();
    const browser = newBrowser(service);
    await openConsent(browser, clientId, callback);
    expect(await consent(browser)).not.toBe('');
    const again = await browser.get(authorizeUrl(clientId, callback));
    expect(again.location).toContain('code=');
    publisher.publish({ redirect_uris: [callback.redirect_uri], client_name: 'Another name' });
    clock.advanceSeconds(3600);
    await openConsent(browser, clientId, callback);
    expect(browser.page.body).toContain('Another name');
    publisher.publish();
    clock.advanceSeconds(3600);
    const line = expect.stringContaining('redirect_uri must exactly match one of the URIs registered');
    expect(await refused(clientId, callback)).toMatchObject({ status: 400, line });
  });

  test('that is unavailable is used for a day in its last version', async () => {
    const clientId = publisher.newClient();
    const browser = await openConsent(newBrowser(service), clientId);
    publisher.answer = { ...publisher.answer, status: 503 };
    clock.advanceSeconds(12 * 3600);
    await openConsent(browser, clientId);
    expect(browser.page.body).toContain('Harbour');
    expect(publisher.asked).toBe(2);
    clock.advanceSeconds(30);
    await openConsent(browser, clientId);
    expect(publisher.asked).toBe(2);
    clock.advanceSeconds(13 * 3600);
    const refusal = await refused(clientId);
    expect(refusal.line).toContain('reason="fetch failed: status"');
    expect(refusal.status).toBe(400);
  });

  test('is shared by all instances, and survives a restart', async () => {
    const clientId = publisher.newClient();
    await openConsent(newBrowser(service), clientId);
    const other = await start({}, { like: service });
    try {
      publisher.answer = { ...publisher.answer, status: 500 };
      const page = await newBrowser(other).open(authorizeUrl(clientId));
      expect(new URL(page.url).pathname).toBe('/login');
      expect(publisher.asked).toBe(1);
    } finally {
      await other.stop();
    }
  });
});

describe('rejections', () => {
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
    [
      'it claims the host of another client',
      (url: string) =>
        documentOf(url, {
          client_uri: 'https://victim.example.org/',
          redirect_uris: ['https://victim.example.org/callback'],
        }),
      'client_uri must have the same host as client_id',
    ],
  ])('a document, when %s', async (_, body, reason) => {
    publisher.answer = { ...publisher.answer, body };
    const refusal = await refused(publisher.newClient());
    expect(refusal.status).toBe(400);
    expect(refusal.line).toContain(reason);
  });

  test('a URL missing in the document', async () => {
    const refusal = await refused(publisher.newClient(), { redirect_uri: 'https://victim.example.org/callback' });
    expect(refusal).toMatchObject({ status: 400, line: expect.stringContaining('redirect_uri') });
  });

  test('a redirect and another content type', async () => {
    publisher.answer = {
      ...publisher.answer,
      status: 302,
      headers: { location: `${publisher.peer.origin}/clients/1.json` },
    };
    expect((await refused(publisher.newClient())).line).toContain('fetch failed: redirect');
    publisher.publish({}, { 'content-type': 'text/html' });
    expect((await refused(publisher.newClient())).line).toContain('received=text/html');
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
  ])('a URL with %s, without a request', async (_, clientId) => {
    expect((await refused(clientId)).status).toBe(400);
    expect(publisher.asked).toBe(0);
  });

  test('a failed URL is not retried for a minute, and strangers learn nothing about its host', async () => {
    const clientId = publisher.newClient();
    publisher.answer = { ...publisher.answer, status: 500 };
    const first = await refused(clientId);
    publisher.answer = { ...publisher.answer, status: 200, body: () => 'internal' };
    const otherId = publisher.newClient();
    const other = await refused(otherId);
    const text = (page: string) => /<main[\s\S]*<\/main>/.exec(page)?.[0].replace(/GET-\d+/, 'GET');
    expect(text(first.body)).toBe(text(other.body));
    publisher.publish();
    for (const again of [clientId, otherId]) expect((await refused(again)).status).toBe(400);
    expect(publisher.asked).toBe(2);
    clock.advanceSeconds(60);
    for (const again of [clientId, otherId]) await openConsent(newBrowser(service), again);
    expect(publisher.asked).toBe(4);
  });
});

test('private addresses are not contacted', async () => {
  const guarded = loopbackOutbound([publisher.peer], { clock, allowedNetworks: [] });
  const strict = await start({}, { outbound: guarded });
  try {
    const page = await newBrowser(strict).get(authorizeUrl(publisher.newClient()));
    expect(page.status).toBe(400);
    expect(strict.logLines().join('\n')).toContain('fetch failed: address');
    expect(publisher.asked).toBe(0);
  } finally {
    await strict.stop();
  }
});

test('each fetch counts as a registration by the address that caused it', async () => {
  const limited = await start({ rate_limiting: { client_registration: { per_ip: { burst: 2, per_second: 0.001 } } } });
  try {
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      statuses.push((await newBrowser(limited).get(authorizeUrl(publisher.newClient()))).status);
    }
    expect(statuses).toEqual([303, 303, 429, 429]);
    expect(publisher.asked).toBe(2);
  } finally {
    await limited.stop();
  }
});

test('a slow host delays at most four requests', async () => {
  const held: (() => void)[] = [];
  const slow = await startHttpsPeer((request, response) => {
    response.setHeader('content-type', 'application/json');
    held.push(() => response.end(documentOf(`${slow.origin}${request.url}`)));
  });
  const outbound = loopbackOutbound([slow], { clock });
  const other = await start({}, { outbound, expectedErrors: [' 503 Service Unavailable '] });
  try {
    const asking = [1, 2, 3, 4, 5, 6].map(async (number) => {
      return (await newBrowser(other).get(authorizeUrl(`${slow.origin}/${number}`))).status;
    });
    expect(await Promise.race(asking)).toBe(503);
    while (held.length < 4) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const release of held) release();
    expect((await Promise.all(asking)).toSorted()).toEqual([303, 303, 303, 303, 503, 503]);
  } finally {
    await other.stop();
    await slow.stop();
  }
});

test('hosts can be allowlisted, and nothing is fetched while the feature is off', async () => {
  const settings = { enabled: true, allowed_hosts: ['apps.example.org', '*.peer.example'] };
  const listed = await start({ oauth: { client_id_metadata_documents: settings } });
  const off = await start({ oauth: {} });
  try {
    const ask = async (at: TestService, url: string) => (await newBrowser(at).get(authorizeUrl(url))).status;
    expect(await ask(listed, publisher.newClient())).toBe(400);
    expect(listed.logLines().join('\n')).toContain('setting=oauth.client_id_metadata_documents.allowed_hosts');
    expect(publisher.asked).toBe(0);
    expect(await ask(listed, publisher.newClient().replace('peer.example', 'a.peer.example'))).toBe(400);
    expect(publisher.asked).toBe(1);
    expect(await ask(off, publisher.newClient())).toBe(400);
    expect(off.logLines().join('\n')).toContain('setting=oauth.client_id_metadata_documents.enabled');
    expect(publisher.asked).toBe(1);
    const metadata = async (at: TestService) =>
      await (await fetch(`${at.address}/.well-known/oauth-authorization-server`)).json();
    expect(await metadata(listed)).toMatchObject({ client_id_metadata_document_supported: true });
    expect(await metadata(off)).not.toHaveProperty('client_id_metadata_document_supported');
  } finally {
    await listed.stop();
    await off.stop();
  }
});
