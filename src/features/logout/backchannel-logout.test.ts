/** Clients are notified when their sessions end (OpenID Connect Back-Channel Logout 1.0, oauth 17.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorkers } from '#app/jobs.ts';
import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import { syncStaticClients } from '#domain/clients/sync-static-clients.ts';
import { backchannelLogoutQueues } from '#domain/oauth-sessions/backchannel-logout.ts';
import { endApplicationSessionsOfUser } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import {
  AUTHORIZATION_ISSUER,
  type AuthorizationService,
  authorizeUrl,
  responseOf,
  startAuthorizationService,
  TEST_SIGNING_KEYS,
} from '#test/support/authorization-service.ts';
import type { Browser } from '#test/support/browser.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type HttpsPeer, loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { TEST_KEYS, until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const SECRET = 'the secret of the client';
const CALLBACK = 'https://app.example.org/callback';
let second: OpenDatabase;
let service: AuthorizationService;
let party: HttpsPeer;
let log: RecordingLog;
/** Bodies that the relying party received. */
let received: { readonly type: string | undefined; readonly form: URLSearchParams }[] = [];
let result: (response: ServerResponse) => void;
let user = '';
let users = 0;
/** Registered for logout notifications. The other client is not. */
let client: ClientId;
let silentClient: ClientId;

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
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
      result(response);
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
});
beforeEach(async () => {
  users += 1;
  user = await service.person(`person${users}`);
  received = [];
  log = new RecordingLog();
  result = (response) => response.writeHead(200, { 'cache-control': 'no-store' }).end();
});
afterEach(async () => {
  await sql(testDatabase.database, 'truncate queue_jobs, oauth2_sessions cascade');
});

