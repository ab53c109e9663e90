/** Clients are told when their sessions end (OpenID Connect Back-Channel Logout 1.0, oauth 17.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { backchannelLogoutQueue } from '#domain/oauth-sessions/backchannel-logout.ts';
import { type ClientId, parseId, toUuid } from '#platform/base/ids.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import {
  AUTHORIZATION_ISSUER,
  type AuthorizationService,
  authorizeUrl,
  responseOf,
  startAuthorizationService,
  TEST_SIGNING_KEYS,
} from '#test/support/authorization-service.ts';
import type { Browser } from '#test/support/browser.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type HttpsPeer, loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { silentLog } from '#test/support/silent-log.ts';

const SECRET = 'the secret of the client';
const CALLBACK = 'https://app.example.org/callback';

let testDatabase: TestDatabase;
let second: OpenDatabase;
let service: AuthorizationService;
let party: HttpsPeer;
let log: RecordingLog;
/** Bodies that the relying party has received. */
let received: { readonly type: string | undefined; readonly form: URLSearchParams }[] = [];
let answer: (response: ServerResponse) => void;
let person = '';
let people = 0;
/** Wants to be told; the other one does not. */
let client: ClientId;
let silentClient: ClientId;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const connection = parseConnectionUri(testDatabase.connectionString);
  second = await openDatabase({ connection, log: silentLog, clock: { now: () => Date.now() } });
  service = await startAuthorizationService(testDatabase.database);
  party = await startHttpsPeer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push({ type: request.headers['content-type'], form: new URLSearchParams(body) });
      answer(response);
    });
  });
  const backchannel = { backchannel_logout_uri: `${party.origin}/logout?of=latchkey` };
  client = await service.client({ secret: SECRET, isStatic: false, metadata: backchannel });
  service.clock.advanceSeconds(1);
  silentClient = await service.client({ secret: SECRET });
});
afterAll(async () => {
  await service.close();
  await party.stop();
  await second.close();
  await testDatabase.drop();
});
beforeEach(async () => {
  people += 1;
  person = await service.person(`person${people}`);
  received = [];
  log = new RecordingLog();
  answer = (response) => response.writeHead(200, { 'cache-control': 'no-store' }).end();
});
afterEach(async () => {
  await sql(testDatabase.database, 'delete from queue_jobs');
});

interface SignedIn {
  readonly browser: Browser;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
}

async function token(id: ClientId, form: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const response = await fetch(`${service.origin}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${encodeURIComponent(SECRET)}`)}` },
    body: new URLSearchParams(form),
  });
  return await response.json();
}

async function signIn(id: ClientId, options: { scope?: string; browser?: Browser } = {}): Promise<SignedIn> {
  const browser = options.browser ?? (await service.signedIn(person));
  await browser.open(authorizeUrl(id, { scope: options.scope ?? 'openid' }));
  if (browser.shown.status === 200) await browser.submit({ action: 'consent' }, { action: '/authorize' });
  const { code = '' } = responseOf(browser.shown);
  const tokens = await token(id, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  return {
    browser,
    accessToken: tokens['access_token'] ?? '',
    refreshToken: tokens['refresh_token'] ?? '',
    idToken: tokens['id_token'] ?? '',
  };
}

async function signOut(browser: Browser): Promise<void> {
  await browser.get('/logout');
  await browser.submit();
}

async function isAccepted({ accessToken }: SignedIn): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${service.origin}/oauth2/userinfo`, { headers })).status === 200;
}

function worker(options: { database?: OpenDatabase; outbound?: OutboundHttp } = {}): JobWorker {
  const database = options.database ?? testDatabase.database;
  const { clock } = service;
  const outbound = options.outbound ?? loopbackOutbound([party], { log });
  const { subjects } = service;
  const deps = { database, clock, signingKeys: TEST_SIGNING_KEYS, subjects, outbound, issuer: AUTHORIZATION_ISSUER };
  const queues = [backchannelLogoutQueue(deps)];
  return new JobWorker({ database, clock, log, queues, concurrency: 10, pollIntervalSeconds: 1, maxRetries: 2 });
}

async function deliver(one = worker()): Promise<void> {
  await one.poll();
  await one.idle();
}

/** What a relying party makes of a logout token (2.6). */
async function verified(index = 0): Promise<Readonly<Record<string, unknown>>> {
  const token = received[index]?.form.get('logout_token') ?? '';
  const { keys } = TEST_SIGNING_KEYS.publicJwks();
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [...keys] }), {
    issuer: AUTHORIZATION_ISSUER,
    audience: client,
    typ: 'logout+jwt',
    currentDate: new Date(service.clock.now()),
    maxTokenAge: 60,
  });
  return payload;
}

