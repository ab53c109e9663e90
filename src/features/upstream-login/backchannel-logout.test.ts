/** A provider reports that a user signed out there (OpenID Connect Back-Channel Logout 1.0, browser-flows 8.8). */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatClient, textOf } from '#test/support/chat-client.ts';
import { loginTokenOf } from '#test/support/chat-sso.ts';
import { sql } from '#test/support/fixtures.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer, type UpstreamPeer } from '#test/support/upstream-peer.ts';
import type { UserId } from '#vocabulary/ids.ts';

const MODES = {
  do_nothing: '01HZX7T3Q8V3M5N6P7R8S9T0AB',
  logout_browser_only: '01HZX7T3Q8V3M5N6P7R8S9T0AC',
  logout_all: '01HZX7T3Q8V3M5N6P7R8S9T0AD',
} as const;
type Mode = keyof typeof MODES;
const ID = MODES.logout_all;
const OFF_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AE';
const OTHER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AF';
const MAC_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AG';
const CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0C1';
const TOLD_CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0C2';
const CALLBACK = 'https://app.example/callback';
const SECRET = 'a secret that both sides know, and nobody else';
const PASSWORD = 'correct horse battery staple';
const HOMESERVER_SECRET = 'what the homeserver shares';
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
let service: TestService;
let second: TestService;

const peer = await sharedByTests(startUpstreamPeer());
const other = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { client_id: 'latchkey', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic' };
  const app = { client_auth_method: 'client_secret_basic', client_secret: SECRET, redirect_uris: [CALLBACK] };
  const settings = {
    homeserver: { kind: 'none', homeserver: 'chat.example', secret: HOMESERVER_SECRET },
    rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
    clients: [
      { client_id: CLIENT_ID, first_party: true, ...app },
      { client_id: TOLD_CLIENT_ID, first_party: true, backchannel_logout_uri: 'https://app.example/logout', ...app },
    ],
    upstream_oauth2: {
      providers: [
        ...Object.entries(MODES).map(([mode, id]) => ({
          id,
          issuer: peer.issuer,
          on_backchannel_logout: mode,
          ...shared,
        })),
        { id: OFF_ID, issuer: peer.issuer, enabled: false, ...shared },
        { id: OTHER_ID, issuer: other.issuer, on_backchannel_logout: 'logout_all', ...shared },
        { id: MAC_ID, issuer: peer.issuer, id_token_signed_response_alg: 'HS256', ...shared },
      ],
    },
  };
  service = await startService(settings, { expectedErrors: [' 503 '] });
  second = await startService(settings, { like: service, expectedErrors: [' 503 '] });
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});
afterEach(async () => {
  peer.handlers.clear();
  // Each test starts with a full bucket.
  await sql(service.database, `delete from rate_limits where key like 'upstream-logout%'`);
});

let users = 0;

interface SignedIn {
  readonly userId: string;
  readonly sub: string;
  readonly sid: string;
  readonly browser: Browser;
}

async function newUser(providerId: string) {
  users += 1;
  const sub = `subject ${users}`;
  const userId = await service.registerUser(`person${users}`, PASSWORD);
  await linkAccount(service.database, { providerId, userId, subject: sub });
  return { userId, sub };
}

/** Signs in at the provider, and stops before the last button. */
async function atLastButton(providerId: string, of: UpstreamPeer, sub: string, sid: string): Promise<Browser> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get(`/upstream/authorize/${providerId}`);
  await browser.get(of.signIn(browser.page.location ?? '', { claims: { sub, sid } }));
  await browser.follow();
  return browser;
}

async function signedIn(providerId: string = ID, of = peer): Promise<SignedIn> {
  return await signInAgain({ ...(await newUser(providerId)) }, providerId, of);
}

async function signInAgain(who: { userId: string; sub: string }, providerId: string = ID, of = peer) {
  const sid = randomUUID();
  const browser = await atLastButton(providerId, of, who.sub, sid);
  expect((await browser.submit()).status).toBe(303);
  return { ...who, sid, browser };
}

async function refreshToken(browser: Browser, clientId: string, scope: string): Promise<string> {
  const query = { client_id: clientId, redirect_uri: CALLBACK, response_type: 'code', scope };
  await browser.get(`/authorize?${new URLSearchParams(query)}`);
  if (browser.page.location?.includes('/consent/') === true) {
    await browser.follow();
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
  }
  const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
  const tokens = await token(clientId, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  return tokens.refresh_token ?? '';
}

async function token(clientId: string, form: Readonly<Record<string, string>>) {
  const headers = { authorization: `Basic ${btoa(`${clientId}:${encodeURIComponent(SECRET)}`)}` };
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(form),
  });
  const body: { refresh_token?: string; error?: string } = await response.json();
  return body;
}

