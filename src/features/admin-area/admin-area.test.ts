import { describe, expect, test } from 'vitest';
import { syncBuiltinClient } from '#domain/clients/builtin-clients.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import { AdminAreaBrowser, OWN_PAGE } from '#test/support/admin-area.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const AMPLE = { burst: 100_000, per_second: 1000 };
const SETTINGS = {
  rate_limiting: {
    admin_token: { per_ip: AMPLE },
    login: { per_ip: AMPLE, per_account: AMPLE, per_known_browser: AMPLE },
  },
};

const clock = new FakeClock();
let users = 0;
/** The form with the password; the page has another one to sign out. */
const REAUTH = { action: '/reauth?kind=administer' };

const service = await sharedByTests(startService(SETTINGS, { clock }));

interface TestUser {
  readonly id: string;
  readonly area: AdminAreaBrowser;
}

async function newUser(canRequestAdmin: boolean, from = service): Promise<TestUser> {
  users += 1;
  const username = `person${users}`;
  const id = await from.registerUser(username, PASSWORD, { canRequestAdmin });
  return { id, area: await new AdminAreaBrowser(from).signIn(username, PASSWORD) };
}

/** The page, without the ID of its request. */
function steady(body: string): string {
  return body.replace(/<code>GET-\w+<\/code>/g, '');
}

