import { createHash, createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import {
  type PeerResponse,
  startUpstreamPeer,
  UPSTREAM_SUBJECT,
  type UpstreamPeer,
} from '#test/support/upstream-peer.ts';
import type { UserId } from '#vocabulary/ids.ts';

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const OTHER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const POST_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AD';
const OFF_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AE';
const INFO_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AF';
const CLOSED_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AG';
const PASSWORD = 'correct horse battery staple';
const SECRET = 'a secret that both sides know, and nobody else';
let other: UpstreamPeer;
let service: TestService;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  other = await startUpstreamPeer();
  const shared = { client_id: 'latchkey', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic' };
  service = await startService(
    {
      rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
      email: { transport: 'file' },
      upstream_oauth2: {
        providers: [
          { id: ID, issuer: peer.issuer, human_name: 'Harbour', ...shared },
          { id: OTHER_ID, issuer: other.issuer, ...shared },
          { id: POST_ID, issuer: peer.issuer, human_name: 'Posted', response_mode: 'form_post', ...shared },
          { id: OFF_ID, issuer: peer.issuer, enabled: false, ...shared },
          {
            id: INFO_ID,
            issuer: peer.issuer,
            fetch_userinfo: true,
            scope: 'openid profile',
            linking_enabled: false,
            ...shared,
          },
          { id: CLOSED_ID, issuer: peer.issuer, registration_enabled: false, ...shared },
        ],
      },
    },
    { expectedErrors: [' 502 '] },
  );
});
afterAll(async () => {
  await service.stop();
  await other.stop();
});
afterEach(() => {
  peer.handlers.clear();
  other.handlers.clear();
});

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

/** Goes to the provider and back. */
async function signIn(browser: Browser, response?: PeerResponse, { id = ID, action = '' } = {}) {
  await browser.get(`/upstream/authorize/${id}${action}`);
  return await browser.get(peer.signIn(browser.page.location ?? '', response));
}

let users = 0;

/** A user whose account is linked to a separate subject at the provider. */
async function linkedUser(id = ID): Promise<{ name: string; subject: string; userId: string }> {
  users += 1;
  const name = `person${users}`;
  const subject = `subject of ${name}`;
  const userId = await service.registerUser(name, PASSWORD);
  await linkAccount(service.database, { providerId: id, userId, subject });
  return { name, subject, userId };
}

function uuid(id: string): string {
  return toUuid(id as UserId);
}

function lastLine() {
  return service.requestLines().at(-1);
}

describe('the sign-in page', () => {
  test('has a button for each enabled provider, in configuration order', async () => {
    const { body, text } = await newBrowser().get('/login?kind=change_password');
    const targets = [...body.matchAll(/href="\/upstream\/authorize\/(\w+)\?kind=change_password"/g)].map(
      ([, id]) => id,
    );
    expect(targets).toEqual([ID, OTHER_ID, POST_ID, INFO_ID, CLOSED_ID]);
    expect(text).toContain('Continue with Harbour');
    expect(text).toContain(`Continue with ${other.issuer.replace('http://', '')}`);
  });
});

describe('GET /upstream/authorize/{id}', () => {
  test('redirects to the provider with state, nonce and PKCE, and keeps the query of its URL', async () => {
    const browser = newBrowser();
    const page = await browser.get(`/upstream/authorize/${ID}`);
    expect(page.status).toBe(303);
    const location = new URL(page.location ?? '');
    expect(location.origin + location.pathname).toBe(`${peer.issuer}/authorize`);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      keep: 'this',
      response_type: 'code',
      client_id: 'latchkey',
      redirect_uri: `${service.publicBase}upstream/callback/${ID}`,
      scope: 'openid',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(lastLine()?.requester).toBeUndefined();
    await browser.get(peer.signIn(location.href));
    const { form } = peer.tokenRequests.at(-1) ?? { form: new URLSearchParams() };
    const verifier = form.get('code_verifier') ?? '';
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(location.searchParams.get('code_challenge'));
  });

  test.each(['nonsense', '01HZX7T3Q8V3M5N6P7R8S9T0ZZ', OFF_ID])('%s is not a provider', async (id) => {
    expect((await newBrowser().get(`/upstream/authorize/${id}`)).status).toBe(404);
    expect((await newBrowser().get(`/upstream/callback/${id}`)).status).toBe(404);
    // The provider is checked before the body (browser-flows 8.3).
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(`${service.address}/upstream/callback/${id}`, { method: 'POST', headers, body: '{' });
    expect(posted.status).toBe(404);
  });

  test('rejects HEAD, like the other routes that change state', async () => {
    for (const path of [`authorize/${ID}`, `callback/${ID}`, `link/${ID}`]) {
      expect((await newBrowser().head(`/upstream/${path}`)).status, path).toBe(405);
    }
  });
});