interface SignedIn {
  readonly browser: Browser;
  readonly code: string;
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
  const browser = options.browser ?? (await service.signedIn(user));
  await browser.open(authorizeUrl(id, { scope: options.scope ?? 'openid' }));
  if (browser.page.status === 200) await browser.submit({ action: 'consent' }, { action: '/authorize' });
  const { code = '' } = responseOf(browser.page);
  const tokens = await token(id, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  return {
    browser,
    code,
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
  const queues = Object.values(backchannelLogoutQueues(deps));
  const tracing = new ReceivedTraces(true);
  return new JobWorker({
    database,
    clock,
    log,
    tracing,
    queues,
    concurrency: 10,
    pollIntervalSeconds: 1,
    maxRetries: 2,
  });
}

async function deliver(one = worker()): Promise<void> {
  await one.poll();
  await one.idle();
}

/** Verifies a logout token as a relying party does (OpenID Connect Back-Channel Logout 1.0 2.6). */
async function verified(index = 0, audience: string = client): Promise<Readonly<Record<string, unknown>>> {
  const token = received[index]?.form.get('logout_token') ?? '';
  const { keys } = TEST_SIGNING_KEYS.publicJwks();
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [...keys] }), {
    issuer: AUTHORIZATION_ISSUER,
    audience,
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
  test('uses the metadata document URL of a client as its audience', async () => {
    const signedIn = await signIn(client);
    const url = 'https://apps.example.org/client.json';
    const rename = 'update oauth2_clients set document_url = $2 where id = $1::uuid returning id';
    await sql(testDatabase.database, rename, [toUuid(client), url]);
    try {
      await signOut(signedIn.browser);
      await deliver();
      expect(await verified(0, url)).toMatchObject({ aud: url });
    } finally {
      await sql(testDatabase.database, rename, [toUuid(client), null]);
    }
  });

  test('sends a client a logout token for its session, which ends; a client without a logout URI keeps its session', async () => {
    const signedIn = await signIn(client);
    const other = await signIn(silentClient, { browser: signedIn.browser });
    await signOut(signedIn.browser);
    expect([await isAccepted(signedIn), await isAccepted(other)]).toEqual([false, true]);
    await deliver();
    expect(received).toHaveLength(1);
    expect(received[0]?.type).toMatch(/^application\/x-www-form-urlencoded/);
    expect([...(received[0]?.form.keys() ?? [])]).toEqual(['logout_token']);
    const { sub, sid } = claimsOf(signedIn.idToken);
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

  test('sends a client with pairwise subjects the subject of its ID tokens', async () => {
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
    'notifies a session with %s, which continues',
    async (scope) => {
      const signedIn = await signIn(client, { scope });
      await signOut(signedIn.browser);
      await deliver();
      expect(await verified()).toMatchObject({ sid: claimsOf(signedIn.idToken)['sid'] });
      const refreshed = await token(client, { grant_type: 'refresh_token', refresh_token: signedIn.refreshToken });
      expect(refreshed['access_token']).toBeDefined();
    },
  );

  test('neither notifies nor ends a session without openid', async () => {
    const session = await signIn(client, { scope: 'email' });
    await signOut(session.browser);
    await deliver();
    expect(received).toEqual([]);
    expect(await token(client, { grant_type: 'refresh_token', refresh_token: session.refreshToken })).toHaveProperty(
      'access_token',
    );
  });

  test('ends a child session that would outlive the sign-out with its parent, and notifies once', async () => {
    const parent = await signIn(client);
    const child = await signIn(client, { scope: 'openid offline_access', browser: parent.browser });
    const [parentId, childId] = [parent, child].map(({ idToken }) => claimsOf(idToken)['sid']);
    await sql(
      testDatabase.database,
      `update oauth2_sessions
          set parent_session_id = (select id from oauth2_sessions where not scope @> '{offline_access}' limit 1)
        where scope @> '{offline_access}'`,
    );
    await signOut(parent.browser);
    expect(parent.browser.page.status).toBe(303);
    expect([await isAccepted(parent), await isAccepted(child)]).toEqual([false, false]);
    await deliver();
    const sids = received.map(({ form }) => claimsOf(form.get('logout_token') ?? '')['sid']);
    expect(sids.toSorted()).toEqual([parentId, childId].toSorted());
  });

  test('everywhere: notifies each session of the user, and nobody else', async () => {
    const one = await signIn(client);
    const other = await signIn(client);
    const stranger = await signIn(client, { browser: await service.signedIn(await service.person(`other${users}`)) });
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

  test('takes no further statement', async () => {
    const { browser } = await signIn(client);
    await signOut(browser);
    expect(service.lastRequest()).toMatchObject({ queries: 2 });
  });

  test("names the request that ended the session in the job's log line", async () => {
    const { browser } = await signIn(client);
    await signOut(browser);
    await deliver();
    expect(log.lines.find(({ event }) => event === 'job.completed')?.fields['parent']).toMatch(/^POST-\d+$/);
  });
});

describe('delivery', () => {
  test('500 and then 204: is retried with a fresh token', async () => {
    const statuses = [500, 204];
    result = (response) => response.writeHead(statuses.shift() ?? 200).end();
    const { browser } = await signIn(client);
    await signOut(browser);
    const one = worker();
    await deliver(one);
    expect(await jobs()).toEqual([{ attempt: 1, failed: false, failed_reason: `client ${client} responded with 500` }]);
    service.clock.advanceSeconds(7);
    await deliver(one);
    expect(received).toHaveLength(2);
    const [first, again] = received.map(({ form }) => claimsOf(form.get('logout_token') ?? ''));
    expect([again?.['sid'], again?.['jti'] === first?.['jti']]).toEqual([first?.['sid'], false]);
    expect(await verified(1)).toBeDefined();
    expect(await jobs()).toEqual([]);
  });

  test('400 is final', async () => {
    result = (response) => response.writeHead(400).end('{"error":"invalid_request"}');
    const { browser } = await signIn(client);
    await signOut(browser);
    await deliver();
    expect(await jobs()).toEqual([{ attempt: 1, failed: true, failed_reason: `client ${client} responded with 400` }]);
  });

  test.each([
    ['never answers', (_response: ServerResponse) => {}, 'timeout'],
    [
      'answers with a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: '/' }).end(),
      'redirect',
    ],
  ])(
    'a receiver that %s times out after five seconds, and is retried later',
    async (_case, responding, reason) => {
      result = responding;
      const { browser } = await signIn(client);
      await signOut(browser);
      const startedAt = performance.now();
      await deliver();
      expect(performance.now() - startedAt).toBeLessThan(30_000);
      expect(await jobs()).toEqual([
        { attempt: 1, failed: false, failed_reason: `client ${client} could not be reached: ${reason}` },
      ]);
    },
    20_000,
  );

  test('two instances send one token per session', async () => {
    for (let count = 0; count < 6; count += 1) await signOut((await signIn(client)).browser);
    const both = [worker(), worker({ database: second })];
    for (let round = 0; round < 4; round += 1) await Promise.all(both.map((one) => deliver(one)));
    const sids = received.map(({ form }) => claimsOf(form.get('logout_token') ?? '')['sid']);
    expect(sids).toHaveLength(6);
    expect(new Set(sids).size).toBe(6);
  });

  test('unresponsive receivers of dynamic clients do not delay those of configured clients', async () => {
    const uri = `https://localhost:${party.port}/configured`;
    const configured = await service.client({ secret: SECRET, metadata: { backchannel_logout_uri: uri } });
    const held: ServerResponse[] = [];
    result = (response) => {
      if (response.req.url === '/configured') response.end();
      else held.push(response);
    };
    for (let count = 0; count < 12; count += 1) await signOut((await signIn(client)).browser);
    service.clock.advanceSeconds(1);
    await signOut((await signIn(configured)).browser);
    const workers = createJobWorkers({
      ...service.core,
      log,
      outbound: loopbackOutbound([party], { log }),
      isBusy: () => false,
      transport: undefined,
    });
    for (let round = 0; round < 4; round += 1) await Promise.all(workers.map((one) => one.poll()));
    const audiences = () => received.map(({ form }) => claimsOf(form.get('logout_token') ?? '')['aud']);
    await until(() => audiences().includes(configured) && held.length > 0);
    result = (response) => response.end();
    for (const response of held) response.end();
    await Promise.all(workers.map((one) => one.stop(10_000)));
  });

  test('a client deleted in the meantime is notified at its former URL', async () => {
    const gone = await service.client({
      secret: SECRET,
      isStatic: false,
      metadata: { backchannel_logout_uri: `${party.origin}/` },
    });
    await signOut((await signIn(gone)).browser);
    await sql(testDatabase.database, 'delete from oauth2_clients where id = $1::uuid', [toUuid(gone)]);
    await deliver();
    expect(received.map(({ form }) => claimsOf(form.get('logout_token') ?? '')['aud'])).toEqual([gone]);
    expect(await jobs()).toEqual([]);
  });

  test('a client that changed its URL is notified at the new one, and not at all without one', async () => {
    const changing = await service.client({
      secret: SECRET,
      isStatic: false,
      metadata: { backchannel_logout_uri: 'https://former.peer.example:1/' },
    });
    for (const uri of [`${party.origin}/`, null]) {
      await signOut((await signIn(changing)).browser);
      await sql(
        testDatabase.database,
        `update oauth2_clients
            set metadata = jsonb_strip_nulls(metadata || jsonb_build_object('backchannel_logout_uri', $2::text))
          where id = $1::uuid`,
        [toUuid(changing), uri],
      );
      await deliver();
      expect(received).toHaveLength(1);
      expect(await jobs()).toEqual([]);
    }
  });

  test('S-52: the URL of a dynamically registered client is contacted only through the SSRF guard', async () => {
    const { clock } = service;
    const options = { clock, log, allowedNetworks: [], allowedPorts: [party.port], resolve: async () => ['127.0.0.1'] };
    await signOut((await signIn(client)).browser);
    const connections = party.connections();
    await deliver(worker({ outbound: new OutboundHttp(options) }));
    expect(party.connections()).toBe(connections);
    expect(await jobs()).toMatchObject([{ failed_reason: `client ${client} could not be reached: address` }]);
  });

  test('a configured client may have a private address', async () => {
    const configured = await service.client({
      secret: SECRET,
      metadata: { backchannel_logout_uri: `https://localhost:${party.port}/` },
    });
    await signOut((await signIn(configured)).browser);
    await deliver();
    expect(received).toHaveLength(1);
  });
});

test('a logout token is rejected as an ID token hint at sign-out (RFC 8725 3.11)', async () => {
  const signedIn = await signIn(client);
  await signOut(signedIn.browser);
  await deliver();
  const hint = received[0]?.form.get('logout_token') ?? '';
  const { browser } = await signIn(client);
  await browser.get(`/oauth2/logout?${new URLSearchParams({ id_token_hint: hint })}`);
  expect(browser.page.status).toBe(400);
  expect(parseId(String((await verified())['sid']))).toBeDefined();
});

const DEVICE = 'openid urn:chat:client:api:* urn:chat:client:device:ABCDEFGHIJ';

interface End {
  readonly scope?: string;
  readonly happens: (session: SignedIn) => Promise<unknown>;
}

/** Everything that ends a session, except the client's own revocation (oauth 9.6, 17.2). */
const ENDS: Readonly<Record<string, End>> = {
  'the person signs out': { happens: async ({ browser }) => await signOut(browser) },
  'the client signs the person out': {
    happens: async ({ browser, idToken }) =>
      await browser.get(`/oauth2/logout?${new URLSearchParams({ id_token_hint: idToken })}`),
  },
  'its code comes back': {
    happens: async ({ code }) => {
      service.clock.advanceSeconds(21);
      await token(client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    },
  },
  'a refresh token comes back': {
    happens: async ({ refreshToken }) => {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const first = await token(client, form);
      await token(client, { ...form, refresh_token: first['refresh_token'] ?? '' });
      service.clock.advanceSeconds(3600);
      await token(client, form);
    },
  },
  'a refresh token comes back whose row was deleted': {
    happens: async ({ refreshToken }) => {
      await token(client, { grant_type: 'refresh_token', refresh_token: refreshToken });
      await sql(testDatabase.database, 'delete from oauth2_refresh_tokens where consumed_at is not null');
      await token(client, { grant_type: 'refresh_token', refresh_token: refreshToken });
    },
  },
  'the device is signed in again': {
    scope: DEVICE,
    happens: async ({ browser }) => await signIn(client, { scope: DEVICE, browser }),
  },
  'the password is set by a command that ends sessions': {
    happens: async ({ idToken }) => {
      const user = parseId<'user'>(String(claimsOf(idToken)['sub']));
      if (user === undefined) throw new Error('the subject is no account');
      const now = service.clock.now();
      await endApplicationSessionsOfUser(testDatabase.database, user, {
        reason: 'password_changed',
        now,
        syncsDevices: false,
      });
    },
  },
  'its time is over': {
    happens: async () => {
      service.clock.advanceSeconds(86_400);
      await cleanUpAll(
        { database: testDatabase.database, clock: service.clock },
        { sessionMaxLifetimeSeconds: 86_400 },
      );
    },
  },
};

describe('a client is notified once, with a verifiable token, when', () => {
  test.each(Object.entries(ENDS))('%s', async (_name, { scope = 'openid', happens }) => {
    const session = await signIn(client, { scope });
    await happens(session);
    await deliver();
    expect(received).toHaveLength(1);
    const { sid, sub } = claimsOf(session.idToken);
    expect(await verified()).toMatchObject({ sid, sub });
    expect(await isAccepted(session)).toBe(false);
  });

  test('it deletes its registration', async () => {
    const metadata = { backchannel_logout_uri: `${party.origin}/of-a-deleted-one` };
    const id = await service.client({ secret: SECRET, isStatic: false, metadata });
    const accessToken = newToken('mgt');
    await sql(
      testDatabase.database,
      'update oauth2_clients set registration_token_hash = sha256($2::text::bytea) where id = $1::uuid',
      [toUuid(id), accessToken],
    );
    const session = await signIn(id);
    const deleted = await fetch(`${service.origin}/oauth2/registration/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(deleted.status).toBe(204);
    await deliver();
    expect(received).toHaveLength(1);
    expect(await verified(0, id)).toMatchObject({ sid: claimsOf(session.idToken)['sid'] });
    expect(await isAccepted(session)).toBe(false);
  });

  test('the configuration no longer names it, and config sync prunes', async () => {
    const metadata = { backchannel_logout_uri: `https://localhost:${party.port}/pruned` };
    const pruned = await service.client({ secret: SECRET, metadata });
    const session = await signIn(pruned);
    const deps = { database: testDatabase.database, keyRing: TEST_KEYS, clock: service.clock, log };
    const collaborators = {
      cancelGrantsOutsideRedirectUris,
      findOrCreateGroups,
      ...clientSessionEnder({ isConnected: false }),
    };
    await syncStaticClients({ ...deps, ...collaborators }, [], { prunes: true, isDryRun: false });
    await deliver();
    expect(received).toHaveLength(1);
    expect(await verified(0, pruned)).toMatchObject({ sid: claimsOf(session.idToken)['sid'] });
  });

  test('except when it revoked the session itself', async () => {
    const { accessToken } = await signIn(client);
    await fetch(`${service.origin}/oauth2/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}` },
      body: new URLSearchParams({ token: accessToken }),
    });
    expect(await jobs()).toEqual([]);
  });
});
