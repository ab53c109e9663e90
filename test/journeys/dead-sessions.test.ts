/** What users see after their session has ended, or their account was locked or deactivated (browser-flows 2.5). */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const TV = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const LINK_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AD';
const REDIRECT_URI = 'https://app.example/cb';
const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 10_000, per_second: 1000 };

const clock = new FakeClock();
let browser: Browser;
/** IDs of the consent page and the device page, both opened in this browser. */
let grantId: string;
let deviceId: string;
let users = 0;
let name = '';

const service = await sharedByTests(
  startService(
    {
      clients: [
        {
          client_id: CLIENT_ID,
          client_name: 'Harbour',
          client_auth_method: 'none',
          redirect_uris: [REDIRECT_URI],
        },
        {
          client_id: TV,
          client_name: 'Telly',
          client_auth_method: 'none',
          redirect_uris: [],
          grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
        },
      ],
      account: { password_registration_enabled: true, password_recovery_enabled: true },
      email: { transport: 'file' },
      rate_limiting: {
        login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT },
        device_authorization: { per_client: HIGH_LIMIT },
      },
    },
    { clock },
  ),
);

/** Signs in and opens pages that may be open when the session ends. */
beforeEach(async () => {
  users += 1;
  name = `person${users}`;
  await service.registerUser(name, PASSWORD);
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  expect((await browser.submit({ username: name, password: PASSWORD })).status).toBe(303);
  const challenge = createHash('sha256').update('A'.repeat(43)).digest('base64url');
  const parameters = {
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  await browser.open(`/authorize?${new URLSearchParams(parameters)}`);
  grantId = idAtEnd();
  const requested = await fetch(`${service.address}/oauth2/device`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: TV, scope: 'openid' }),
  });
  const codes: Readonly<Record<string, unknown>> = await requested.json();
  await browser.get('/link');
  await browser.submit({ code: String(codes['user_code']) });
  await browser.follow();
  deviceId = idAtEnd();
});

function idAtEnd(): string {
  expect(browser.page.status).toBe(200);
  return new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
}

/** Statements that end a user's session or access. */
const ENDS = {
  'signed out': `update user_sessions s set finished_at = s.created_at from users u where u.id = s.user_id and u.username = :name`,
  locked: 'update users set locked_at = created_at where username = :name',
  deactivated: 'update users set deactivated_at = created_at where username = :name',
} as const;

async function end(how: keyof typeof ENDS): Promise<void> {
  await sql(service.database, ENDS[how].replace(':name', `'${name}'`));
}

/** Pages that are hidden without an active session, and the target of the button on the replacement page. */
const HIDDEN: readonly (readonly [page: () => string, next: () => string])[] = [
  [() => '/', () => '/login'],
  [() => '/login', () => '/login'],
  [() => '/login?kind=change_password', () => '/account/password/change'],
  [() => '/account/', () => '/account/'],
  [() => '/account/sessions', () => '/account/'],
  [() => '/account/password/change', () => '/account/password/change'],
  [() => `/consent/${grantId}`, () => `/authorize/${grantId}`],
  [() => `/authorize/${grantId}`, () => `/authorize/${grantId}`],
  [() => `/device/${deviceId}`, () => `/device/${deviceId}`],
  [() => '/reauth?kind=change_password', () => '/account/password/change'],
];

describe.each(['signed out', 'locked', 'deactivated'] as const)('a user who was %s', (how) => {
  test.each(HIDDEN)('sees so on page %#, and continues after the button', async (page, next) => {
    await end(how);
    const response = await browser.get(page());
    expect([response.status, response.errorCodes]).toEqual([200, []]);
    expect(response.text).toContain(how);
    expect(response.text).toContain(name);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
    // The original page's content is not shown.
    expect(response.text).not.toMatch(/Harbour|Telly/);
    expect(response.forms.map(({ action }) => action)).toEqual(['/logout']);
    const out = await browser.submit();
    expect([out.status, new URL(out.location ?? '').pathname]).toEqual([303, next()]);
    // The browser has no session now.
    const requested = await browser.get(`/login?kind=change_password`);
    expect(requested.forms[0]?.action).toBe('/login?kind=change_password');
  });
});

describe('a session that was ended elsewhere', () => {
  test.each([
    ['/register/password', '/register/password'],
    ['/recover', '/recover'],
    ['/link', '/link'],
  ])('does not block %s', async (path, action) => {
    await end('signed out');
    const response = await browser.get(path);
    expect([response.status, response.forms[0]?.action]).toEqual([200, action]);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
  });

  test('counts as absent when a provider link is opened', async () => {
    await end('signed out');
    expect((await browser.get(`/upstream/link/${LINK_ID}`)).status).toBe(404);
  });

  test('does not let a form take effect', async () => {
    await browser.get(`/consent/${grantId}`);
    await end('signed out');
    const response = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(response.location === undefined || new URL(response.location).origin === service.address).toBe(true);
    const grants = await sql<{ is_fulfilled: boolean }>(
      service.database,
      'select fulfilled_at is not null as is_fulfilled from oauth2_authorization_grants',
    );
    expect(grants.some(({ is_fulfilled: isFulfilled }) => isFulfilled)).toBe(false);
    await browser.get(`/device/${deviceId}`);
    expect(browser.page.text).toContain('signed out');
  });
});