describe('a user whose account is linked to the provider (check 19)', () => {
  test('is signed in by the POST alone, and continues to their target', async () => {
    const { name, subject, userId } = await linkedUser();
    const browser = newBrowser();
    const responded = await signIn(browser, { claims: { sub: subject } }, { action: '?kind=change_password' });
    expect(responded.status).toBe(303);
    expect(responded.location).toMatch(/\/upstream\/link\/\w{26}$/);
    expect(lastLine()?.requester).toBeUndefined();

    const page = await browser.get(responded.location ?? '');
    expect(page.status).toBe(200);
    expect(page.text).toContain(`Continue as ${name}`);
    expect(page.body).toContain('data-submit-at-once');
    expect(lastLine()?.requester).toBeUndefined();
    expect((await browser.get('/')).text).not.toContain(name);

    await browser.get(responded.location ?? '');
    const done = await browser.submit();
    expect(done.status).toBe(303);
    expect(new URL(done.location ?? '').pathname).toBe('/account/password/change');
    expect(lastLine()).toMatchObject({ requester: `user:${userId}(${name})` });
    expect((await browser.get('/')).text).toContain(name);
    const [row] = await sql<{ kinds: string[] }>(
      service.database,
      `select array_agg(a.kind) as kinds from user_session_authentications a join user_sessions s on s.id = a.user_session_id
        where s.user_id = '${uuid(userId)}'`,
    );
    expect(row?.kinds).toEqual(['upstream']);
  });

  test('takes one token request at the provider, and one, two and one database statements', async () => {
    const { subject } = await linkedUser();
    // Caches the provider's metadata and keys.
    await signIn(newBrowser(), { claims: { sub: subject } });
    const browser = newBrowser();
    const before = peer.tokenRequests.length;
    const responded = await signIn(browser, { claims: { sub: subject } });
    expect(peer.tokenRequests.length).toBe(before + 1);
    await browser.get(responded.location ?? '');
    await browser.submit();
    const queries = service
      .requestLines()
      .slice(-4)
      .map((line) => line.queries);
    expect(queries).toEqual([2, 2, 1, 2]);
  });

  test('is notified by email of a new browser, but not again for the same one', async () => {
    const { subject, userId } = await linkedUser();
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select '${toUuid(newId(Date.now()))}', '${uuid(userId)}', 'told@example.org', 'told@example.org', now()`,
    );
    const browser = newBrowser();
    const enter = async (from: Browser): Promise<void> => {
      await from.get((await signIn(from, { claims: { sub: subject } })).location ?? '');
      expect((await from.submit()).status).toBe(303);
      from.cookies.delete('latchkey_session');
    };
    const notices = async () =>
      await sql<{ payload: Readonly<Record<string, unknown>> }>(
        service.database,
        `select payload from queue_jobs where payload ->> 'user_id' = '${uuid(userId)}'`,
      );
    await enter(browser);
    expect(await notices(), 'the first sign-in of the account').toEqual([]);
    await sql(
      service.database,
      `update users set created_at = created_at - interval '2 hours' where id = '${uuid(userId)}'`,
    );
    await enter(browser);
    expect(await notices()).toEqual([]);
    await enter(newBrowser());
    expect((await notices()).map(({ payload }) => payload)).toMatchObject([
      { notice: 'new_signin', to: 'told@example.org', language: 'en', detail: { method: 'upstream' } },
    ]);
  });

  test('sees the page of a locked or deactivated account, and no session is created', async () => {
    for (const state of ['locked', 'deactivated']) {
      const { subject, userId } = await linkedUser();
      const browser = newBrowser();
      const responded = await signIn(browser, { claims: { sub: subject } });
      await browser.get(responded.location ?? '');
      const form = browser.page.forms[0];
      await sql(service.database, `update users set ${state}_at = now() where id = '${uuid(userId)}'`);
      const posted = await browser.post(form?.action ?? '', new URLSearchParams([...(form?.inputs ?? [])]));
      expect(posted.status).toBe(200);
      expect(posted.text).toContain(state);
      expect(lastLine()?.requester).toBeUndefined();
      expect((await browser.get(responded.location ?? '')).text).toContain(state);
      const rows = await sql(service.database, `select id from user_sessions where user_id = '${uuid(userId)}'`);
      expect(rows).toEqual([]);
    }
  });

  test('signs in once per callback, however often the form is sent (S-100, S-110)', async () => {
    const { subject, userId } = await linkedUser();
    const browser = newBrowser();
    const responded = await signIn(browser, { claims: { sub: subject } });
    await browser.get(responded.location ?? '');
    const form = browser.page.forms[0];
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = new URLSearchParams([...(form?.inputs ?? [])]).toString();
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded', origin: service.address };
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        fetch(`${service.address}${form?.action}`, { method: 'POST', headers, body, redirect: 'manual' }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    // Requests that arrive after the session was opened find no pending sign-in.
    for (const status of statuses) expect([303, 404, 409]).toContain(status);
    const rows = await sql(service.database, `select id from user_sessions where user_id = '${uuid(userId)}'`);
    expect(rows).toHaveLength(1);
  });
});

describe('a user without an account', () => {
  test('sees that no account can be created, and the identity is stored as a link without an account', async () => {
    const browser = newBrowser();
    const stranger = { claims: { sub: 'a stranger' } };
    const responded = await signIn(browser, stranger, { id: CLOSED_ID });
    const page = await browser.get(responded.location ?? '');
    expect(page).toMatchObject({ status: 200, forms: [] });
    expect(page.text).toContain('No account found');
    const again = await signIn(newBrowser(), stranger, { id: CLOSED_ID });
    expect(again.location).toBe(responded.location);
  });
});

describe('linking an account', () => {
  async function userWithPassword() {
    users += 1;
    const name = `person${users}`;
    const userId = await service.registerUser(name, PASSWORD);
    return { name, userId, subject: `subject of ${name}` };
  }

  async function ownerOf(subject: string): Promise<string | undefined> {
    const rows = await sql<{ user_id: string | null }>(
      service.database,
      `select user_id from upstream_links where subject = '${subject}'`,
    );
    return rows[0]?.user_id ?? undefined;
  }

  test('lets an existing user sign in, confirm, and use the provider from then on', async () => {
    const { name, userId, subject } = await userWithPassword();
    const browser = newBrowser();
    const responded = await signIn(browser, { claims: { sub: subject } }, { action: '?kind=change_password' });
    const { body } = await browser.get(responded.location ?? '');
    expect(body).toContain('href="/login?kind=link_upstream&amp;id=');
    await browser.get(`/login?kind=link_upstream&id=${(responded.location ?? '').split('/').at(-1)}`);
    expect(browser.page.text).toContain('Sign in to link your account to your Harbour account');
    await browser.submit({ username: name, password: PASSWORD });
    expect(browser.page.location).toBe(responded.location);
    const page = await browser.follow();
    expect(page.text).toContain('Link your accounts?');
    expect(page.body).toMatch(/href="\/account\/password\/change"[^>]*>Do not link</);
    expect(await ownerOf(subject)).toBeUndefined();
    const done = await browser.submit({}, { action: new URL(responded.location ?? '').pathname });
    expect(done.status).toBe(303);
    expect(new URL(done.location ?? '').pathname).toBe('/account/password/change');
    expect(lastLine()?.requester).toBe(`user:${userId}(${name})`);
    expect(await ownerOf(subject)).toBe(uuid(userId));
    const events = await sql(
      service.database,
      `select kind from audit_events where user_id = '${uuid(userId)}' and kind = 'upstream_linked'`,
    );
    expect(events).toHaveLength(1);
    const other = newBrowser();
    await other.get((await signIn(other, { claims: { sub: subject } })).location ?? '');
    expect((await other.submit()).status).toBe(303);
  });

  async function atLinkPage(user: { name: string; subject: string }) {
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username: user.name, password: PASSWORD });
    const responded = await signIn(browser, { claims: { sub: user.subject } });
    await browser.get(responded.location ?? '');
    return { browser, path: new URL(responded.location ?? '').pathname };
  }

  test('notifies the user by email', async () => {
    const user = await userWithPassword();
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select '${toUuid(newId(Date.now()))}', '${uuid(user.userId)}', 'amira@example.org', 'amira@example.org', now()`,
    );
    const { browser, path } = await atLinkPage(user);
    await browser.submit({}, { action: path });
    const jobs = await sql<{ payload: Readonly<Record<string, unknown>> }>(
      service.database,
      `select payload from queue_jobs where payload ->> 'notice' = 'upstream_linked'`,
    );
    const detail = { provider: 'Harbour' };
    expect(jobs.map(({ payload }) => payload)).toMatchObject([{ to: 'amira@example.org', language: 'en', detail }]);
  });

  test('requires a recent authentication, and continues after it (S-111)', async () => {
    const user = await userWithPassword();
    const { browser, path } = await atLinkPage(user);
    const age = `update user_sessions set authenticated_at = authenticated_at - interval '11 minutes'`;
    await sql(service.database, `${age} where user_id = '${uuid(user.userId)}'`);
    const response = await browser.submit({}, { action: path });
    expect(new URL(response.location ?? '').pathname).toBe('/reauth');
    expect(lastLine()?.requester).toBeUndefined();
    expect(await ownerOf(user.subject)).toBeUndefined();
    await browser.follow();
    await browser.submit({ password: PASSWORD }, { action: browser.page.forms.at(-1)?.action ?? '' });
    await browser.follow();
    expect((await browser.submit({}, { action: path })).status).toBe(303);
    expect(await ownerOf(user.subject)).toBe(uuid(user.userId));
  });

  test("requires the page's form, and never moves a link from one account to another (S-57, S-110)", async () => {
    const user = await userWithPassword();
    const { browser, path } = await atLinkPage(user);
    expect((await browser.post(path, new URLSearchParams({ action: 'link' }))).status).toBe(403);
    await browser.get(path);
    const rival = await userWithPassword();
    await sql(
      service.database,
      `update upstream_links set user_id = '${uuid(rival.userId)}' where subject = '${user.subject}'`,
    );
    const response = await browser.submit({}, { action: path });
    expect(response).toMatchObject({ status: 200, errorCodes: ['state_changed'] });
    expect(await ownerOf(user.subject)).toBe(uuid(rival.userId));
  });

  test('links one of six users requesting one subject concurrently (S-100)', async () => {
    const subject = 'wanted by many';
    const all: ({ person: { userId: string } } & Awaited<ReturnType<typeof atLinkPage>>)[] = [];
    // One after the other, because password checks in progress count against the address limit.
    for (let count = 0; count < 6; count += 1) {
      const user = await userWithPassword();
      all.push({ person: user, ...(await atLinkPage({ name: user.name, subject })) });
    }
    const pages = await Promise.all(all.map(({ browser, path }) => browser.submit({}, { action: path })));
    expect(pages.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(all.map(({ person: user }) => uuid(user.userId))).toContain(await ownerOf(subject));
  });

  test('is limited to 20 upstream accounts', async () => {
    const user = await userWithPassword();
    for (let count = 0; count < 20; count += 1) {
      await linkAccount(service.database, {
        providerId: ID,
        userId: user.userId,
        subject: `${user.name} ${count}`,
      });
    }
    const { browser, path } = await atLinkPage(user);
    expect((await browser.submit({}, { action: path })).errorCodes).toEqual(['too_many_links']);
  });

  test('is not offered where disabled', async () => {
    const user = await userWithPassword();
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username: user.name, password: PASSWORD });
    const both = { claims: { sub: user.subject }, userinfo: { sub: user.subject } };
    const responded = await signIn(browser, both, { id: INFO_ID });
    const page = await browser.get(responded.location ?? '');
    expect(page.text).toContain('cannot be linked');
    expect(page.body).toMatch(/href="\/"[^>]*>Continue</);
    const csrf = page.forms[0]?.inputs.get('csrf') ?? '';
    const forced = await browser.post(responded.location ?? '', new URLSearchParams({ csrf, action: 'link' }));
    expect(forced).toMatchObject({ status: 200, errorCodes: ['state_changed'] });
    expect(await ownerOf(user.subject)).toBeUndefined();
  });
});

