/** The sign-in page with upstream providers (browser-flows 3.2.1). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const OTHER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const LINK_ID = newId<'upstream-link'>(Date.UTC(2026, 5, 1));
const PASSWORD = 'correct horse battery staple';

const clock = new FakeClock();
/** With passwords and both providers. */
let open: TestService;
/** Without passwords, with one provider. */
let single: TestService;
/** Without passwords, with both providers. */
let several: TestService;
/** With providers that have no name of their own. */
let unnamed: TestService;
/** Without any sign-in method. */
let closed: TestService;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const both = [
    { id: ID, human_name: 'Harbour', ...shared },
    { id: OTHER_ID, human_name: 'Quay', ...shared },
  ];
  const settings = (providers: readonly object[], enabled: boolean) => ({
    passwords: { enabled, schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
    account: { password_registration_enabled: true },
    rate_limiting: { login: { per_ip: { burst: 1000 } } },
    upstream_oauth2: { providers },
  });
  open = await startService(settings(both, true), { clock });
  several = await startService(settings(both, false), { clock, like: open });
  closed = await startService(
    settings(
      both.map((provider) => ({ ...provider, enabled: false })),
      false,
    ),
    { clock, like: open },
  );
  const unnamedOnes = [
    { issuer: 'https://first.example/realms/here/' },
    { issuer: 'https://second.example/realm' },
    { issuer: 'https://second.example:443/' },
    { issuer: 'https://second.example/branded', brand_name: 'keycloak' },
    { issuer: 'https://third.example:8443/a' },
    { issuer: 'https://fourth.example/a', human_name: 'third.example:8443' },
  ];
  unnamed = await startService(
    settings(
      unnamedOnes.map((provider) => ({ ...shared, id: newId(clock.now()), ...provider })),
      true,
    ),
    { clock, like: open },
  );
  single = await startService(settings([...both.slice(0, 1), { ...both[1], enabled: false }], false), {
    clock,
    like: open,
  });
  await open.registerUser('amira', PASSWORD);
});

afterAll(async () => {
  for (const service of [single, several, unnamed, closed, open]) await service.stop();
});

function browserAt(service: TestService, cookies?: ReadonlyMap<string, string>): Browser {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  for (const [name, value] of cookies ?? []) browser.cookies.set(name, value);
  return browser;
}

async function signedIn(): Promise<Browser> {
  const browser = browserAt(open);
  await browser.get('/login');
  expect((await browser.submit({ username: 'amira', password: PASSWORD })).status).toBe(303);
  return browser;
}

describe('with passwords disabled and one provider', () => {
  const there = () => `${single.publicBase}upstream/authorize/${ID}`;

  test('GET /login redirects to the provider with the continuation, and POST returns 404', async () => {
    const browser = browserAt(single);
    expect(await browser.get('/login')).toMatchObject({ status: 303, location: there() });
    const { location } = await browser.get('/login?kind=change_password&ui_locales=de');
    expect(location).toBe(`${there()}?kind=change_password`);
    expect((await browser.post('/login', new URLSearchParams({ username: 'amira' }))).status).toBe(405);
  });

  test('a user who just signed out sees a page, without an automatic sign-in for five minutes', async () => {
    const browser = browserAt(single, (await signedIn()).cookies);
    await browser.get('/');
    const out = await browser.submit();
    expect(out).toMatchObject({ status: 303, location: `${single.publicBase}login` });
    const page = await browser.follow();
    expect([page.status, page.forms]).toEqual([200, []]);
    expect(page.body).toContain(`href="/upstream/authorize/${ID}"`);
    clock.advanceSeconds(299);
    expect((await browser.get('/login')).status).toBe(200);
    clock.advanceSeconds(2);
    expect(await browser.get('/login')).toMatchObject({ status: 303, location: there() });
  });

  test('an unknown notice does not prevent the redirect', async () => {
    expect((await browserAt(single).get('/login?notice=upstream_cancelled')).location).toBe(there());
  });

  test('every page allows form redirects to the provider, since browsers apply form-action to redirects', async () => {
    const browser = browserAt(single, (await signedIn()).cookies);
    await sql(single.database, 'update user_sessions set finished_at = now()');
    const page = await browser.get('/');
    expect(page.text).toContain('signed out');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toMatch(/form-action 'self' http:;/);
    expect((await browser.submit()).status).toBe(303);
    expect(await browser.get('/login')).toMatchObject({ status: 303, location: there() });
    for (const other of [open, several, closed]) {
      const { headers } = await browserAt(other).get('/login');
      expect(headers['content-security-policy']).toContain("form-action 'self';");
    }
  });
});

describe('with passwords disabled', () => {
  test('several providers are listed in configuration order, without a form', async () => {
    const { body, forms, text } = await browserAt(several).get('/login?kind=change_password');
    expect(forms).toEqual([]);
    expect([...body.matchAll(/href="(\/upstream\/[^"]*)"/g)].map(([, href]) => href)).toEqual([
      `/upstream/authorize/${ID}?kind=change_password`,
      `/upstream/authorize/${OTHER_ID}?kind=change_password`,
    ]);
    expect(text).not.toContain('Forgot');
  });

  test('and without a provider the page says that sign-in is unavailable', async () => {
    const { forms, text } = await browserAt(closed).get('/login');
    expect(forms).toEqual([]);
    expect(text).toContain('Sign-in is turned off');
  });
});

test('a provider without a name is shown by its host, with the path only if another has the same name', async () => {
  const { body } = await browserAt(unnamed).get('/login');
  expect([...body.matchAll(/<bdi class="name">(.*?)<\/bdi>/g)].map(([, name]) => name)).toEqual([
    'first.example',
    'second.example/realm',
    'second.example',
    'Keycloak',
    'third.example:8443/a',
    'third.example:8443',
  ]);
});

describe('an account to be linked', () => {
  const path = `/login?kind=link_upstream&id=${LINK_ID}`;
  const sentence = 'Sign in to link your account to your Quay account';

  test('the page names the provider, even after a wrong password, and offers no new account', async () => {
    await sql(
      open.database,
      `insert into upstream_links (id, provider_id, subject, created_at)
       select '${toUuid(LINK_ID)}', id, 'a stranger', now() from upstream_providers where human_name = 'Quay'`,
    );
    const browser = browserAt(open);
    expect((await browser.get(path)).text).toContain(sentence);
    await browser.submit({ username: 'amira', password: 'wrong' });
    expect(browser.page.errorCodes).toEqual(['invalid_credentials']);
    expect(browser.page.text).toContain(sentence);
    expect(browser.page.body).not.toContain('/register');
    expect((await browser.get('/login')).body).toContain('/register');
  });

  test('a link that is already used or unknown is not explained; its own page responds (browser-flows 2.4)', async () => {
    await sql(open.database, 'update upstream_links set user_id = (select id from users)');
    for (const id of [LINK_ID, newId<'upstream-link'>(Date.UTC(2026, 5, 1))]) {
      const browser = browserAt(open);
      const page = await browser.get(`/login?kind=link_upstream&id=${id}`);
      expect([page.status, page.text.includes('link your account')]).toEqual([200, false]);
      expect((await browser.submit({ username: 'amira', password: PASSWORD })).location).toBe(
        `${open.publicBase}upstream/link/${id}`,
      );
    }
  });
});