async function isRefreshed(clientId: string, refresh_token: string): Promise<boolean> {
  const { error } = await token(clientId, { grant_type: 'refresh_token', refresh_token });
  return error === undefined;
}

async function isSignedIn({ browser }: SignedIn): Promise<boolean> {
  return (await browser.get('/')).text.includes('Sign out');
}

/** A chat client signed in through the browser session. @returns its access token */
async function chatSession({ browser }: SignedIn): Promise<string> {
  const token = await loginTokenOf(browser);
  return textOf(await new ChatClient(service).post('/login', { type: 'm.login.token', token }), 'access_token');
}

async function isChatting(accessToken: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${HOMESERVER_SECRET}` };
  const body = new URLSearchParams({ token: accessToken });
  const response = await fetch(`${service.address}/oauth2/introspect`, { method: 'POST', headers, body });
  const { active }: { active?: boolean } = await response.json();
  return active === true;
}

type Claims = Readonly<Record<string, unknown>>;

function logoutClaims(claims: Claims): Claims {
  const now = Math.floor(Date.now() / 1000);
  const valid = { iss: peer.issuer, aud: 'latchkey', iat: now, exp: now + 120, jti: randomUUID() };
  const all = { ...valid, events: { [EVENT]: {} }, ...claims };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

async function logoutToken(claims: Claims): Promise<string> {
  return await peer.sign(logoutClaims(claims), { typ: 'logout+jwt' });
}

async function send(
  body: string | URLSearchParams,
  { id = ID as string, to = service, headers = {} }: { id?: string; to?: TestService; headers?: HeadersInit } = {},
) {
  return await fetch(`${to.address}/upstream/backchannel-logout/${id}`, { method: 'POST', headers, body });
}

async function sendToken(text: string, options: Parameters<typeof send>[1] = {}) {
  return await send(new URLSearchParams({ logout_token: text }), options);
}

describe('a logout token from the provider (check 25)', () => {
  test.each([
    ['do_nothing', true, true],
    ['logout_browser_only', false, true],
    ['logout_all', false, false],
  ] as const)('%s: the browser session stays: %s, client sessions stay: %s', async (mode: Mode, browser, apps) => {
    const id = MODES[mode];
    const one = await signedIn(id);
    const elsewhere = await signInAgain(one, id);
    const plain = await refreshToken(one.browser, CLIENT_ID, 'openid');
    const told = await refreshToken(one.browser, TOLD_CLIENT_ID, 'openid offline_access');
    const chatClient = await chatSession(one);
    const elsewhereInChat = await chatSession(elsewhere);
    const response = await sendToken(await logoutToken({ sub: one.sub, sid: one.sid }), { id });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await isSignedIn(one)).toBe(browser);
    expect(await isRefreshed(CLIENT_ID, plain)).toBe(apps);
    expect(await isRefreshed(TOLD_CLIENT_ID, told)).toBe(apps);
    expect([await isChatting(chatClient), await isChatting(elsewhereInChat)]).toEqual([apps, true]);
    // Another session of the same user at the provider continues.
    expect(await isSignedIn(elsewhere)).toBe(true);
    const jobs = await sql(
      service.database,
      `select id from queue_jobs where queue = 'backchannel-logout' and payload ->> 'user_id' = '${toUuid(one.userId as UserId)}'`,
    );
    expect(jobs).toHaveLength(apps ? 0 : 1);
    const line = service.logLines().findLast((text) => text.includes('upstream.logout'));
    expect(line).toContain(`mode=${mode}`);
    expect(line).toContain(`sessions=${browser ? 0 : 1}`);
    expect(line).toContain(`applications=${apps ? 0 : 3}`);
    expect(line).not.toContain(one.sub);
  });

  test('records an account event', async () => {
    const one = await signedIn();
    await refreshToken(one.browser, CLIENT_ID, 'openid');
    await sendToken(await logoutToken({ sid: one.sid }));
    const events = await sql<{ detail: unknown }>(
      service.database,
      `select detail from audit_events where user_id = '${toUuid(one.userId as UserId)}' and kind = 'session_ended'`,
    );
    const detail = { reason: 'upstream_logout', sessions: 1 };
    expect(events.map((event) => event.detail)).toEqual([detail, detail]);
  });

  test('with only a sub ends all sessions of that user, with only a sid that one', async () => {
    const one = await signedIn();
    const two = await signInAgain(one);
    const three = await signInAgain(one);
    await sendToken(await logoutToken({ sid: two.sid }));
    expect(await Promise.all([one, two, three].map(isSignedIn))).toEqual([true, false, true]);
    await sendToken(await logoutToken({ sub: one.sub }));
    expect(await Promise.all([one, three].map(isSignedIn))).toEqual([false, false]);
  });

  test('ends nothing of another user, another session or another provider (S-113)', async () => {
    const one = await signedIn();
    const stranger = await signedIn(OTHER_ID, other);
    const same = await signedIn(MODES.logout_browser_only);
    for (const claims of [
      { sub: 'nobody' },
      { sid: randomUUID() },
      { sub: one.sub, sid: randomUUID() },
      { sub: 'nobody', sid: one.sid },
      { sub: stranger.sub },
      { sid: stranger.sid },
      { sub: same.sub, sid: same.sid },
    ]) {
      expect((await sendToken(await logoutToken(claims))).status).toBe(200);
    }
    expect(await Promise.all([one, stranger, same].map(isSignedIn))).toEqual([true, true, true]);
  });

  test('ends an earlier session that was reauthenticated through the provider', async () => {
    const one = await signedIn();
    const sid = randomUUID();
    await one.browser.get(`/upstream/authorize/${ID}`);
    await one.browser.get(peer.signIn(one.browser.page.location ?? '', { claims: { sub: one.sub, sid } }));
    await one.browser.follow();
    expect(await isSignedIn(one)).toBe(true);
    await sendToken(await logoutToken({ sid }));
    expect(await isSignedIn(one)).toBe(false);
  });

  test('cancels a sign-in waiting for its last button', async () => {
    const { userId, sub } = await newUser(ID);
    const sid = randomUUID();
    const browser = await atLastButton(ID, peer, sub, sid);
    await sendToken(await logoutToken({ sub, sid }));
    expect((await browser.submit()).status).toBe(404);
    expect(
      await sql(service.database, `select id from user_sessions where user_id = '${toUuid(userId as UserId)}'`),
    ).toEqual([]);
  });

  test('leaves no session when the last button is pressed concurrently', async () => {
    for (let round = 0; round < 40; round += 1) {
      const who = await newUser(ID);
      const sid = randomUUID();
      const browser = await atLastButton(ID, peer, who.sub, sid);
      const logout = await logoutToken({ sid });
      const [, response] = await Promise.all([browser.submit(), sendToken(logout, { to: second })]);
      expect(response.status).toBe(200);
      expect(await isSignedIn({ ...who, sid, browser })).toBe(false);
      await sql(service.database, `delete from rate_limits where key like 'upstream-logout%'`);
    }
  });

  test('may omit its type, and may be signed with the shared secret where ID tokens are', async () => {
    for (const typ of ['logout+jwt', 'JWT', 'application/logout+jwt']) {
      expect((await sendToken(await peer.sign(logoutClaims({ sub: 'x' }), { typ }))).status, typ).toBe(200);
    }
    const signed = await new SignJWT({ ...logoutClaims({ sub: 'x' }) })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(SECRET));
    expect((await sendToken(signed, { id: MAC_ID })).status).toBe(200);
    expect((await sendToken(signed)).status).toBe(400);
  });

  test('needs no cookie or form token, is unreadable to other origins, and takes six statements', async () => {
    const one = await signedIn();
    const text = await logoutToken({ sub: one.sub });
    const response = await sendToken(text, { headers: { origin: 'https://evil.example' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.getSetCookie()).toEqual([]);
    const line = service.requestLines().findLast(({ path }) => path.includes('backchannel-logout'));
    expect(line?.requester).toBeUndefined();
    expect(line?.queries).toBeLessThanOrEqual(6);
    expect((await fetch(`${service.address}/upstream/backchannel-logout/${ID}`)).status).toBe(405);
  });
});

describe('an invalid logout token (check 25, S-113)', () => {
  const now = Math.floor(Date.now() / 1000);
  const wrong: readonly (readonly [string, Claims])[] = [
    ['with a nonce', { nonce: 'n' }],
    ['with an empty nonce', { nonce: null }],
    ['without events', { events: undefined }],
    ['with other events', { events: { 'http://schemas.openid.net/event/other': {} } }],
    ['with an event that is no object', { events: { [EVENT]: true } }],
    ['with an event that is a list', { events: { [EVENT]: [] } }],
    ['with events that are a list', { events: [EVENT] }],
    ['with neither sub nor sid', { sub: undefined, sid: undefined }],
    ['with an empty sub', { sub: '' }],
    ['with a number as sub', { sub: 7 }],
    ['with a list as sid', { sid: ['a'] }],
    ['with a sid of 10 KiB', { sid: 's'.repeat(10_240) }],
    ['for another audience', { aud: 'another' }],
    ['for several without azp', { aud: ['latchkey', 'another'] }],
    ['without audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['without issuer', { iss: undefined }],
    ['expired', { exp: now - 120 }],
    ['without end', { exp: undefined }],
    ['from the future', { iat: now + 3600 }],
    ['of eleven minutes ago', { iat: now - 660, exp: now + 600 }],
    ['without time of issue', { iat: undefined }],
    ['without jti', { jti: undefined }],
    ['with an empty jti', { jti: '' }],
    ['with a number as jti', { jti: 7 }],
  ];

  test.each(wrong)('%s', async (_, claims) => {
    const one = await signedIn();
    const before = service.logLines().length;
    const response = await sendToken(await logoutToken({ sub: one.sub, sid: one.sid, ...claims }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await isSignedIn(one)).toBe(true);
    const lines = service.logLines().slice(before);
    expect(lines.filter((line) => line.includes('upstream.failed'))).toHaveLength(1);
  });

  const forged: readonly (readonly [string, (sub: string) => Promise<string>])[] = [
    ['unsigned', async (sub) => `${encoded({ alg: 'none' })}.${encoded(logoutClaims({ sub }))}.`],
    ['signed by another provider', async (sub) => await other.sign(logoutClaims({ sub }))],
    ['with a key that is not there', async (sub) => await peer.sign(logoutClaims({ sub }), { kid: 'two' })],
    ['with another algorithm', async (sub) => await peer.sign(logoutClaims({ sub }), { alg: 'PS256' })],
    ['of another type', async (sub) => await peer.sign(logoutClaims({ sub }), { typ: 'at+jwt' })],
    ['with a changed claim', async (sub) => changed(await logoutToken({ sub: 'x' }), logoutClaims({ sub }))],
    ['longer than 16 KiB', async (sub) => await logoutToken({ sub, more: 'x'.repeat(16_384) })],
    ['no JWT', async () => 'nonsense'],
    ['empty', async () => ''],
    [
      'an ID token in its place (S-36)',
      async (sub) =>
        await peer.sign({ iss: peer.issuer, sub, aud: 'latchkey', iat: now, exp: now + 300, nonce: 'n', jti: 'id' }),
    ],
  ];

  test.each(forged)('%s', async (_, make) => {
    const one = await signedIn();
    const response = await sendToken(await make(one.sub));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
    expect(await isSignedIn(one)).toBe(true);
  });

  test('an ID token of the sign-in itself (S-36)', async () => {
    const { userId, sub } = await newUser(ID);
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get(`/upstream/authorize/${ID}`);
    let idToken = '';
    const sign = async (claims: Claims) => {
      idToken = await peer.sign(claims);
      return idToken;
    };
    await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub }, sign }));
    await browser.follow();
    await browser.submit();
    expect((await sendToken(idToken)).status).toBe(400);
    expect(await isSignedIn({ userId, sub, sid: '', browser })).toBe(true);
  });

  test.each([
    ['none', ''],
    ['two', 'logout_token=a&logout_token=b'],
    ['one among other fields alone', 'id_token=a'],
  ])('a body with %s of it', async (_, body) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await send(body, { headers });
    expect([response.status, (await response.json()).error]).toEqual([400, 'invalid_request']);
  });

  test('a body other than a form', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ logout_token: await logoutToken({ sub: 'x' }) });
    expect((await send(body, { headers })).status).toBe(400);
  });

  test.each(['nonsense', '01HZX7T3Q8V3M5N6P7R8S9T0ZZ', OFF_ID])('%s is not a provider', async (id) => {
    const response = await sendToken(await logoutToken({ sub: 'x' }), { id });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'invalid_request', error_description: expect.any(String) },
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    // The provider is checked before the body (browser-flows 8.8).
    expect((await send('no form', { id })).status).toBe(404);
  });
});

describe('a jti', () => {
  test('is accepted once, on any instance (check 25, S-113)', async () => {
    const one = await signedIn();
    const text = await logoutToken({ sub: one.sub });
    expect((await sendToken(text)).status).toBe(200);
    const two = await signInAgain(one);
    for (const to of [service, second]) {
      const response = await sendToken(text, { to });
      expect([response.status, (await response.json()).error]).toEqual([400, 'invalid_request']);
    }
    expect(await isSignedIn(two)).toBe(true);
  });

  test('is accepted once for concurrent requests on two instances (S-100)', async () => {
    for (let round = 0; round < 25; round += 1) {
      const text = await logoutToken({ sub: 'x' });
      const responses = await Promise.all(
        Array.from({ length: 8 }, (_, index) => sendToken(text, { to: index % 2 === 0 ? service : second })),
      );
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      await sql(service.database, `delete from rate_limits where key like 'upstream-logout%'`);
    }
  });

  test('is scoped to its provider', async () => {
    const jti = randomUUID();
    expect((await sendToken(await logoutToken({ sub: 'x', jti }))).status).toBe(200);
    const id = MODES.logout_browser_only;
    expect((await sendToken(await logoutToken({ sub: 'x', jti }), { id })).status).toBe(200);
  });

  test('of a rejected token is not consumed', async () => {
    const jti = randomUUID();
    expect((await sendToken(await other.sign(logoutClaims({ sub: 'x', jti })))).status).toBe(400);
    expect((await sendToken(await logoutToken({ sub: 'x', jti }))).status).toBe(200);
  });

  test('is kept no longer than its token is valid', async () => {
    await sql(service.database, 'delete from replayed_values');
    await sendToken(await logoutToken({ sub: 'x', exp: Math.floor(Date.now() / 1000) + 365 * 86_400 }));
    const [row] = await sql<{ seconds: number }>(
      service.database,
      'select extract(epoch from expires_at - now())::integer as seconds from replayed_values',
    );
    expect(row?.seconds).toBeLessThanOrEqual(601);
    expect(row?.seconds).toBeGreaterThan(300);
  });
});

describe('availability', () => {
  test("allows 10 a second per provider; rejected tokens do not use up the provider's limit", async () => {
    const statuses = async (count: number, text: () => Promise<string>, id: string = ID) => {
      const responses = await Promise.all(Array.from({ length: count }, async () => sendToken(await text(), { id })));
      return responses.map(({ status }) => status);
    };
    const garbage = await statuses(40, async () => 'a.b.c');
    expect(garbage.filter((status) => status === 400).length).toBeGreaterThanOrEqual(10);
    expect(garbage).toContain(429);
    expect(new Set(garbage)).toEqual(new Set([400, 429]));
    const good = await statuses(40, async () => await logoutToken({ sub: 'x' }));
    expect(good.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
    expect(new Set(good)).toEqual(new Set([200, 429]));
    expect(await statuses(1, async () => await logoutToken({ sub: 'x' }), MODES.do_nothing)).toEqual([200]);
    const limited = await sendUntilLimited();
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await limited.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });

  async function sendUntilLimited() {
    for (;;) {
      const responses = await Promise.all(Array.from({ length: 20 }, () => sendToken('a.b.c')));
      const limited = responses.find(({ status }) => status === 429);
      if (limited !== undefined) return limited;
    }
  }

  test("returns 503 while the provider's keys cannot be fetched, and accepts the token again later", async () => {
    const fresh = await startService(
      {
        upstream_oauth2: {
          providers: [
            { id: ID, issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' },
            { id: OTHER_ID, issuer: 'http://127.0.0.1:1', client_id: 'x', token_endpoint_auth_method: 'none' },
          ],
        },
      },
      { expectedErrors: [' 503 '] },
    );
    try {
      peer.handlers.set('/keys', (_request, response) => response.writeHead(500).end());
      const text = await logoutToken({ sub: 'x' });
      for (const id of [ID, OTHER_ID]) {
        const response = await sendToken(text, { id, to: fresh });
        expect([response.status, await response.json()]).toEqual([
          503,
          { error: 'temporarily_unavailable', error_description: expect.any(String) },
        ]);
        expect(response.headers.get('retry-after')).toBe('60');
      }
    } finally {
      await fresh.stop();
    }
    peer.handlers.clear();
    expect((await sendToken(await logoutToken({ sub: 'x' }))).status).toBe(200);
  });
});

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function changed(text: string, claims: Claims): string {
  const [head, , signature] = text.split('.');
  return `${head}.${encoded(claims)}.${signature}`;
}