describe('a link in another browser, or in a signed-in one', () => {
  test('is not found by another browser, whatever the ID is (S-110, S-83)', async () => {
    const { subject } = await linkedUser();
    const responded = await signIn(newBrowser(), { claims: { sub: subject } });
    for (const address of [responded.location ?? '', `/upstream/link/${newId(Date.now())}`, '/upstream/link/x']) {
      const response = await newBrowser().get(address);
      expect(response).toMatchObject({ status: 404, errorCodes: ['upstream_link_not_found'] });
    }
  });

  test('of another user is not taken over by the signed-in user (S-110)', async () => {
    const owner = await linkedUser();
    const viewer = await linkedUser();
    const browser = newBrowser();
    await browser.get((await signIn(browser, { claims: { sub: viewer.subject } })).location ?? '');
    await browser.submit();
    const responded = await signIn(browser, { claims: { sub: owner.subject } });
    const page = await browser.get(responded.location ?? '');
    expect(page.text).toContain(`You are signed in as ${viewer.name}`);
    expect(page.body).toMatch(/<a [^>]*href="\/?[^"]*"[^>]*><span>Stay signed in as/);
    const rows = await sql<{ user_id: string }>(
      service.database,
      `select user_id from upstream_links where subject = '${owner.subject}'`,
    );
    expect(rows).toEqual([{ user_id: uuid(owner.userId) }]);
    // Signing out on that page leads back to the sign-in as the account's owner.
    await browser.submit();
    const after = await browser.follow();
    expect(after.text).toContain(`Continue as ${owner.name}`);
  });

  test('of the signed-in user ends the sign-in without a second session', async () => {
    const { subject, userId } = await linkedUser();
    const browser = newBrowser();
    await browser.get((await signIn(browser, { claims: { sub: subject } })).location ?? '');
    await browser.submit();
    const responded = await signIn(browser, { claims: { sub: subject } }, { action: '?kind=change_password' });
    const response = await browser.get(responded.location ?? '');
    expect(response.status).toBe(303);
    expect(new URL(response.location ?? '').pathname).toBe('/account/password/change');
    const rows = await sql(service.database, `select id from user_sessions where user_id = '${uuid(userId)}'`);
    expect(rows).toHaveLength(1);
  });
});