async function api(token: string, path = 'version'): Promise<Response> {
  return await fetch(`${service.address}/api/admin/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
}

describe('the page (administration A-24)', () => {
  test.each(['admin/', 'admin/users', 'admin/users/01HZX7T3Q8V3M5N6P7R8S9T0AB', 'admin/not/known'])(
    '%s is the same for all administrators, with one statement and no data',
    async (path) => {
      const { area } = await newUser(true);
      const reference = await area.browser.get('admin/');
      const page = await area.browser.get(path);
      expect([page.status, page.body]).toEqual([200, reference.body]);
      expect(service.requestLines().at(-1)).toMatchObject({ status: 200, queries: 1 });
      expect(page.body).not.toContain(`person${users}`);
      expect(page.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      });
      expect(page.body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on[a-z]+=/);
    },
  );

  test('does not exist for other users: the page equals that of an unknown path', async () => {
    const { area } = await newUser(false);
    const unknown = await area.browser.get('administrations/');
    for (const path of ['admin/', 'admin/users', 'admin/users/x/y']) {
      const page = await area.browser.get(path);
      expect([page.status, steady(page.body)]).toEqual([404, steady(unknown.body)]);
      const { date: _, 'content-length': __, ...headers } = page.headers;
      expect(unknown.headers).toMatchObject(headers);
    }
  });

  test('leads visitors to the sign-in page, and back', async () => {
    users += 1;
    await service.registerUser(`person${users}`, PASSWORD, { canRequestAdmin: true });
    const { browser } = new AdminAreaBrowser(service);
    const page = await browser.get('admin/users');
    expect([page.status, page.location]).toEqual([303, `${service.publicBase}login?kind=administer`]);
    await browser.follow();
    const done = await browser.submit({ username: `person${users}`, password: PASSWORD });
    expect(done.location).toBe(`${service.publicBase}admin/`);
    expect((await browser.follow()).status).toBe(200);
  });

  test('/admin redirects to it; the callback is empty, without a statement', async () => {
    const { browser } = new AdminAreaBrowser(service);
    expect((await browser.get('admin')).location).toBe(`${service.publicBase}admin/`);
    const callback = await browser.get('admin/callback?code=x&state=y', OWN_PAGE);
    expect([callback.status, callback.body]).toEqual([204, '']);
    expect(callback.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(service.requestLines().at(-1)).toMatchObject({ status: 204, queries: 0 });
  });

  test('can be turned off, with its client', async () => {
    const other = await startService({ ...SETTINGS, admin_area: { enabled: false } }, { clock });
    try {
      const { area } = await newUser(true, other);
      expect((await area.browser.get('admin/')).status).toBe(404);
      expect((await area.authorize()).status).toBe(400);
    } finally {
      await other.stop();
    }
  });
});

describe('access (administration A-25)', () => {
  test('needs no page: a silent request gives a token of five minutes, without refresh or ID token', async () => {
    const { area, id } = await newUser(true);
    const result = await area.answer();
    expect(result.get('state')).toBe('state-of-the-area');
    const response = await area.redeem(result.get('code') ?? '');
    const body = await response.json();
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'urn:mas:admin',
    });
    expect((await api(body.access_token)).status).toBe(200);
    expect(service.requestLines().at(-1)?.requester).toContain(id);
    clock.advanceSeconds(300);
    expect((await api(body.access_token)).status).toBe(401);
  });

  test('is refused for users without the right', async () => {
    const { area } = await newUser(false);
    expect(Object.fromEntries(await area.answer())).toMatchObject({ error: 'access_denied' });
  });

  test('needs a sign-in that is not older than admin_area.max_age', async () => {
    const { area } = await newUser(true);
    clock.advanceSeconds(1799);
    expect((await area.answer()).has('code')).toBe(true);
    clock.advanceSeconds(2);
    expect((await area.answer()).get('error')).toBe('login_required');
    // The sign-in page of a client with the admin scope has a limit of its own.
    await area.browser.get('reauth?kind=administer');
    const done = await area.browser.submit({ password: PASSWORD }, REAUTH);
    expect(done.location).toBe(`${service.publicBase}admin/`);
    expect((await area.answer()).has('code')).toBe(true);
  });

  test('needs the second factor of an account that has one', async () => {
    const { area, id } = await newUser(true);
    expect((await area.answer()).has('code')).toBe(true);
    await sql(
      service.database,
      `insert into user_totp_secrets (id, user_id, secret_sealed, last_used_step, created_at)
       values ($1::uuid, $1::uuid, '', 0, now())`,
      [uuid(id)],
    );
    expect(Object.fromEntries(await area.answer())).toMatchObject({
      error: 'login_required',
      error_description: 'the user must authenticate with a second factor',
    });
    // A confirmation of the identity asks for it, whatever the settings say.
    await area.browser.get('reauth?kind=administer');
    const next = await area.browser.submit({ password: PASSWORD }, REAUTH);
    expect(next.location).toBe(`${service.publicBase}reauth/totp?kind=administer`);
  });

  test('can require a second factor', async () => {
    const other = await startService({ ...SETTINGS, admin_area: { require_second_factor: true } }, { clock });
    try {
      const { area } = await newUser(true, other);
      expect(Object.fromEntries(await area.answer())).toMatchObject({
        error: 'login_required',
        error_description: 'the account must set up a second factor',
      });
    } finally {
      await other.stop();
    }
  });

  test('keeps one session for each tab, and one event, however often it is renewed', async () => {
    const { area, id } = await newUser(true);
    for (let round = 0; round < 5; round += 1) {
      const tokens = [await area.token(), await area.token()];
      for (const token of tokens) expect((await api(token)).status).toBe(200);
      clock.advanceSeconds(300);
    }
    const rows = await sql(
      service.database,
      `select (select count(*) from oauth2_sessions where user_id = $1::uuid and finished_at is null)::integer as live,
              (select count(*) from audit_events where user_id = $1
                  and kind in ('session_started', 'session_ended'))::integer as events`,
      [uuid(id)],
    );
    expect(rows).toEqual([{ live: 2, events: 1 }]);
  });

  test('is not an application of the user', async () => {
    const { area } = await newUser(true);
    await area.token();
    const query = '{ viewer { ... on User { appSessions(first: 5) { totalCount } } } }';
    const page = await area.browser.postRaw('graphql', JSON.stringify({ query }), {
      'content-type': 'application/json',
    });
    expect(JSON.parse(page.body)).toEqual({ data: { viewer: { appSessions: { totalCount: 0 } } } });
  });
});

describe('the client of the area', () => {
  test('is listed only when asked for, and cannot be deleted', async () => {
    const { area } = await newUser(true);
    const token = await area.token();
    const ids = async (query: string): Promise<string[]> => {
      const { data } = await (await api(token, `oauth2-clients${query}`)).json();
      return data.map((client: { readonly id: string }) => client.id);
    };
    expect(await ids('')).not.toContain(ADMIN_AREA_CLIENT_ID);
    expect(await ids('?filter[client-kind]=dynamic')).not.toContain(ADMIN_AREA_CLIENT_ID);
    expect(await ids('?filter[client-kind]=builtin')).toEqual([ADMIN_AREA_CLIENT_ID]);
    const deleted = await fetch(`${service.address}/api/admin/v1/oauth2-clients/${ADMIN_AREA_CLIENT_ID}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
    expect([deleted.status, (await deleted.json()).errors[0].code]).toEqual([409, 'client_is_builtin']);
  });

  test('is restored at the next start, whatever happened to its row', async () => {
    const read = async () =>
      await sql<{ scope: string; version: number }>(
        service.database,
        `select metadata ->> 'scope' as scope, version from oauth2_clients where id = $1::uuid`,
        [toUuid(ADMIN_AREA_CLIENT_ID)],
      );
    await sql(
      service.database,
      `update oauth2_clients set metadata = metadata || '{"scope": "openid"}' where id = $1::uuid`,
      [toUuid(ADMIN_AREA_CLIENT_ID)],
    );
    await syncBuiltinClient(service.core, service.core.config);
    const restored = await read();
    expect(restored).toMatchObject([{ scope: 'urn:mas:admin' }]);
    await syncBuiltinClient(service.core, service.core.config);
    expect(await read()).toEqual(restored);
  });
});

function uuid(id: string): string {
  return toUuid(parseId(id) ?? expect.fail('no ID'));
}
