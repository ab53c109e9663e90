import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { type PeerResponse, startUpstreamPeer } from '#test/support/upstream-peer.ts';

/** Too long. */
const MALFORMED_TOKEN = 'a'.repeat(256);
const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const TOKEN_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const CLOSED_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AD';
const UNKNOWN_ID = '01HZX7T3Q8V3M5N6P7R8S9T0ZZ';
const PASSWORD = 'correct horse battery staple';
let service: TestService;
let settings: Readonly<Record<string, unknown>>;
let count = 0;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { issuer: peer.issuer, client_id: 'latchkey', client_secret: 'x'.repeat(32) };
  const provider = { ...shared, token_endpoint_auth_method: 'client_secret_basic' };
  settings = {
    account: { password_registration_enabled: true },
    rate_limiting: {
      upstream: { per_ip: { burst: 100_000 } },
      registration: { burst: 100_000 },
      registration_check: { burst: 100_000 },
    },
    upstream_oauth2: {
      providers: [
        { id: ID, human_name: 'Harbour', ...provider },
        { id: TOKEN_ID, human_name: 'Invited', registration_token_required: true, ...provider },
        { id: CLOSED_ID, human_name: 'Closed', registration_enabled: false, ...provider },
      ],
    },
  };
  service = await startService(settings);
});
afterAll(async () => {
  await service.stop();
});

test('rejects a name taken at the homeserver, and starts nothing while it does not respond (browser-flows 5.5)', async () => {
  const secret = 'shared-secret-of-the-test';
  const homeserver = await startStandInHomeserver(secret);
  homeserver.addUser('taken-there');
  const connection = { homeserver: homeserver.serverName, endpoint: homeserver.endpoint, secret };
  const connected = await startService({ ...settings, homeserver: connection });
  try {
    const browser = newBrowser(connected);
    await comeBack(browser);
    expect(await browser.submit({ username: 'taken-there' })).toMatchObject({ status: 200, errorCodes: ['exists'] });
    await homeserver.setFault({ kind: 'refuse' });
    const response = await browser.submit({ username: 'free-there' });
    expect(response).toMatchObject({ status: 200, errorCodes: ['homeserver_unavailable'] });
    expectCleanPage(response.body);
    expect(await sql(connected.database, 'select from user_registrations')).toEqual([]);
    await homeserver.setFault(undefined);
    expect((await browser.submit({ username: 'free-there' })).status).toBe(303);
  } finally {
    await connected.stop();
    await homeserver.stop();
  }
});

function newBrowser(at = service): Browser {
  return new Browser({ listener: at.address, publicBase: at.publicBase });
}

/** Shows the page after a new user signed in at the provider. @returns its path */
async function comeBack(
  browser: Browser,
  { id = ID, action = '', answer: response = newcomer() } = {},
): Promise<string> {
  await browser.get(`/upstream/authorize/${id}${action}`);
  await browser.get(peer.signIn(browser.page.location ?? '', response));
  const path = new URL(browser.page.location ?? '').pathname;
  await browser.get(path);
  return path;
}

function newcomer(): PeerResponse {
  count += 1;
  return { claims: { sub: `newcomer ${count}` } };
}

function newName(): string {
  count += 1;
  return `person${count}`;
}

/** Submits the form and continues to the display name page. */
async function registerUpToDisplayName(browser: Browser, username: string): Promise<void> {
  await browser.submit({ username });
  await browser.follow();
}

async function usersNamed(username: string): Promise<readonly { id: string }[]> {
  return await sql<{ id: string }>(service.database, `select id from users where username = '${username}'`);
}

function lastLine() {
  return service.requestLines().at(-1);
}

