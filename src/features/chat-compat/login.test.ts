import { beforeAll, describe, expect, test } from 'vitest';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { ChatClient, type ChatResponse } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const SETTINGS = {
  homeserver: { kind: 'none', homeserver: 'chat.example:8008' },
  account: { login_with_email_allowed: true },
  rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
};
const TOKEN = /^mct_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/;

const clock = new FakeClock();
let chat: ChatClient;
let amira: string;

const service = await sharedByTests(startService(SETTINGS, { clock }));

beforeAll(async () => {
  chat = new ChatClient(service);
  amira = await service.registerUser('amira', PASSWORD);
  await service.registerUser('lena', PASSWORD);
  await service.registerUser('dana', PASSWORD);
  await sql(service.database, `update users set locked_at = created_at where username = 'lena'`);
  await sql(service.database, `update users set deactivated_at = created_at where username = 'dana'`);
  await sql(
    service.database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
         select gen_random_uuid(), id, 'Amira@mail.example', 'amira@mail.example', created_at from users where username = 'amira'`,
  );
});

async function sessionsOf(username: string, deviceId?: string) {
  return await sql<{ device_id: string; human_name: string | null; finish_reason: string | null }>(
    service.database,
    `select s.device_id, s.human_name, s.finish_reason from compat_sessions s join users u on u.id = s.user_id
      where u.username = $1::text and ($2::text is null or s.device_id = $2::text) order by s.id`,
    [username, deviceId ?? null],
  );
}

function expectError(response: ChatResponse, status: number, errcode: string): void {
  expect([response.status, response.body['errcode']]).toEqual([status, errcode]);
  expect(response.body['error']).toEqual(expect.any(String));
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
}

const SSO = {
  type: 'm.login.sso',
  oauth_aware_preferred: true,
  'org.chat.msc3824.delegated_oidc_compatibility': true,
};

describe('GET login', () => {
  test.each(['r0', 'v1', 'v3', 'unstable', 'v99', '%20'])('lists the available methods, below %s', async (version) => {
    const response = await new ChatClient(service, `/_chat/client/${version}`).request('/login');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ flows: [{ type: 'm.login.password' }, SSO, { type: 'm.login.token' }] });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(service.requestLines().at(-1)).toMatchObject({ queries: 0, requester: undefined });
  });
});

describe('POST login with a password', () => {
  test('returns a non-expiring token, the device and the full user id', async () => {
    const response = await chat.tryLogin('amira', PASSWORD, { initial_device_display_name: 'Phone' });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.body).toEqual({
      access_token: expect.stringMatching(TOKEN),
      device_id: expect.stringMatching(/^[0-9A-Za-z]{10}$/),
      user_id: '@amira:chat.example:8008',
    });
    expect(service.requestLines().at(-1)).toMatchObject({ requester: `user:${amira}(amira)` });
    const [session] = await sessionsOf('amira', String(response.body['device_id']));
    expect(session).toEqual({ device_id: response.body['device_id'], human_name: 'Phone', finish_reason: null });
  });

  test("stores tokens only as digests, and records the user's activity", async () => {
    const { accessToken, deviceId } = await chat.login('amira', PASSWORD, { device_id: 'WHERE' });
    const rows = await sql<{ dump: string }>(
      service.database,
      `select s::text || t::text as dump from compat_sessions s join compat_access_tokens t on t.session_id = s.id
        where s.device_id = $1::text and s.last_active_ip = '127.0.0.1' and s.last_active_at = s.created_at`,
      [deviceId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.dump).not.toContain(accessToken.slice(4, 34));
  });

  test('issues an expiring access token to a client that can refresh', async () => {
    const { body } = await chat.tryLogin('amira', PASSWORD, { refresh_token: true });
    expect(body['expires_in_ms']).toBe(300_000);
    expect(body['refresh_token']).toMatch(/^mcr_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/);
  });

  test.each([
    ['the name in any case', { identifier: { type: 'm.id.user', user: 'AMIRA' } }],
    ['the whole user id', { identifier: { type: 'm.id.user', user: '@amira:chat.example:8008' } }],
    ['the old member, which wins', { user: 'amira', identifier: { type: 'm.id.phone' } }],
    ['an email address instead of the name', { identifier: { type: 'm.id.user', user: 'amira@MAIL.example' } }],
    ['an e-mail address', { identifier: { type: 'm.id.thirdparty', medium: 'email', address: 'AMIRA@mail.example' } }],
    ['an email address in old members', { identifier: null, medium: 'email', address: 'amira@mail.example' }],
    ['unknown members', { identifier: { type: 'm.id.user', user: 'amira', more: 1 }, more: {} }],
    ['null for absent members', { device_id: null, initial_device_display_name: null, refresh_token: null }],
  ])('accepts %s', async (_what, fields) => {
    const response = await chat.tryLogin('amira', PASSWORD, fields);
    expect([response.status, response.body['user_id']]).toEqual([200, '@amira:chat.example:8008']);
  });

  test('ignores a stale Authorization header, and cookies', async () => {
    const headers = { authorization: 'Bearer mct_stale', cookie: 'latchkey_session=x' };
    const response = await chat.post(
      '/login',
      { type: 'm.login.password', user: 'amira', password: PASSWORD },
      headers,
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  test.each([
    ['', undefined],
    ['of JSON in another encoding', 'application/json; charset=iso-8859-1'],
    ['of a document that is JSON', 'application/vnd.example+json'],
  ])('accepts a body with a type %s', async (_what, type) => {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ type: 'm.login.password', user: 'amira', password: PASSWORD }),
    );
    // For bytes, fetch does not add a content type.
    const init: RequestInit = { method: 'POST', body: bytes };
    const response = await chat.request(
      '/login',
      type === undefined ? init : { ...init, headers: { 'content-type': type } },
    );
    expect(response.status).toBe(200);
  });

  test('truncates a device name to 100 characters and strips invisible ones', async () => {
    const name = `\u{1F4F1}\u0007${'x'.repeat(200)}`;
    await chat.login('amira', PASSWORD, { device_id: 'NAMED', initial_device_display_name: name });
    await chat.login('amira', PASSWORD, { device_id: 'BLANK', initial_device_display_name: ' \n ' });
    expect(await sessionsOf('amira', 'NAMED')).toMatchObject([{ human_name: `\u{1F4F1}${'x'.repeat(99)}` }]);
    expect(await sessionsOf('amira', 'BLANK')).toMatchObject([{ human_name: null }]);
  });

  test('accepts a device id with spaces and characters outside the BMP', async () => {
    const id = `my device ${'\u{1F4F1}'.repeat(245)}`;
    const response = await chat.tryLogin('amira', PASSWORD, { device_id: id });
    expect(response.body['device_id']).toBe(id);
  });

  test('replaces the session on the same device, and keeps the device name', async () => {
    await chat.login('amira', PASSWORD, { device_id: 'TWICE', initial_device_display_name: 'First' });
    clock.advanceSeconds(1);
    await chat.login('amira', PASSWORD, { device_id: 'TWICE', initial_device_display_name: 'Second' });
    expect(await sessionsOf('amira', 'TWICE')).toEqual([
      { device_id: 'TWICE', human_name: 'First', finish_reason: 'device_replaced' },
      { device_id: 'TWICE', human_name: 'First', finish_reason: null },
    ]);
  });

  test('takes two statements, and four on a device named by the client', async () => {
    await chat.login('amira', PASSWORD);
    expect(service.requestLines().at(-1)?.queries).toBe(2);
    await chat.login('amira', PASSWORD, { device_id: 'NAMED' });
    // Other logins may use the device at the same time, so the account is locked in a transaction.
    expect(service.requestLines().at(-1)?.queries).toBe(4);
  });
});

describe('POST login refuses', () => {
  test.each<[string, unknown, number, string]>([
    ['a list', [], 400, 'M_BAD_JSON'],
    ['no type', { user: 'amira', password: PASSWORD }, 400, 'M_BAD_JSON'],
    ['a type that is not a string', { type: 1 }, 400, 'M_BAD_JSON'],
    ['an application service', { type: 'm.login.application_service' }, 400, 'M_APPSERVICE_LOGIN_UNSUPPORTED'],
    ['another type', { type: 'm.login.recaptcha' }, 400, 'M_UNKNOWN'],
    ['nobody', { type: 'm.login.password', password: PASSWORD }, 400, 'M_BAD_JSON'],
    ['no password', { type: 'm.login.password', user: 'amira' }, 400, 'M_BAD_JSON'],
    [
      'a flag as a string',
      { type: 'm.login.password', user: 'a', password: 'b', refresh_token: 'yes' },
      400,
      'M_BAD_JSON',
    ],
    [
      'an identifier that is a string',
      { type: 'm.login.password', identifier: 'amira', password: 'b' },
      400,
      'M_BAD_JSON',
    ],
    [
      'a phone',
      { type: 'm.login.password', identifier: { type: 'm.id.phone', country: 'GB', phone: '1' }, password: 'b' },
      400,
      'M_UNKNOWN',
    ],
    [
      'a number as third party',
      { type: 'm.login.password', medium: 'msisdn', address: '1', password: 'b' },
      400,
      'M_UNKNOWN',
    ],
    [
      'an empty device id',
      { type: 'm.login.password', user: 'a', password: 'b', device_id: '' },
      400,
      'M_INVALID_PARAM',
    ],
    [
      'a device id with a control character',
      { type: 'm.login.password', user: 'a', password: 'b', device_id: 'a\u0085b' },
      400,
      'M_INVALID_PARAM',
    ],
    [
      'a device id of 256 characters',
      { type: 'm.login.password', user: 'a', password: 'b', device_id: 'x'.repeat(256) },
      400,
      'M_INVALID_PARAM',
    ],
    ['a wrong password', { type: 'm.login.password', user: 'amira', password: 'wrong' }, 403, 'M_FORBIDDEN'],
    ['an unknown name', { type: 'm.login.password', user: 'nobody', password: PASSWORD }, 403, 'M_FORBIDDEN'],
    [
      'a user id of another server',
      { type: 'm.login.password', user: '@amira:other.example', password: PASSWORD },
      403,
      'M_FORBIDDEN',
    ],
    [
      'a wrong password of a locked account',
      { type: 'm.login.password', user: 'lena', password: 'x' },
      403,
      'M_FORBIDDEN',
    ],
    [
      'a wrong password of a deactivated account',
      { type: 'm.login.password', user: 'dana', password: 'x' },
      403,
      'M_FORBIDDEN',
    ],
    [
      'a deactivated account',
      { type: 'm.login.password', user: 'dana', password: PASSWORD },
      403,
      'M_USER_DEACTIVATED',
    ],
    ['not JSON', '{"type":', 400, 'M_NOT_JSON'],
    ['an empty string', '', 400, 'M_NOT_JSON'],
    ['a repeated member', '{"type":"a","type":"b"}', 400, 'M_BAD_JSON'],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 400, 'M_BAD_JSON'],
    ['an unpaired surrogate', '{"type":"\\ud800"}', 400, 'M_BAD_JSON'],
    ['64 KiB and more', `{"type":"${'x'.repeat(65_536)}"}`, 413, 'M_TOO_LARGE'],
  ])('%s', async (_what, body, status, errcode) => {
    expectError(await chat.post('/login', body), status, errcode);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
  });

  test('a locked account without making the client delete its data', async () => {
    const response = await chat.tryLogin('lena', PASSWORD);
    expectError(response, 401, 'M_USER_LOCKED');
    expect(response.body['soft_logout']).toBe(true);
    expect(await sessionsOf('lena')).toEqual([]);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'json', 'application/jsonp'])(
    'a body of type %s',
    async (type) => {
      expectError(await chat.post('/login', '{}', { 'content-type': type }), 400, 'M_NOT_JSON');
    },
  );

  test('bytes that are not UTF-8', async () => {
    const response = await chat.request('/login', { method: 'POST', body: new Uint8Array([0x22, 0xff, 0x22]) });
    expectError(response, 400, 'M_NOT_JSON');
  });

  test('with the same text for every wrong name and password (S-85)', async () => {
    const wrong = await Promise.all(
      [
        ['amira', 'wrong'],
        ['nobody', 'wrong'],
        ['lena', 'wrong'],
        ['dana', 'wrong'],
        ['amira', 'x'.repeat(2000)],
      ].map(async ([user = '', password = '']) => (await chat.tryLogin(user, password)).text),
    );
    expect(new Set(wrong).size).toBe(1);
  });
});

describe('unsupported requests', () => {
  test.each(['PUT', 'DELETE', 'PATCH'])('%s returns 405', async (method) => {
    const response = await chat.request('/login', { method });
    expectError(response, 405, 'M_UNRECOGNIZED');
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });

  test.each(['/login/', '/register', '/account/whoami', '/login/get_token', '//login'])(
    '%s is unknown, with a response readable by browsers',
    async (path) => {
      expectError(await chat.post(path, {}), 404, 'M_UNRECOGNIZED');
    },
  );

  test('a preflight takes no statement and allows the headers that clients send', async () => {
    const response = await chat.request('/login', { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, DELETE, OPTIONS');
    for (const name of [
      'Authorization',
      'Content-Type',
      'Accept',
      'Accept-Language',
      'Content-Language',
      'X-Requested-With',
    ]) {
      expect(response.headers.get('access-control-allow-headers')?.split(', ')).toContain(name);
    }
    expect(response.headers.get('access-control-max-age')).toBe('3600');
    expect(service.requestLines().at(-1)?.queries).toBe(0);
  });

  test('the paths of another protocol name return 404 pages', async () => {
    const response = await new ChatClient(service, '/_matrix/client/v3').post('/login', {});
    expect(response.status).toBe(404);
    expect(response.body['errcode']).toBeUndefined();
  });
});

describe('settings', () => {
  async function withService(settings: Readonly<Record<string, unknown>>, use: (own: TestService) => Promise<void>) {
    const own = await startService({ ...SETTINGS, ...settings }, { clock, like: service });
    try {
      await use(own);
    } finally {
      await own.stop();
    }
  }

  test('use another protocol name in the paths', async () => {
    await withService({ protocol_name: 'matrix' }, async (own) => {
      const matrix = new ChatClient(own, '/_matrix/client/v3');
      expect((await matrix.tryLogin('amira', PASSWORD)).status).toBe(200);
      expect((await new ChatClient(own).request('/login')).status).toBe(404);
    });
  });

  test.each([{ passwords: { enabled: false } }, { compat: { password_login: false } }])(
    'disable passwords: %j',
    async (settings) => {
      await withService(settings, async (own) => {
        const client = new ChatClient(own);
        expect((await client.request('/login')).body).toEqual({ flows: [SSO, { type: 'm.login.token' }] });
        expectError(await client.tryLogin('amira', PASSWORD), 400, 'M_UNKNOWN');
      });
    },
  );

  test('remove the routes when compat is disabled', async () => {
    await withService({ compat: { enabled: false } }, async (own) => {
      expectError(await new ChatClient(own).request('/login'), 404, 'M_UNRECOGNIZED');
    });
  });

  test('reject email addresses where sign-in by email is disabled', async () => {
    await withService({ account: { login_with_email_allowed: false } }, async (own) => {
      const client = new ChatClient(own);
      const fields = { identifier: { type: 'm.id.thirdparty', medium: 'email', address: 'amira@mail.example' } };
      expectError(await client.tryLogin('amira', PASSWORD, fields), 400, 'M_UNKNOWN');
      expectError(await client.tryLogin('amira@mail.example', PASSWORD), 403, 'M_FORBIDDEN');
    });
  });

  test('reject a banned requester before checking the password', async () => {
    const policy = { data: { requester: { banned_ips: ['127.0.0.1/32'] } } };
    await withService({ policy }, async (own) => {
      expectError(await new ChatClient(own).tryLogin('amira', PASSWORD), 403, 'M_FORBIDDEN');
      expect(own.requestLines().at(-1)?.queries).toBe(0);
    });
  });

  test('rate limit wrong passwords by IP address, with a retry time', async () => {
    const limits = {
      login: { per_ip: { burst: 2, per_second: 0.05 }, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    };
    // Refills the rate limits that earlier tests used up.
    clock.advanceSeconds(60);
    await withService({ rate_limiting: limits }, async (own) => {
      const client = new ChatClient(own);
      // Correct passwords refund their rate limit tokens.
      for (let round = 0; round < 4; round += 1) await client.login('amira', PASSWORD);
      await client.tryLogin('amira', 'wrong');
      await client.tryLogin('nobody', 'wrong');
      const response = await client.tryLogin('amira', PASSWORD);
      expectError(response, 429, 'M_LIMIT_EXCEEDED');
      expect(response.body['retry_after_ms']).toBe(20_000);
      expect(response.headers.get('retry-after')).toBe('20');
      expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After');
      clock.advanceSeconds(60);
    });
  });

  describe('session limits', () => {
    const users: string[] = [];
    async function newUser(): Promise<string> {
      const name = `person${users.length}`;
      users.push(name);
      await service.registerUser(name, PASSWORD);
      return name;
    }

    test('refuse a login at the hard limit, except on an existing device', async () => {
      const name = await newUser();
      await withService({ experimental: { session_limit: { soft_limit: 1, hard_limit: 2 } } }, async (own) => {
        const client = new ChatClient(own);
        await client.login(name, PASSWORD, { device_id: 'ONE' });
        clock.advanceSeconds(1);
        await client.login(name, PASSWORD, { device_id: 'TWO' });
        clock.advanceSeconds(1);
        const response = await client.tryLogin(name, PASSWORD, { device_id: 'THREE' });
        expectError(response, 403, 'M_FORBIDDEN');
        expect(response.body['info_uri']).toBe(`${own.publicBase}account/`);
        await client.login(name, PASSWORD, { device_id: 'TWO' });
        expect((await sessionsOf(name)).map((session) => session.finish_reason)).toEqual([
          null,
          'device_replaced',
          null,
        ]);
      });
    });

    test('hold for concurrent logins', async () => {
      const name = await newUser();
      await withService({ experimental: { session_limit: { hard_limit: 3 } } }, async (own) => {
        const client = new ChatClient(own);
        const responses = await Promise.all(Array.from({ length: 12 }, () => client.tryLogin(name, PASSWORD)));
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
        expect(responses.filter(({ status }) => status === 403)).toHaveLength(9);
      });
    });

    test('with eviction end the least recently used sessions', async () => {
      const name = await newUser();
      const session_limit = { hard_limit: 2, dangerous_hard_limit_eviction: true };
      await withService({ experimental: { session_limit } }, async (own) => {
        const client = new ChatClient(own);
        for (const device_id of ['ONE', 'TWO', 'THREE', 'FOUR']) {
          await client.login(name, PASSWORD, { device_id });
          clock.advanceSeconds(1);
        }
        expect((await sessionsOf(name)).map((session) => session.finish_reason)).toEqual([
          'evicted',
          'evicted',
          null,
          null,
        ]);
        expect(own.logLines().filter((line) => line.includes('session.evicted'))).toHaveLength(2);
      });
    });

    test('exempt users above the threshold', async () => {
      const name = await newUser();
      for (let round = 0; round < 4; round += 1) await chat.login(name, PASSWORD);
      const session_limit = { hard_limit: 2, max_session_threshold: 3 };
      await withService({ experimental: { session_limit } }, async (own) => {
        expect((await new ChatClient(own).tryLogin(name, PASSWORD)).status).toBe(200);
      });
    });
  });
});

describe('two instances', () => {
  test('leave one session each in a hundred rounds of concurrent logins on one device (S-100)', async () => {
    const other = await startService(SETTINGS, { clock, like: service });
    try {
      await service.registerUser('races', PASSWORD);
      const clients = [chat, new ChatClient(other)];
      for (let round = 0; round < 100; round += 1) {
        const device_id = `DEVICE${round}`;
        const logins = clients.flatMap((client) => [client, client]);
        await Promise.all(logins.map((client) => client.login('races', PASSWORD, { device_id })));
      }
      const live = (await sessionsOf('races')).filter(({ finish_reason }) => finish_reason === null);
      expect(new Set(live.map(({ device_id }) => device_id)).size).toBe(100);
      expect(live).toHaveLength(100);
    } finally {
      await other.stop();
    }
  }, 120_000);
});

describe('POST login with the password of a user with a second factor (chat-compat 5.3 step 7)', () => {
  test('is refused with a message that refers to the browser, while a wrong password is rejected as usual', async () => {
    await giveAuthenticatorApp(service.core, await service.registerUser('farah', PASSWORD));
    const response = await chat.tryLogin('farah', PASSWORD);
    expectError(response, 403, 'M_FORBIDDEN');
    expect(response.body['error']).toMatch(/second factor.*browser/);
    expect(await sessionsOf('farah')).toEqual([]);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
    const wrong = await chat.tryLogin('farah', 'wrong');
    expectError(wrong, 403, 'M_FORBIDDEN');
    expect(wrong.body['error']).not.toMatch(/second factor/);
  });

  test('is refused to all users where it is required, and to none where it is disabled', async () => {
    for (const [second_factor, status] of [
      ['required', 403],
      ['off', 200],
    ] as const) {
      const account = { ...SETTINGS.account, second_factor };
      const other = await startService({ ...SETTINGS, account }, { clock, like: service });
      try {
        const response = await new ChatClient(other).tryLogin(second_factor === 'off' ? 'farah' : 'amira', PASSWORD);
        expect(response.status).toBe(status);
      } finally {
        await other.stop();
      }
    }
  });
});