describe('reauthentication through the provider', () => {
  async function signedIn() {
    const user = await linkedUser();
    const browser = newBrowser();
    await browser.get((await signIn(browser, { claims: { sub: user.subject } })).location ?? '');
    await browser.submit();
    await sql(
      service.database,
      `update user_sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = '${uuid(user.userId)}'`,
    );
    return { ...user, browser };
  }

  async function toProvider(browser: Browser): Promise<void> {
    const { body } = await browser.get('/reauth?kind=change_password');
    const [, href = ''] = /href="(\/upstream\/authorize\/[^"]*reauth=[^"]*)"/.exec(body) ?? [];
    await browser.get(href.replaceAll('&amp;', '&'));
  }

  async function age(userId: string): Promise<number> {
    const [row] = await sql<{ age: number }>(
      service.database,
      `select extract(epoch from now() - authenticated_at)::integer as age from user_sessions where user_id = '${uuid(userId)}'`,
    );
    return row?.age ?? -1;
  }

  test('asks the provider to reauthenticate the user, and gives the session a new authentication', async () => {
    const { browser, subject, userId } = await signedIn();
    const before = browser.cookies.get('latchkey_session');
    await toProvider(browser);
    const requested = new URL(browser.page.location ?? '').searchParams;
    expect([requested.get('prompt'), requested.get('max_age')]).toEqual(['login', '0']);
    const claims = { sub: subject, auth_time: Math.floor(Date.now() / 1000) };
    await browser.get(peer.signIn(browser.page.location ?? '', { claims }));
    const done = await browser.get(browser.page.location ?? '');
    expect(new URL(done.location ?? '').pathname).toBe('/account/password/change');
    expect(await age(userId)).toBeLessThan(60);
    expect(browser.cookies.get('latchkey_session')).not.toBe(before);
    expect((await browser.get('/')).text).toContain('Sign out');
  });

  test('also requires a code from users with one-time codes: the provider alone renews nothing', async () => {
    const { browser, subject, userId } = await signedIn();
    const app = await giveAuthenticatorApp(service.core, userId);
    const key = browser.cookies.get('latchkey_session');
    await toProvider(browser);
    const claims = { sub: subject, auth_time: Math.floor(Date.now() / 1000) };
    await browser.get(peer.signIn(browser.page.location ?? '', { claims }));
    const done = await browser.get(browser.page.location ?? '');
    expect(new URL(done.location ?? '').pathname).toBe('/reauth/totp');
    expect(await age(userId)).toBeGreaterThan(3000);
    expect(browser.cookies.get('latchkey_session')).toBe(key);
    await browser.get(done.location ?? '');
    await browser.submit({ code: app.code() });
    expect(new URL(browser.page.location ?? '').pathname).toBe('/account/password/change');
    expect(await age(userId)).toBeLessThan(60);
    const [session] = await sql<{ acr: string }>(
      service.database,
      `select acr from user_sessions where user_id = '${uuid(userId)}'`,
    );
    expect(session?.acr).toBe('urn:latchkey:acr:2');
  });

  test.each([
    ['does not say when it asked', undefined, 'no auth_time'],
    ['asked ten minutes ago', -600, 'old auth_time'],
    ['will ask in ten minutes', 600, 'old auth_time'],
  ])('rejects a provider that %s', async (_, seconds, problem) => {
    const { browser, subject, userId } = await signedIn();
    await toProvider(browser);
    const auth_time = seconds === undefined ? undefined : Math.floor(Date.now() / 1000) + seconds;
    const page = await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: subject, auth_time } }));
    expect(page).toMatchObject({ status: 400, errorCodes: ['upstream_not_reauthenticated'] });
    expect(page.body).toContain('href="/reauth?kind=change_password"');
    expect(service.logLines().findLast((line) => line.includes('upstream.failed'))).toContain(problem);
    // An ordinary sign-in does not count as reauthentication either.
    const responded = await signIn(browser, { claims: { sub: subject } });
    await browser.get(responded.location ?? '');
    expect(await age(userId)).toBeGreaterThan(3000);
  });
});