describe('registering through an upstream provider', () => {
  test("creates account, link, session and authentication at once, and continues to the user's target", async () => {
    const browser = newBrowser();
    const username = newName();
    const path = await comeBack(browser, { action: '?kind=change_password' });
    expect(browser.page).toMatchObject({ status: 200 });
    expectCleanPage(browser.page.body);
    expect(browser.page.text).toContain('Harbour');
    expect(lastLine()?.requester).toBeUndefined();
    const began = await browser.submit({ username });
    expect(began.status).toBe(303);
    expect(began.location).toMatch(/\/register\/steps\/\w{26}\/finish$/);
    expect(lastLine()?.requester).toBeUndefined();
    await browser.follow();
    expect(browser.page.url).toMatch(/display-name$/);
    expect(await usersNamed(username)).toEqual([]);
    const set = await browser.submit({ action: 'set', display_name: 'Amira' });
    const finish = set.location ?? '';
    const done = await browser.get(finish);
    expect(done.status).toBe(303);
    expect(new URL(done.location ?? '').pathname).toBe('/account/password/change');
    const [user] = await usersNamed(username);
    const [facts] = await sql(
      service.database,
      `select u.display_name, l.subject is not null as is_linked, a.consumed_at is not null as is_consumed,
              s.id = a.user_session_id as is_remembered, s.amr, p.user_id as password,
              array(select kind from user_session_authentications where user_session_id = s.id) as kinds,
              array(select e.kind from audit_events e where e.user_id = u.id) as events,
              (select completed_at is not null from user_registrations where username = u.username) as is_completed
         from users u join upstream_links l on l.user_id = u.id join upstream_authorizations a on a.link_id = l.id
         join user_sessions s on s.user_id = u.id left join user_passwords p on p.user_id = u.id
        where u.id = '${user?.id}'`,
    );
    expect(facts).toEqual({
      display_name: 'Amira',
      is_linked: true,
      is_consumed: true,
      is_remembered: true,
      amr: [],
      password: null,
      kinds: ['upstream'],
      events: ['registered'],
      is_completed: true,
    });
    expect(lastLine()?.requester).toMatch(new RegExp(`^user:\\w{26}\\(${username}\\)$`));
    expect((await browser.get('/')).text).toContain('Amira');
    // Repeating the request creates nothing, and the sign-in is used up.
    expect((await browser.get(finish)).location).toBe(done.location);
    expect((await browser.get(path)).errorCodes).toEqual(['upstream_link_not_found']);
    expect(await usersNamed(username)).toHaveLength(1);
  });

  test('allows the user to sign in that way afterwards', async () => {
    const username = newName();
    const response = newcomer();
    const browser = newBrowser();
    await comeBack(browser, { answer: response });
    await registerUpToDisplayName(browser, username);
    await browser.submit({ action: 'skip' });
    await browser.follow();
    const later = newBrowser();
    await comeBack(later, { answer: response });
    expect(later.page.text).toContain(`Continue as ${username}`);
    expect((await later.submit()).status).toBe(303);
    expect(lastLine()?.requester).toContain(`(${username})`);
  });

  test.each([
    ['nothing', '', ['required']],
    ['capitals', 'Amira', ['username-invalid-chars']],
    ['a reserved name', '_amira', ['username-reserved']],
  ])('rejects %s as username, and starts nothing', async (_, username, codes) => {
    const browser = newBrowser();
    await comeBack(browser);
    const page = await browser.submit({ username });
    expect(page).toMatchObject({ status: 200, errorCodes: codes });
    expect(browser.cookies.has('latchkey_registrations')).toBe(false);
    expect((await browser.submit({ username: newName() })).status).toBe(303);
  });

  test('rejects a taken name (S-105)', async () => {
    const username = newName();
    await service.registerUser(username, PASSWORD);
    const browser = newBrowser();
    await comeBack(browser, { answer: { claims: { sub: `the rival of ${username}`, preferred_username: username } } });
    expect(browser.page.text).not.toContain(`Continue as ${username}`);
    expect((await browser.submit({ username })).errorCodes).toEqual(['exists']);
    expect((await browser.submit({ action: 'login' })).errorCodes).toEqual(['state_changed']);
    expect(lastLine()?.requester).toBeUndefined();
    const links = `select l.id from upstream_links l join users u on u.id = l.user_id where u.username = '${username}'`;
    expect(await sql(service.database, links)).toEqual([]);
  });

  test('asks again for a name that is taken before the end', async () => {
    const [username, other] = [newName(), newName()];
    const browser = newBrowser();
    await comeBack(browser);
    await registerUpToDisplayName(browser, username);
    await service.registerUser(username, PASSWORD);
    await browser.submit({ action: 'skip' });
    await browser.follow();
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['exists'] });
    await browser.submit({ username: other });
    await browser.follow();
    expect(await usersNamed(other)).toHaveLength(1);
  });

  test('requires a registration token where the provider does, but no other method does (check 14)', async () => {
    await service.issueRegistrationToken('for-harbour', 1);
    const username = newName();
    const browser = newBrowser();
    await comeBack(browser, { id: TOKEN_ID });
    await browser.submit({ username });
    await browser.follow();
    expect(browser.page.url).toMatch(/\/token$/);
    expect((await browser.submit({ token: 'nonsense' })).errorCodes).toEqual(['invalid']);
    await browser.submit({ token: 'for-harbour' });
    await browser.follow();
    await browser.submit({ action: 'skip' });
    await browser.follow();
    expect(await usersNamed(username)).toHaveLength(1);
    const [token] = await sql(service.database, 'select times_used from user_registration_tokens');
    expect(token).toEqual({ times_used: 1 });
  });

  test.each([
    ['is not requested again', 'from-an-address', /\/display-name$/],
    ['is invalid is requested like a missing one', 'never-issued', /\/token$/],
    ['is malformed is ignored', MALFORMED_TOKEN, /\/token$/],
  ])('passes a registration token on to the provider: one that %s (browser-flows 5.9)', async (_, token, step) => {
    if (token === 'from-an-address') await service.issueRegistrationToken(token, 1);
    const browser = newBrowser();
    const page = await browser.get(`/register?kind=change_password&token=${encodeURIComponent(token)}`);
    const [, href = ''] = new RegExp(`href="(/upstream/authorize/${TOKEN_ID}[^"]*)"`).exec(page.body) ?? [];
    expect(href.includes('token=')).toBe(token !== MALFORMED_TOKEN);
    await browser.get(href.replaceAll('&amp;', '&'));
    const there = browser.page.location ?? '';
    expect(there, 'nobody else gets it').not.toContain(token);
    await browser.get(peer.signIn(there, newcomer()));
    await browser.follow();
    expect(browser.page.body).not.toContain(token);
    await browser.submit({ username: newName() });
    await browser.follow();
    expect(browser.page.url).toMatch(step);
    expect(browser.page.errorCodes).toEqual([]);
    const lines = service.logLines().join('\n');
    if (token !== MALFORMED_TOKEN) expect(lines).not.toContain(token);
  });

  test('passes on a registration token when the form chooses the provider, whether it is required or not', async () => {
    const browser = newBrowser();
    await browser.get('/register?token=abc');
    const chosen = await browser.submit({ provider: TOKEN_ID });
    expect(chosen.location).toBe(`${service.publicBase}upstream/authorize/${TOKEN_ID}?token=abc`);
    await browser.get('/register?token=abc');
    expect((await browser.submit({ provider: ID })).location).toBe(
      `${service.publicBase}upstream/authorize/${ID}?token=abc`,
    );
  });

  test('is not offered where disabled, nor started by a form', async () => {
    const browser = newBrowser();
    const path = await comeBack(browser, { id: CLOSED_ID });
    expect(browser.page.text).toContain('No account found');
    expect(browser.page.forms).toEqual([]);
    await browser.get('/login');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const forced = await browser.post(path, new URLSearchParams({ csrf, action: 'register', username: newName() }));
    expect(forced).toMatchObject({ status: 200, errorCodes: ['state_changed'] });
  });

  test('ends if the provider was closed in the meantime', async () => {
    const browser = newBrowser();
    await comeBack(browser);
    await registerUpToDisplayName(browser, newName());
    const provider = { ...(settings['upstream_oauth2'] as { providers: object[] }).providers[0] };
    const upstream = { providers: [{ ...provider, registration_enabled: false }] };
    const closed = await startService({ ...settings, upstream_oauth2: upstream }, { like: service });
    try {
      const elsewhere = newBrowser(closed);
      for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
      const finish = new URL(browser.page.url).pathname.replace('display-name', 'finish');
      expect(await elsewhere.get(finish)).toMatchObject({ status: 410, errorCodes: ['registration_closed'] });
    } finally {
      await closed.stop();
    }
  });

  test('continues only in the browser that started it, on the provider page and in the steps (S-59, S-110, check 12)', async () => {
    const browser = newBrowser();
    const path = await comeBack(browser);
    expect((await newBrowser().get(path)).errorCodes).toEqual(['upstream_link_not_found']);
    await registerUpToDisplayName(browser, newName());
    const finish = new URL(browser.page.url).pathname.replace('display-name', 'finish');
    await browser.submit({ action: 'skip' });
    const other = await newBrowser().get(finish);
    expect(other).toMatchObject({ status: 404, errorCodes: ['registration_not_found'] });
    expect((await browser.get(finish)).status).toBe(303);
  });

  test('lets a user sign in instead and link the identity, which ends the registration (S-110)', async () => {
    const username = newName();
    await service.registerUser(username, PASSWORD);
    const browser = newBrowser();
    const path = await comeBack(browser);
    await registerUpToDisplayName(browser, newName());
    const finish = new URL(browser.page.url).pathname.replace('display-name', 'finish');
    await browser.submit({ action: 'skip' });
    await browser.get(`/login?kind=link_upstream&id=${path.split('/').at(-1)}`);
    await browser.submit({ username, password: PASSWORD });
    await browser.follow();
    expect((await browser.submit({}, { action: path })).status).toBe(303);
    const late = await browser.get(finish);
    expect(late).toMatchObject({ status: 409, errorCodes: ['upstream_already_used'] });
    expect(lastLine()?.requester).toBeUndefined();
  });

  test('creates one account from two registrations with one sign-in', async () => {
    const browser = newBrowser();
    const path = await comeBack(browser);
    const finishes: string[] = [];
    for (const username of [newName(), newName()]) {
      await browser.get(path);
      await registerUpToDisplayName(browser, username);
      finishes.push((await browser.submit({ action: 'skip' })).location ?? '');
    }
    const pages = [await browser.get(finishes[0] ?? ''), await browser.get(finishes[1] ?? '')];
    expect(pages.map(({ status }) => status)).toEqual([303, 409]);
  });
});