function claimsOf(idToken: string): Readonly<Record<string, unknown>> {
  const claims: unknown = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
  return typeof claims === 'object' && claims !== null ? Object.fromEntries(Object.entries(claims)) : {};
}

function jobs() {
  return sql<{ attempt: number; failed: boolean; failed_reason: string | null }>(
    testDatabase.database,
    'select attempt, failed_at is not null as failed, failed_reason from queue_jobs',
  );
}

describe('signing out in the browser', () => {
  test('the client gets a logout token for its session, which ends; a client that does not ask keeps its own', async () => {
    const told = await signIn(client);
    const other = await signIn(silentClient, { browser: told.browser });
    await signOut(told.browser);
    expect([await isAccepted(told), await isAccepted(other)]).toEqual([false, true]);
    await deliver();
    expect(received).toHaveLength(1);
    expect(received[0]?.type).toMatch(/^application\/x-www-form-urlencoded/);
    expect([...(received[0]?.form.keys() ?? [])]).toEqual(['logout_token']);
    const { sub, sid } = claimsOf(told.idToken);
    const claims = await verified();
    expect(claims).toEqual({
      iss: AUTHORIZATION_ISSUER,
      aud: client,
      sub,
      sid,
      iat: Math.floor(service.clock.now() / 1000),
      exp: Math.floor(service.clock.now() / 1000) + 120,
      jti: expect.stringMatching(/^[\w-]{43}$/),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(decodeProtectedHeader(received[0]?.form.get('logout_token') ?? '')).toMatchObject({ alg: 'RS256' });
    expect(await jobs()).toEqual([]);
  });

  test('a client with pairwise subjects hears the subject of its ID tokens', async () => {
    const sector = { subject_type: 'pairwise' as const, backchannel_logout_uri: `${party.origin}/` };
    const pairwise = await service.client({ secret: SECRET, isStatic: false, metadata: sector });
    const { browser, idToken } = await signIn(pairwise);
    await signOut(browser);
    await deliver();
    const { sub } = claimsOf(idToken);
    expect(sub).toMatch(/^[\w-]{43}$/);
    expect(claimsOf(received[0]?.form.get('logout_token') ?? '')['sub']).toBe(sub);
  });

  test.each(['openid offline_access', 'openid urn:chat:client:api:*'])(
    'a session with %s is told and goes on',
    async (scope) => {
      const told = await signIn(client, { scope });
      await signOut(told.browser);
      await deliver();
      expect(await verified()).toMatchObject({ sid: claimsOf(told.idToken)['sid'] });
      const refreshed = await token(client, { grant_type: 'refresh_token', refresh_token: told.refreshToken });
      expect(refreshed['access_token']).toBeDefined();
    },
  );

  test('a session without openid is neither told nor ended', async () => {
    const session = await signIn(client, { scope: 'email' });
    await signOut(session.browser);
    await deliver();
    expect(received).toEqual([]);
    expect(await token(client, { grant_type: 'refresh_token', refresh_token: session.refreshToken })).toHaveProperty(
      'access_token',
    );
  });

  test('everywhere: each session of the person, and nobody else', async () => {
    const one = await signIn(client);
    const other = await signIn(client);
    const stranger = await signIn(client, { browser: await service.signedIn(await service.person(`other${people}`)) });
    await one.browser.get('/logout');
    await one.browser.submit({ scope: 'everywhere' });
    await deliver();
    const sids = await Promise.all([verified(0), verified(1)]);
    expect(sids.map(({ sid }) => sid).toSorted()).toEqual(
      [one, other].map(({ idToken }) => claimsOf(idToken)['sid']).toSorted(),
    );
    expect(received).toHaveLength(2);
    expect(await isAccepted(stranger)).toBe(true);
  });

  test('costs no further statement', async () => {
    const { browser } = await signIn(client);
    await signOut(browser);
    expect(service.lastRequest()).toMatchObject({ queries: 2 });
  });

  test('the log line of the job names the request that ended the session', async () => {
    const { browser } = await signIn(client);
    await signOut(browser);
    await deliver();
    expect(log.lines.find(({ event }) => event === 'job.completed')?.fields['parent']).toMatch(/^POST-\d+$/);
  });
});

describe('other ends of a session', () => {
  test('the client that signs the person out is told, too', async () => {
    const { browser, idToken } = await signIn(client);
    await browser.get(`/oauth2/logout?${new URLSearchParams({ id_token_hint: idToken })}`);
    await deliver();
    expect(await verified()).toMatchObject({ sid: claimsOf(idToken)['sid'] });
    expect(received).toHaveLength(1);
  });

  test('a refresh token that comes back', async () => {
    const { refreshToken } = await signIn(client);
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const first = await token(client, form);
    await token(client, { grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' });
    service.clock.advanceSeconds(3600);
    await token(client, form);
    await deliver();
    expect(received).toHaveLength(1);
  });

  test('its own revocation is no news to the client', async () => {
    const { accessToken } = await signIn(client);
    await fetch(`${service.origin}/oauth2/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}` },
      body: new URLSearchParams({ token: accessToken }),
    });
    expect(await jobs()).toEqual([]);
  });
});

describe('delivery', () => {
  test('500 and then 204: sent again with a fresh token', async () => {
    const statuses = [500, 204];
    answer = (response) => response.writeHead(statuses.shift() ?? 200).end();
    const { browser } = await signIn(client);
    await signOut(browser);
    const one = worker();
    await deliver(one);
    expect(await jobs()).toEqual([{ attempt: 1, failed: false, failed_reason: `client ${client} answered 500` }]);
    service.clock.advanceSeconds(7);
    await deliver(one);
    expect(received).toHaveLength(2);
    const [first, again] = received.map(({ form }) => claimsOf(form.get('logout_token') ?? ''));
    expect([again?.['sid'], again?.['jti'] === first?.['jti']]).toEqual([first?.['sid'], false]);
    expect(await verified(1)).toBeDefined();
    expect(await jobs()).toEqual([]);
  });

  test('400 is final', async () => {
    answer = (response) => response.writeHead(400).end('{"error":"invalid_request"}');
    const { browser } = await signIn(client);
    await signOut(browser);
    await deliver();
    expect(await jobs()).toEqual([{ attempt: 1, failed: true, failed_reason: `client ${client} answered 400` }]);
  });

  test.each([
    ['never answers', (_response: ServerResponse) => {}, 'timeout'],
    [
      'answers with a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: '/' }).end(),
      'redirect',
    ],
  ])(
    'a receiver that %s is left after five seconds, and asked again later',
    async (_case, answering, reason) => {
      answer = answering;
      const { browser } = await signIn(client);
      await signOut(browser);
      const startedAt = performance.now();
      await deliver();
      expect(performance.now() - startedAt).toBeLessThan(8_000);
      expect(await jobs()).toEqual([
        { attempt: 1, failed: false, failed_reason: `client ${client} was not reached: ${reason}` },
      ]);
    },
    20_000,
  );

  test('two instances send one token for each session', async () => {
    for (let count = 0; count < 6; count += 1) await signOut((await signIn(client)).browser);
    const both = [worker(), worker({ database: second })];
    for (let round = 0; round < 4; round += 1) await Promise.all(both.map((one) => deliver(one)));
    const sids = received.map(({ form }) => claimsOf(form.get('logout_token') ?? '')['sid']);
    expect(sids).toHaveLength(6);
    expect(new Set(sids).size).toBe(6);
  });

  test('a client that was deleted before is no reason to fail', async () => {
    const gone = await service.client({
      secret: SECRET,
      isStatic: false,
      metadata: { backchannel_logout_uri: `${party.origin}/` },
    });
    await signOut((await signIn(gone)).browser);
    await sql(testDatabase.database, 'delete from oauth2_clients where id = $1::uuid', [toUuid(gone)]);
    await deliver();
    expect([received, await jobs()]).toEqual([[], []]);
  });

  test('S-52: an address of a client that registered itself is reached by the guard only', async () => {
    const { clock } = service;
    const options = { clock, log, allowedNetworks: [], allowedPorts: [party.port], resolve: async () => ['127.0.0.1'] };
    await signOut((await signIn(client)).browser);
    const connections = party.connections();
    await deliver(worker({ outbound: new OutboundHttp(options) }));
    expect(party.connections()).toBe(connections);
    expect(await jobs()).toMatchObject([{ failed_reason: `client ${client} was not reached: address` }]);
  });

  test('a client of the configuration may be on a private address', async () => {
    const configured = await service.client({
      secret: SECRET,
      metadata: { backchannel_logout_uri: `https://localhost:${party.port}/` },
    });
    await signOut((await signIn(configured)).browser);
    await deliver();
    expect(received).toHaveLength(1);
  });
});

test('a logout token is not accepted as an ID token: no hint of a sign-out (RFC 8725 3.11)', async () => {
  const told = await signIn(client);
  await signOut(told.browser);
  await deliver();
  const hint = received[0]?.form.get('logout_token') ?? '';
  const { browser } = await signIn(client);
  await browser.get(`/oauth2/logout?${new URLSearchParams({ id_token_hint: hint })}`);
  expect(browser.shown.status).toBe(400);
  expect(parseId(String((await verified())['sid']))).toBeDefined();
});