describe('unsolicited callbacks (check 20, S-59, S-106)', () => {
  test.each([
    ['nothing', '', 400, 'missing_parameters'],
    ['a code without state', '?code=x', 400, 'upstream_session_missing'],
    ['a made-up state', '?code=x&state=y', 400, 'upstream_session_missing'],
  ])('rejects %s', async (_, query, status, code) => {
    const page = await newBrowser().get(`/upstream/callback/${ID}${query}`);
    expect(page).toMatchObject({ status, errorCodes: [code] });
  });

  test('rejects a callback in another browser, a repeated or late one, and one of another provider', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}`);
    const address = peer.signIn(browser.page.location ?? '');
    const requests = peer.tokenRequests.length;
    expect((await newBrowser().get(address)).errorCodes).toEqual(['upstream_session_missing']);
    const elsewhere = address.replace(ID, OTHER_ID);
    expect((await browser.get(elsewhere)).errorCodes).toEqual(['upstream_session_missing']);
    expect(peer.tokenRequests.length).toBe(requests);
    const cookies = new Map(browser.cookies);
    expect((await browser.get(address)).status).toBe(303);
    expect((await browser.get(address)).errorCodes).toEqual(['upstream_session_missing']);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(address)).errorCodes).toEqual(['upstream_session_used']);

    await browser.get(`/upstream/authorize/${ID}`);
    const late = peer.signIn(browser.page.location ?? '');
    await sql(
      service.database,
      `update upstream_authorizations set created_at = created_at - interval '10 minutes' where received_at is null`,
    );
    expect((await browser.get(late)).errorCodes).toEqual(['upstream_session_expired']);
    expect(peer.tokenRequests.length).toBe(requests + 1);
  });

  test('rejects an unknown state in the browser that started a sign-in', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}`);
    const right = peer.signIn(browser.page.location ?? '');
    const requests = peer.tokenRequests.length;
    const state = new URL(right).searchParams.get('state') ?? '';
    for (const wrong of ['', 'x', state.slice(0, -1), `${state}x`, state.toUpperCase()]) {
      const address = new URL(right);
      address.searchParams.set('state', wrong);
      const page = await browser.get(address.href);
      expect(page, wrong).toMatchObject({ status: 400, errorCodes: ['upstream_session_missing'] });
    }
    expect(peer.tokenRequests.length).toBe(requests);
    expect((await browser.get(right)).status).toBe(303);
  });

  test('do not occur for two tabs of one browser', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}`);
    const first = peer.signIn(browser.page.location ?? '');
    await browser.get(`/upstream/authorize/${ID}`);
    const second = peer.signIn(browser.page.location ?? '');
    expect((await browser.get(first)).status).toBe(303);
    expect((await browser.get(second)).status).toBe(303);
  });

  test('send a code to the provider once, even for concurrent repeated callbacks', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}`);
    const address = peer.signIn(browser.page.location ?? '');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const before = peer.tokenRequests.length;
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => fetch(address, { headers: { cookie }, redirect: 'manual' })),
    );
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(19);
    expect(peer.tokenRequests.length).toBe(before + 1);
  });
});