describe('the page that offers the registration methods', () => {
  test('lists the available methods: username and password, and each provider with registration', async () => {
    const { body, text, status } = await newBrowser().get('/register?kind=change_password');
    expect(status).toBe(200);
    expectCleanPage(body);
    const targets = [...body.matchAll(/href="\/upstream\/authorize\/(\w+)\?kind=change_password"/g)].map(
      ([, id]) => id,
    );
    expect(targets).toEqual([ID, TOKEN_ID]);
    expect(text).toContain('Continue with a password');
    expect(body).toContain('href="/login?kind=change_password"');
  });

  test('leads to the form with the input, or to a provider', async () => {
    const browser = newBrowser();
    await browser.get('/register?kind=change_password');
    const typed = await browser.submit({ username: 'amira' });
    expect(typed).toMatchObject({ status: 303 });
    expect(typed.location).toBe(`${service.publicBase}register/password?kind=change_password&username=amira`);
    await browser.get('/register?kind=change_password');
    expect((await browser.submit({ username: 'x'.repeat(256) })).location).not.toContain('username');
    await browser.get('/register?kind=change_password');
    const chosen = await browser.submit({ provider: ID });
    expect(chosen.location).toBe(`${service.publicBase}upstream/authorize/${ID}?kind=change_password`);
    await browser.get('/register');
    const unknown = await browser.submit({ provider: UNKNOWN_ID, username: 'amira' });
    expect(unknown).toMatchObject({ status: 200, errorCodes: ['unknown_provider'] });
    expect(unknown.forms[0]?.inputs.get('username')).toBe('amira');
  });

  test('is the target of prompt=create, or the provider if it is the only method', async () => {
    const client = { client_id: UNKNOWN_ID, client_auth_method: 'client_secret_post', client_secret: 'y'.repeat(32) };
    const clients = [{ ...client, redirect_uris: ['https://app.example/callback'] }];
    const request = new URLSearchParams({
      client_id: UNKNOWN_ID,
      response_type: 'code',
      scope: 'openid',
      prompt: 'create',
      login_hint: 'mxid:@dana:localhost',
    });
    const withPasswords = await startService({ ...settings, clients });
    try {
      const { status, forms, body, url } = await newBrowser(withPasswords).open(`/authorize?${request}`);
      expect({ status, path: new URL(url).pathname }).toEqual({ status: 200, path: '/register' });
      expect(forms[0]?.inputs.get('username')).toBe('dana');
      expect(body).toMatch(new RegExp(`href="/upstream/authorize/${ID}[?]kind=continue_authorization_grant&amp;id=`));
    } finally {
      await withPasswords.stop();
    }
    const [provider] = (settings['upstream_oauth2'] as { providers: object[] }).providers;
    const closed = { passwords: { enabled: false }, account: { password_registration_enabled: false } };
    const without = await startService({ ...settings, ...closed, clients, upstream_oauth2: { providers: [provider] } });
    try {
      const browser = newBrowser(without);
      await browser.get(`/authorize?${request}`);
      await browser.get(browser.page.location ?? '');
      const { pathname, searchParams } = new URL(browser.page.location ?? '');
      expect(pathname).toBe(`/upstream/authorize/${ID}`);
      expect(searchParams.get('kind')).toBe('continue_authorization_grant');
    } finally {
      await without.stop();
    }
  });

  test('is skipped if there is only one method', async () => {
    const [provider] = (settings['upstream_oauth2'] as { providers: object[] }).providers;
    const only = { providers: [provider] };
    const alone = await startService({
      ...settings,
      passwords: { enabled: false },
      account: { password_registration_enabled: false },
      upstream_oauth2: only,
    });
    try {
      const page = await newBrowser(alone).get('/register?kind=change_password');
      expect(page.location).toBe(`${alone.publicBase}upstream/authorize/${ID}?kind=change_password`);
      const { prompt_values_supported: prompts } = (await (
        await fetch(`${alone.address}/.well-known/openid-configuration`)
      ).json()) as { prompt_values_supported: string[] };
      expect(prompts).toContain('create');
    } finally {
      await alone.stop();
    }
  });
});

test('IDs of registrations and links give no access to other browsers (S-83)', async () => {
  const browser = newBrowser();
  const path = await comeBack(browser);
  const link = parseId(path.split('/').at(-1) ?? '') ?? expect.fail('no id');
  const rows = await sql<{ user_id: string | null }>(
    service.database,
    `select user_id from upstream_links where id = '${toUuid(link)}'`,
  );
  expect(rows).toEqual([{ user_id: null }]);
});
