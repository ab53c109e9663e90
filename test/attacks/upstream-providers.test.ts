/** Broken or hostile upstream providers, and repeated responses (security 4.12). */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { refreshMetadataQueue } from '#domain/upstream/refresh-job.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import { Browser } from '../support/browser.ts';
import { sql } from '../support/fixtures.ts';
import { linkAccount } from '../support/link-account.ts';
import { startService, type TestService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { type PeerResponse, startUpstreamPeer } from '../support/upstream-peer.ts';
import { HeldChange } from './held-change.ts';

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const PASSWORD = 'correct horse battery staple';
const DISCOVERY = '/.well-known/openid-configuration';

type Responder = (response: ServerResponse) => void;

function json(value: unknown): Responder {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

/** Sends until the receiver disconnects. */
const endless: Responder = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(65_536, 'x');
  response.write('{"a":"');
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

/** Starts a response and never ends it. */
const slow: Responder = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"a":');
};

const FORM = 'access_token=a&token_type=bearer';
const DEEP = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
/** 256 MiB of spaces in 256 KiB. */
const BOMB = gzipSync(Buffer.alloc(256 * 1024 * 1024, ' '));

/** Discovery documents by issuer. */
const DOCUMENTS: readonly (readonly [string, (issuer: string) => Responder])[] = [
  ['a status of its own', () => (response) => response.writeHead(500).end('{}')],
  ['HTML', () => (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['a list', () => json([])],
  ['nothing', () => json('')],
  ['an endless response', () => endless],
  ['10,000 levels of nesting', () => json(DEEP)],
  ['a gzip bomb', () => (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB)],
  ['a redirect', () => (response) => response.writeHead(302, { location: `${DISCOVERY}?elsewhere` }).end()],
  ['another issuer', (issuer) => json(valid(issuer, { issuer: 'https://accounts.example' }))],
  ['no issuer', (issuer) => json(valid(issuer, { issuer: undefined }))],
  ['an issuer that is a list', (issuer) => json(valid(issuer, { issuer: [issuer] }))],
  ['two issuers', (issuer) => json(JSON.stringify(valid(issuer)).replace('{', '{"issuer":"https://evil.example",'))],
  ['a plain http endpoint', (issuer) => json(valid(issuer, { token_endpoint: 'http://evil.example/token' }))],
  ['a script as endpoint', (issuer) => json(valid(issuer, { authorization_endpoint: 'javascript:alert(1)' }))],
  ['an endpoint with a password', (issuer) => json(valid(issuer, { token_endpoint: 'https://a:b@evil.example/' }))],
  ['no token endpoint', (issuer) => json(valid(issuer, { token_endpoint: undefined }))],
  ['an endpoint from __proto__', (issuer) => json(withPrototype(issuer))],
];

function valid(issuer: string, more: Readonly<Record<string, unknown>> = {}) {
  const { origin } = new URL(issuer);
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/keys`,
    ...more,
  };
}

function withPrototype(issuer: string): string {
  const { token_endpoint, ...rest } = valid(issuer);
  return JSON.stringify(rest).replace('{', `{"__proto__":{"token_endpoint":"${token_endpoint}"},`);
}
let service: TestService;
let second: TestService;
let offset = 0;
const clock = { now: () => Date.now() + offset };

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const settings = {
    rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
    upstream_oauth2: {
      providers: [
        { id: ID, issuer: peer.issuer, ...shared },
        ...DOCUMENTS.map((_, index) => ({ id: idOf(index), issuer: `${peer.issuer}/${index}`, ...shared })),
      ],
    },
  };
  const options = { clock, expectedErrors: [' 502 '] };
  service = await startService(settings, options);
  second = await startService(settings, { ...options, like: service });
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});
afterEach(() => {
  offset = 0;
  peer.handlers.clear();
});

function idOf(index: number): string {
  return `01HZX7T3Q8V3M5N6P7R8S9T1${String(index).padStart(2, '0')}`;
}

function newBrowser(of = service): Browser {
  return new Browser({ listener: of.address, publicBase: of.publicBase });
}

async function signIn(response?: PeerResponse, browser = newBrowser()) {
  await browser.get(`/upstream/authorize/${ID}`);
  return await browser.get(peer.signIn(browser.page.location ?? '', response));
}

let users = 0;

async function linkedUser(): Promise<{ name: string; sub: string; uuid: string }> {
  users += 1;
  const name = `person${users}`;
  const userId = await service.registerUser(name, PASSWORD);
  await linkAccount(service.database, { providerId: ID, userId, subject: name });
  const rows = await sql<{ id: string }>(service.database, `select id from users where username = '${name}'`);
  return { name, sub: name, uuid: rows[0]?.id ?? '' };
}

function cookiesOf(browser: Browser): string {
  return [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

describe('unusable provider metadata (S-109)', () => {
  test.each(DOCUMENTS.map(([name, make], index) => [name, make, index] as const))('%s', async (_, make, index) => {
    const path = `/${index}${DISCOVERY}`;
    peer.handlers.set(path, (_request, response) => make(`${peer.issuer}/${index}`)(response));
    const page = await newBrowser().get(`/upstream/authorize/${idOf(index)}?kind=change_password`);
    expect(page).toMatchObject({ status: 502, errorCodes: ['upstream_unavailable'] });
    expect(page.body).toContain(`href="/upstream/authorize/${idOf(index)}?kind=change_password"`);
    expect(page.body).toContain('href="/login?kind=change_password"');
    expect(page.body).not.toContain('evil.example');
    expect(peer.count('/elsewhere')).toBe(0);
    const line = service.logLines().findLast((text) => text.includes('upstream.failed'));
    expect(line).toContain(idOf(index));
    expect(line).not.toContain('evil.example');
    const [row] = await sql<{ metadata: unknown }>(
      service.database,
      `select metadata from upstream_providers where issuer = '${peer.issuer}/${index}'`,
    );
    expect(row).toEqual({ metadata: null });
    expect((await signIn()).status, 'another provider').toBe(303);
  });

  test('does not affect other pages, and is fetched again after it has recovered', async () => {
    const path = `/0${DISCOVERY}`;
    peer.handlers.set(path, (_request, response) => response.writeHead(500).end());
    offset = 600_000;
    const before = peer.count(path);
    for (let count = 0; count < 5; count += 1) {
      expect((await newBrowser().get(`/upstream/authorize/${idOf(0)}`)).status).toBe(502);
    }
    expect(peer.count(path)).toBe(before + 1);
    expect((await newBrowser().get('/login')).status).toBe(200);
    peer.handlers.set(path, (_request, response) => json(valid(`${peer.issuer}/0`))(response));
    offset += 11_000;
    expect((await newBrowser().get(`/upstream/authorize/${idOf(0)}`)).status).toBe(303);
  });
});

describe('an invalid token endpoint response (S-109)', () => {
  test.each<readonly [string, Responder]>([
    ['an endless response', endless],
    ['a gzip bomb', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB)],
    ['10,000 levels of nesting', json(DEEP)],
    ['a duplicate member', json('{"access_token":"a","access_token":"b","token_type":"Bearer"}')],
    ['tokens that are not strings', json({ access_token: 1, id_token: {} })],
    ['an ID token of 100 KiB', json({ access_token: 'a', id_token: 'x'.repeat(100_000) })],
    ['an error with markup', json({ error: '<script>alert(1)</script>', error_description: '<b>' })],
    ['nothing', json('')],
    ['a form declared as JSON', (response) => response.setHeader('content-type', 'application/json').end(FORM)],
    ['a form', (response) => response.setHeader('content-type', 'application/x-www-form-urlencoded').end(FORM)],
    ['a page', (response) => response.setHeader('content-type', 'text/html').end('<!doctype html>')],
  ])('%s', async (_, responder) => {
    peer.handlers.set('/token', (_request, response) => responder(response));
    const page = await signIn();
    expect(page).toMatchObject({ status: 502, errorCodes: ['upstream_invalid_response'] });
    // A provider's error description goes to the log, never to a page.
    expect(page.body).not.toContain('alert(1)');
  });

  test('that is too slow ends at the timeout, and the page says so', async () => {
    const cases = [`/1${DISCOVERY}`, '/token', '/keys'];
    offset = 700_000;
    const begun = newBrowser();
    await begun.get(`/upstream/authorize/${ID}`);
    for (const path of cases) peer.handlers.set(path, (_request, response) => slow(response));
    const shown = await Promise.all([
      newBrowser().get(`/upstream/authorize/${idOf(1)}`),
      begun.get(peer.signIn(begun.page.location ?? '')),
      newBrowser().get('/login'),
    ]);
    expect(shown.map(({ status }) => status)).toEqual([502, 502, 200]);
    const reasons = service.logLines().filter((line) => line.includes('outbound.failed') && line.includes('timeout'));
    expect(reasons.length).toBeGreaterThanOrEqual(2);
  }, 60_000);
});

describe('JSON with another content type (S-109)', () => {
  test.each([undefined, 'text/html', 'text/plain; charset=utf-8', 'application/jwt', 'nonsense'])(
    'as %s is parsed anyway, and never shown on a page',
    async (type) => {
      const renamed = (response: ServerResponse, text: string): void => {
        if (type !== undefined) response.setHeader('content-type', type);
        response.end(text);
      };
      peer.handlers.set('/token', (request, response) => {
        peer.handlers.delete('/token');
        void (async () => {
          const { authorization = '', 'content-type': contentType = '' } = request.headers;
          const headers = { authorization, 'content-type': contentType };
          const result = await fetch(`${peer.issuer}/token`, { method: 'POST', headers, body: await text(request) });
          renamed(response, await result.text());
        })();
      });
      expect((await signIn()).status).toBe(303);
      offset = 800_000;
      peer.handlers.set(`/2${DISCOVERY}`, (_request, response) =>
        renamed(response, JSON.stringify(valid(`${peer.issuer}/2`))),
      );
      expect((await newBrowser().get(`/upstream/authorize/${idOf(2)}`)).status).toBe(303);
      await sql(service.database, `update upstream_providers set metadata = null, metadata_fetched_at = null`);
    },
  );
});

describe('provider keys (S-108)', () => {
  const next = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...createPublicKey(next.privateKey).export({ format: 'jwk' }), kid: 'two', alg: 'RS256' };
  const byNext: PeerResponse = {
    sign: async (claims) =>
      await new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'two' }).sign(next.privateKey),
  };

  test('are fetched again for an unknown kid, but at most once a minute', async () => {
    expect((await signIn()).status).toBe(303);
    offset = 61_000;
    const before = peer.count('/keys');
    for (let count = 0; count < 15; count += 1) expect((await signIn(byNext)).status).toBe(502);
    expect(peer.count('/keys')).toBe(before + 1);
    expect((await signIn()).status, 'the former key').toBe(303);
    const { keys } = await (await fetch(`${peer.issuer}/keys`)).json();
    peer.handlers.set('/keys', (_request, response) => json({ keys: [...keys, jwk] })(response));
    const published = peer.count('/keys');
    expect((await signIn(byNext)).status).toBe(502);
    expect(peer.count('/keys')).toBe(published);
    offset = 122_000;
    expect((await signIn(byNext)).status).toBe(303);
    expect(peer.count('/keys')).toBe(published + 1);
  });
});

describe('a provider key without an algorithm (S-108)', () => {
  test('is only accepted for the configured algorithm', async () => {
    const { keys } = await (await fetch(`${peer.issuer}/keys`)).json();
    const [{ alg, ...bare }] = keys;
    expect(alg).toBe('RS256');
    peer.handlers.set('/keys', (_request, response) => json({ keys: [bare] })(response));
    offset = 500_000;
    const claims = { exp: Math.floor(Date.now() / 1000) + 3600 };
    expect((await signIn({ claims })).status).toBe(303);
    for (const other of ['PS256', 'RS512']) {
      const page = await signIn({ claims, sign: async (all) => await peer.sign(all, { alg: other }) });
      expect(page.errorCodes, other).toEqual(['upstream_invalid_response']);
    }
  });
});

describe('thousands of started sign-ins (S-95)', () => {
  test('get 429 beyond the limit, with a page that says when to retry, and add no rows', async () => {
    const limited = await startService({
      rate_limiting: { upstream: { per_ip: { burst: 5, per_second: 0.01 } } },
      upstream_oauth2: {
        providers: [{ id: ID, issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' }],
      },
    });
    try {
      const shown = [];
      for (let count = 0; count < 30; count += 1)
        shown.push(await newBrowser(limited).get(`/upstream/authorize/${ID}`));
      expect(shown.map(({ status }) => status)).toEqual([
        ...new Array<number>(5).fill(303),
        ...new Array<number>(25).fill(429),
      ]);
      const last = shown.at(-1);
      expect(last?.errorCodes).toEqual(['rate_limited']);
      expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
      expect(last?.headers['set-cookie']).toBeUndefined();
      expect(await sql(limited.database, 'select id from upstream_authorizations')).toHaveLength(5);
    } finally {
      await limited.stop();
    }
  });
});

describe('concurrent requests on two instances (S-100, S-106, S-110)', () => {
  const ROUNDS = 150;

  test('link two identities to one account in sequence (R-44)', async () => {
    const { name, uuid } = await linkedUser();
    const more = `insert into upstream_links (id, provider_id, user_id, subject, created_at)
      select gen_random_uuid(), l.provider_id, l.user_id, '${name} ' || n, now()
        from upstream_links l, generate_series(2, 19) n where l.user_id = '${uuid}'`;
    await sql(service.database, more);
    const pages = [];
    for (const of of [service, second]) {
      const browser = newBrowser(of);
      await browser.get('/login');
      await browser.submit({ username: name, password: PASSWORD });
      const { location = '' } = await signIn({ claims: { sub: `${name} of ${of.address}` } }, browser);
      await browser.get(location);
      pages.push({ browser, action: new URL(location).pathname });
    }
    const change = 'update users set display_name = display_name where id = $1::uuid';
    const held = await HeldChange.make(service.connectionString, change, [uuid]);
    const both = Promise.all(pages.map(({ browser, action }) => browser.submit({}, { action })));
    const loaded = await held.commitDuring(both, 2);
    expect(loaded.map(({ status }) => status).toSorted()).toEqual([200, 303]);
    expect(loaded.flatMap(({ errorCodes }) => errorCodes)).toEqual(['too_many_links']);
    const links = `select id from upstream_links where user_id = '${uuid}'`;
    expect(await sql(service.database, links)).toHaveLength(20);
  });

  test('accept a provider response once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const browser = newBrowser();
      await browser.get(`/upstream/authorize/${ID}`);
      const { pathname, search } = new URL(peer.signIn(browser.page.location ?? ''));
      const requests = peer.tokenRequests.length;
      const headers = { cookie: cookiesOf(browser) };
      const responses = await Promise.all(
        [service, second].map(async ({ address }) => {
          const response = await fetch(`${address}${pathname}${search}`, { headers, redirect: 'manual' });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect(responses.toSorted()).toEqual([303, 400]);
      expect(peer.tokenRequests.length).toBe(requests + 1);
    }
  }, 120_000);

  test('open one session per sign-in', async () => {
    const { sub, uuid } = await linkedUser();
    for (let round = 0; round < ROUNDS; round += 1) {
      const browser = newBrowser();
      await browser.get((await signIn({ claims: { sub } }, browser)).location ?? '');
      const form = browser.page.forms[0];
      const body = new URLSearchParams([...(form?.inputs ?? [])]).toString();
      const cookie = cookiesOf(browser);
      const responses = await Promise.all(
        [service, second].map(async ({ address, publicBase }) => {
          const response = await fetch(`${address}${form?.action}`, {
            method: 'POST',
            headers: {
              cookie,
              'content-type': 'application/x-www-form-urlencoded',
              origin: new URL(publicBase).origin,
            },
            body,
            redirect: 'manual',
          });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect(responses.filter((status) => status === 303)).toHaveLength(1);
      for (const status of responses) expect([303, 404, 409]).toContain(status);
      const open = await sql(service.database, `delete from user_sessions where user_id = '${uuid}' returning id`);
      expect(open).toHaveLength(1);
    }
  }, 120_000);

  test('respect an account lock, whether it commits before or after (S-102)', async () => {
    for (let round = 0; round < 40; round += 1) {
      const { sub, uuid } = await linkedUser();
      const browser = newBrowser();
      await browser.get((await signIn({ claims: { sub } }, browser)).location ?? '');
      const lock = `update users set locked_at = now() where id = '${uuid}'`;
      await Promise.all([browser.submit(), sql(second.database, lock)]);
      expect((await browser.get('/account/')).body).not.toContain('<div id="root"');
    }
  }, 120_000);
});

describe('metadata refresh', () => {
  const HOUR = 3_600_000;

  async function statusAt(at: number, of = service): Promise<number> {
    offset = at;
    return (await newBrowser(of).get(`/upstream/authorize/${ID}`)).status;
  }

  test('a cached copy serves all instances for a day while the provider is unreachable', async () => {
    // These tests must run last: they leave rows with future timestamps.
    expect(await statusAt(30 * HOUR)).toBe(303);
    peer.handlers.set(DISCOVERY, (_request, response) => response.writeHead(503).end());
    expect(await statusAt(53 * HOUR)).toBe(303);
    expect(await statusAt(53 * HOUR + 1, second)).toBe(303);
    for (const of of [service, second]) expect(await statusAt(55 * HOUR, of)).toBe(502);
    peer.handlers.clear();
    expect(await statusAt(55 * HOUR + 11_000)).toBe(303);
  });

  test('a job on one of many instances fetches it every quarter of an hour', async () => {
    const providers = service.core.upstream.providers.enabled.slice(0, 1);
    let now = clock.now() + 100 * HOUR;
    const ticking = { now: () => now };
    const workers = [service, second].map(
      ({ core, database }) =>
        new JobWorker({
          ...{ database, clock: ticking, log: core.log, tracing: core.process.tracing },
          ...{ concurrency: 1, pollIntervalSeconds: 1, maxRetries: 2 },
          queues: [refreshMetadataQueue({ ...core, database, clock: ticking, providers })],
        }),
    );
    const before = peer.count(DISCOVERY);
    for (let minute = 0; minute <= 60; minute += 1) {
      await Promise.all(workers.map(async (worker) => await worker.poll()));
      await Promise.all(workers.map(async (worker) => await worker.idle()));
      now += 60_000;
    }
    expect(peer.count(DISCOVERY)).toBe(before + 4);
  });
});