describe('provider errors', () => {
  test.each(['access_denied', 'user_cancelled_authorize'])('%s redirects to the sign-in page', async (error) => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}?kind=change_password`);
    const state = new URL(browser.page.location ?? '').searchParams.get('state') ?? '';
    await browser.get(`/upstream/callback/${ID}?error=${error}&state=${state}`);
    expect(browser.page.status).toBe(303);
    const page = await browser.follow();
    expect(page.url).toContain('kind=change_password');
    expect(page.text).toContain('You did not sign in with the other service');
  });

  test('others are logged, truncated and on one line, and neither shown nor followed (S-74)', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}`);
    const state = new URL(browser.page.location ?? '').searchParams.get('state') ?? '';
    const fields = new URLSearchParams({
      error: 'server_error<script>',
      error_description: `AADSTS50011: it\r\nbroke ${'x'.repeat(400)}`,
      error_uri: 'https://evil.example/',
      state,
    });
    const page = await browser.get(`/upstream/callback/${ID}?${fields}`);
    expect(page).toMatchObject({ status: 400, errorCodes: ['upstream_error'] });
    for (const text of ['server_error', 'AADSTS50011', '<script>']) expect(page.body).not.toContain(text);
    const line = service.logLines().findLast((text) => text.includes('upstream.failed'));
    expect(line).toMatch(/server_error<script>: AADSTS50011: it broke x{278}(?!x)/);
    expect(page.body).not.toContain('evil.example');
  });

  test('a callback without a code is rejected', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${ID}`);
    const state = new URL(browser.page.location ?? '').searchParams.get('state') ?? '';
    expect((await browser.get(`/upstream/callback/${ID}?state=${state}`)).errorCodes).toEqual(['missing_code']);
  });
});

describe('invalid ID tokens (check 20, S-107, S-108)', () => {
  const now = Math.floor(Date.now() / 1000);
  const wrong: readonly (readonly [string, () => PeerResponse])[] = [
    ['another nonce', () => ({ claims: { nonce: 'another' } })],
    ['no nonce', () => ({ claims: { nonce: undefined } })],
    ['another audience', () => ({ claims: { aud: 'another' } })],
    ['several audiences without azp', () => ({ claims: { aud: ['latchkey', 'another'] } })],
    ['several audiences for another', () => ({ claims: { aud: ['latchkey', 'another'], azp: 'another' } })],
    ['another issuer', () => ({ claims: { iss: other.issuer } })],
    ['no issuer', () => ({ claims: { iss: undefined } })],
    ['expired', () => ({ claims: { exp: now - 120 } })],
    ['without end', () => ({ claims: { exp: undefined } })],
    ['from the future', () => ({ claims: { iat: now + 3600 } })],
    ['no subject', () => ({ claims: { sub: undefined } })],
    ['an empty subject', () => ({ claims: { sub: '' } })],
    ['a number as subject', () => ({ claims: { sub: 7 } })],
    ['a subject of 10 KiB', () => ({ claims: { sub: 's'.repeat(10_240) } })],
    ['a wrong at_hash', () => ({ claims: { at_hash: 'nonsense' } })],
    ['a wrong c_hash', () => ({ claims: { c_hash: 'nonsense' } })],
    ['unsigned', () => ({ sign: async (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.` })],
    ['signed with the client secret', () => ({ sign: async (claims) => macOf(claims) })],
    ['signed by another provider', () => ({ sign: async (claims) => await other.sign(claims) })],
    ['with another key name', () => ({ sign: async (claims) => await peer.sign(claims, { kid: 'two' }) })],
    ['another algorithm of the key', () => ({ sign: async (claims) => await peer.sign(claims, { alg: 'PS256' }) })],
    ['none at all', () => ({ idToken: null })],
    ['not a JWT', () => ({ idToken: 'nonsense' })],
  ];

  test.each(wrong)('%s', async (_, response) => {
    const browser = newBrowser();
    const before = service.logLines().length;
    const page = await signIn(browser, response());
    expect(page).toMatchObject({ status: 502, errorCodes: ['upstream_invalid_response'] });
    const lines = service
      .logLines()
      .slice(before)
      .filter((line) => line.includes('upstream.failed'));
    expect(lines).toHaveLength(1);
    const rows = await sql(
      service.database,
      `select id from upstream_authorizations where received_at is not null and link_id is not null and completed_at is null`,
    );
    expect(rows).toEqual([]);
  });

  test('several audiences with our azp, and correct hashes, are accepted', async () => {
    const page = await signIn(newBrowser(), { claims: { aud: ['latchkey', 'another'], azp: 'latchkey' } });
    expect(page.status).toBe(303);
  });

  test('a callback with no or a wrong issuer, where the provider always sends one, takes no token request', async () => {
    other.metadata = { authorization_response_iss_parameter_supported: true };
    const before = other.tokenRequests.length;
    for (const iss of ['', peer.issuer]) {
      const browser = newBrowser();
      await browser.get(`/upstream/authorize/${OTHER_ID}`);
      const page = await browser.get(other.signIn(browser.page.location ?? '', {}, { iss }));
      expect(page.errorCodes, iss).toEqual(['upstream_issuer_mismatch']);
    }
    expect(other.tokenRequests.length).toBe(before);
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${OTHER_ID}`);
    const page = await browser.get(other.signIn(browser.page.location ?? '', {}, { iss: other.issuer }));
    expect(page.status).toBe(303);
  });
});

describe('a misbehaving provider (S-109)', () => {
  test('its reason for rejecting a code is in the log, and not on the page', async () => {
    peer.handlers.set('/token', (_request, response) => {
      const error_description = 'AADSTS7000215: Invalid client secret\u0007 provided.';
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'invalid_client', error_description }));
    });
    const page = await signIn(newBrowser());
    expect(page.errorCodes).toEqual(['upstream_invalid_response']);
    expect(page.body).not.toContain('AADSTS');
    const line = service.logLines().findLast((text) => text.includes('upstream.failed'));
    expect(line).toContain('status 401, invalid_client: AADSTS7000215: Invalid client secret provided.');
  });

  test.each([
    ['HTML', 200, 'text/html', '<html>'],
    ['an error with status 200', 200, 'application/json', '{"error":"bad_verification_code"}'],
    ['a list', 200, 'application/json', '[]'],
    ['another status', 500, 'application/json', '{}'],
    ['too much', 200, 'application/json', `{"a":"${'x'.repeat(1_100_000)}"}`],
  ])('the token endpoint returns %s', async (_, status, type, body) => {
    peer.handlers.set('/token', (_request, response) => response.writeHead(status, { 'content-type': type }).end(body));
    expect(await signIn(newBrowser())).toMatchObject({ status: 502, errorCodes: ['upstream_invalid_response'] });
  });

  test('redirects are not followed', async () => {
    peer.handlers.set('/token', (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end());
    expect((await signIn(newBrowser())).status).toBe(502);
    expect(peer.count('/elsewhere')).toBe(0);
  });

  test('a broken connection is retried once', async () => {
    const before = peer.count('/token');
    peer.handlers.set('/token', (request) => request.socket.destroy());
    expect((await signIn(newBrowser())).status).toBe(502);
    expect(peer.count('/token')).toBe(before + 2);
  });
});

describe('form_post callbacks (check 21)', () => {
  test('a POST from the provider arrives without cookies: our own page repeats it, once', async () => {
    const { subject } = await linkedUser(POST_ID);
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${POST_ID}`);
    const address = new URL(browser.page.location ?? '');
    expect(address.searchParams.get('response_mode')).toBe('form_post');
    const back = new URL(peer.signIn(address.href, { claims: { sub: subject } }));
    const kept = new Map(browser.cookies);
    const requests = peer.tokenRequests.length;
    browser.cookies.clear();
    const headers = { origin: peer.issuer, 'sec-fetch-site': 'cross-site' };
    const user = '{"name":{"firstName":"Ada"}}';
    back.searchParams.set('user', user);
    const repost = await browser.post(`/upstream/callback/${POST_ID}`, back.searchParams, headers);
    expect(repost.status).toBe(200);
    expect(repost.body).toContain('data-submit-at-once');
    expect(peer.tokenRequests.length).toBe(requests);
    expect((await browser.submit()).errorCodes).toEqual(['upstream_session_missing']);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    await browser.post(`/upstream/callback/${POST_ID}`, new URLSearchParams([...(repost.forms[0]?.inputs ?? [])]));
    expect(browser.page.status).toBe(303);
    await browser.get(browser.page.location ?? '');
    expect((await browser.submit()).status).toBe(303);
  });

  test('only the configured response mode is accepted', async () => {
    const page = await newBrowser().get(`/upstream/callback/${POST_ID}?code=x&state=y`);
    expect(page.errorCodes).toEqual(['invalid_response_mode']);
  });
});

describe('userinfo', () => {
  test('is fetched with the access token, and must have the same subject', async () => {
    const good = await signIn(newBrowser(), { userinfo: { sub: UPSTREAM_SUBJECT, name: 'Ada' } }, { id: INFO_ID });
    expect(good.status).toBe(303);
    for (const [userinfo, problem] of [
      [{ sub: 'another' }, 'userinfo: sub differs from the ID token'],
      [{ name: 'Ada' }, 'userinfo: no sub'],
      ['a JWT', 'userinfo: the response is not a JSON object'],
    ] as const) {
      const page = await signIn(newBrowser(), { userinfo }, { id: INFO_ID });
      expect(page.errorCodes).toEqual(['upstream_invalid_response']);
      expect(service.logLines().findLast((line) => line.includes('upstream.failed'))).toContain(problem);
    }
  });
});

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function macOf(claims: Readonly<Record<string, unknown>>): string {
  const content = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
  return `${content}.${createHmac('sha256', SECRET).update(content).digest('base64url')}`;
}

// These tests are last, because they are the first to write these instances' providers to the database.
describe('a provider disabled by config sync', () => {
  test('is unused from then on, even by a process with the old configuration', async () => {
    const uuid = toUuid(parseId<'upstream-provider'>(ID) ?? newId<'upstream-provider'>(0));
    await sql(service.database, `update upstream_providers set disabled_at = now() where id = '${uuid}'`);
    const page = await newBrowser().get(`/upstream/authorize/${ID}`);
    expect(page).toMatchObject({ status: 404, errorCodes: ['not_found'], location: undefined });
    await sql(service.database, `update upstream_providers set disabled_at = null where id = '${uuid}'`);
    expect((await newBrowser().get(`/upstream/authorize/${ID}`)).status).toBe(303);
  });
});

describe('a provider with relaxed checks', () => {
  test('accepts an ID token without nonce and auth_time, but not one with a wrong nonce', async () => {
    const shared = { client_id: 'latchkey', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic' };
    const settings = { nonce: 'optional', reauthentication: 'prompt' };
    const lenient = await startService(
      {
        rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
        upstream_oauth2: { providers: [{ id: ID, issuer: peer.issuer, ...settings, ...shared }] },
      },
      { like: service, expectedErrors: [' 502 '] },
    );
    try {
      const { subject, userId } = await linkedUser();
      const browser = new Browser({ listener: lenient.address, publicBase: lenient.publicBase });
      const claims = { sub: subject, nonce: undefined, auth_time: undefined };
      await browser.get((await signIn(browser, { claims })).location ?? '');
      expect((await browser.submit()).status).toBe(303);
      await sql(
        service.database,
        `update user_sessions set authenticated_at = now() - interval '1 hour' where user_id = '${uuid(userId)}'`,
      );
      const { body } = await browser.get('/reauth');
      const [, href = ''] = /href="(\/upstream\/authorize\/[^"]*reauth=[^"]*)"/.exec(body) ?? [];
      await browser.get(href.replaceAll('&amp;', '&'));
      await browser.get(peer.signIn(browser.page.location ?? '', { claims }));
      await browser.get(browser.page.location ?? '');
      const renewed = await sql(
        service.database,
        `select id from user_sessions where user_id = '${uuid(userId)}' and authenticated_at > now() - interval '1 minute'`,
      );
      expect(renewed).toHaveLength(1);
      const wrong = await signIn(browser, { claims: { sub: subject, nonce: 'another' } });
      expect(wrong.errorCodes).toEqual(['upstream_invalid_response']);
    } finally {
      await lenient.stop();
    }
  });
});

describe('a user with one-time codes (browser-flows 8.5)', () => {
  async function throughProvider(from: TestService, subject: string): Promise<Browser> {
    const browser = new Browser({ listener: from.address, publicBase: from.publicBase });
    await signIn(browser, { claims: { sub: subject } }, { action: '?kind=change_password' });
    await browser.get(browser.page.location ?? '');
    await browser.submit({});
    return browser;
  }

  async function sessionsOf(userId: string) {
    return await sql<{ acr: string; amr: string[]; kinds: string[]; upstream: number }>(
      service.database,
      `select s.acr, s.amr,
              array(select a.kind from user_session_authentications a where a.user_session_id = s.id order by a.id) as kinds,
              (select count(*)::integer from upstream_authorizations u where u.user_session_id = s.id) as upstream
         from user_sessions s where s.user_id = $1::uuid order by s.id`,
      [uuid(userId)],
    );
  }

  test('needs no code after a provider, unless configured: then the session has both authentications', async () => {
    const { subject, userId, name } = await linkedUser();
    const app = await giveAuthenticatorApp(service.core, userId);
    expect((await throughProvider(service, subject)).page.location).toMatch(/\/account\/password\/change$/);
    expect(await sessionsOf(userId)).toMatchObject([{ acr: 'urn:latchkey:acr:1', kinds: ['upstream'], upstream: 1 }]);

    const shared = { client_id: 'latchkey', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic' };
    const asking = await startService(
      {
        account: { second_factor_after_upstream: 'if_enrolled' },
        rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
        upstream_oauth2: { providers: [{ id: ID, issuer: peer.issuer, human_name: 'Harbour', ...shared }] },
      },
      { like: service },
    );
    try {
      const browser = await throughProvider(asking, subject);
      expect(browser.page.location).toMatch(/\/login\/totp\?kind=change_password$/);
      expect(asking.requestLines().at(-1)?.requester).toBeUndefined();
      expect(await sessionsOf(userId)).toHaveLength(1);
      await browser.get(browser.page.location ?? '');
      await browser.submit({ code: app.code() });
      expect(browser.page.location).toMatch(/\/account\/password\/change$/);
      expect(asking.requestLines().at(-1)?.requester).toBe(`user:${userId}(${name})`);
      const [, session] = await sessionsOf(userId);
      expect(session).toEqual({
        acr: 'urn:latchkey:acr:2',
        amr: ['otp', 'mfa'],
        kinds: ['upstream', 'totp'],
        upstream: 1,
      });

      const late = await throughProvider(asking, subject);
      await sql(service.database, 'update upstream_links set user_id = null where user_id = $1::uuid', [uuid(userId)]);
      await late.get('/login/totp');
      expect(late.page.location).toMatch(/\/login\?notice=/);
    } finally {
      await asking.stop();
    }
  });
});
