/**
 * Security 4.4: stolen, replayed and misdirected tokens at the refresh, introspection, revocation and userinfo
 * endpoints.
 */
import { describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { ChatClient } from '../support/chat-client.ts';
import { expectLinear } from '../support/measuring.ts';
import { waitUntil } from '../support/postgres-server.ts';
import type { TestService } from '../support/service.ts';
import { withoutDatabase } from './absent-database.ts';
import {
  type AttackedClient,
  attackedService,
  basic,
  C1,
  C2,
  CLIENT_SETTINGS,
  HOMESERVER_SECRET,
  P1,
  PASSWORD,
} from './attacked-service.ts';
import { headerOf, jsonOf, type RawResponse, textMember } from './raw-http.ts';

/** Receives userinfo responses as JWTs. */
const CJ = {
  id: '01JD3Q5Z8W2N4K6M7P9R0S1TCJ',
  secret: 'the-secret-of-the-client-with-signed-answers',
  callback: 'https://signed.example/cb',
};
const attacked = attackedService({
  clients: [
    ...CLIENT_SETTINGS,
    {
      client_id: CJ.id,
      client_auth_method: 'client_secret_basic',
      client_secret: CJ.secret,
      redirect_uris: [CJ.callback],
      userinfo_signed_response_alg: 'RS256',
    },
  ],
});
/** Services with other values of `introspection_callers`. */
const ownOnly = attackedService({ oauth: { introspection_callers: 'own' } });
const everyClient = attackedService({ oauth: { introspection_callers: 'confidential' } });
/** Loses its database. */
const orphaned = attackedService({}, { expectedStatuses: [503] });
const HOMESERVER = `Bearer ${HOMESERVER_SECRET}`;

function expectError(response: RawResponse, status: number, error: string): void {
  expect(response.status).toBe(status);
  expect(jsonOf(response)).toEqual({ error, error_description: expect.any(String) });
}

async function userinfo(token: string): Promise<RawResponse> {
  return await attacked.ask({ target: '/oauth2/userinfo', headers: [['Authorization', `Bearer ${token}`]] });
}

async function isActive(token: string): Promise<boolean> {
  return (await attacked.introspect(token))['active'] === true;
}

describe('refresh tokens', () => {
  test('repeat a lost response: within the grace period the same, later with a fresh access token (S-39)', async () => {
    const first = await attacked.tokens(await attacked.signedIn('amira'), P1);
    const lost = attacked.held('', await attacked.refresh(P1, first.refreshToken));
    attacked.clock.advanceSeconds(5);
    const again = attacked.held('', await attacked.refresh(P1, first.refreshToken));
    expect(again).toMatchObject({ refreshToken: lost.refreshToken, accessToken: lost.accessToken });
    attacked.clock.advanceSeconds(60);
    const late = attacked.held('', await attacked.refresh(P1, first.refreshToken));
    expect(late.refreshToken).toBe(lost.refreshToken);
    expect(late.accessToken).not.toBe(lost.accessToken);
    expect([await isActive(lost.accessToken), await isActive(late.accessToken)]).toEqual([false, true]);
  });

  test('leave one valid pair after fifty concurrent refreshes on two instances (S-40)', async () => {
    const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    await attacked.withSecondInstance(async (second) => {
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          attacked.refresh(C1, refreshToken, {}, index % 2 === 0 ? second : attacked.service),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
      const pairs = new Set(
        responses
          .map((response) => attacked.held('', response))
          .map((pair) => `${pair.accessToken} ${pair.refreshToken}`),
      );
      expect(pairs.size).toBe(1);
      const [accessToken = ''] = [...pairs][0]?.split(' ') ?? [];
      expect(await isActive(accessToken)).toBe(true);
    });
  });

  test('that were used are refused by a process that never saw them, and end the session (S-41)', async () => {
    const first = await attacked.tokens(await attacked.signedIn('amira'), C1);
    const second = attacked.held('', await attacked.refresh(C1, first.refreshToken));
    expect(await isActive(second.accessToken)).toBe(true);
    attacked.clock.advanceSeconds(31);
    await attacked.withSecondInstance(async (restarted) => {
      expectError(await attacked.refresh(C1, first.refreshToken, {}, restarted), 400, 'invalid_grant');
    });
    expect(await isActive(second.accessToken)).toBe(false);
  });

  test('work only for their own client with its authentication, and cannot be replaced by other tokens (S-42)', async () => {
    const { accessToken, refreshToken, code } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    await attacked.changingNothing(async () => {
      expectError(await attacked.refresh(C2, refreshToken), 400, 'invalid_grant');
      expectError(await attacked.refresh(P1, refreshToken), 400, 'invalid_grant');
      expectError(await attacked.post('/oauth2/token', form), 401, 'invalid_client');
      expectError(await attacked.post('/oauth2/token', { ...form, client_id: C1.id }), 401, 'invalid_client');
      for (const other of [accessToken, code, 'mcr_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M', `${refreshToken} `]) {
        expectError(await attacked.refresh(C1, other), 400, 'invalid_grant');
      }
    });
    expect(await isActive(accessToken)).toBe(true);
  });

  test.each([
    ['100,000 words', 'a '.repeat(100_000), 413],
    ['1 MB', 'x'.repeat(1_000_000), 413],
    ['30,000 words within the limit of the form', 'a '.repeat(30_000), 400],
    ['control characters', 'openid\u0001', 400],
    ['a NUL', 'openid\0', 400],
    ['a quote', 'openid"', 400],
    ['a duplicate word and one not granted', 'openid openid email', 400],
  ])('a scope of %s is refused (S-43)', async (_, scope, status) => {
    const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    const response = await attacked.refresh(C1, refreshToken, { scope });
    expect(response.status).toBe(status);
    expect(jsonOf(response)['error']).toMatch(/^invalid_(scope|request)$/);
  });

  test.each([
    ['1 MB', 'x'.repeat(1_000_000)],
    ['100,000 words', 'a '.repeat(100_000)],
    ['one word 100,000 times', 'openid '.repeat(100_000)],
    ['30,000 words within the limit of the form', 'a '.repeat(30_000)],
    ['a control character', 'openid\u0001'],
    ['a line break', 'openid\r\nemail'],
    ['a NUL', 'openid\0'],
    ['a quote', 'openid"'],
    ['a backslash', 'openid\\'],
    ['a letter outside ASCII', 'openid \u00e9mail'],
  ])('a scope of %s is refused at every endpoint that accepts one, and nothing is stored (S-43)', async (_, scope) => {
    const browser = await attacked.signedIn('amira');
    const { accessToken, refreshToken } = await attacked.tokens(browser, C1);
    const [, query] = attacked.authorizeUrl(C1, { scope }).split('?');
    const request = { redirect_uri: C1.callback, response_type: 'code', scope };
    await attacked.changingNothing(async () => {
      for (const [path, form] of [
        ['/oauth2/token', { grant_type: 'refresh_token', refresh_token: refreshToken, scope }],
        ['/oauth2/token', { grant_type: 'client_credentials', scope }],
        ['/oauth2/device', { scope }],
        ['/oauth2/par', request],
      ] as const) {
        const response = await attacked.post(path, { ...form }, basic(C1));
        expect([400, 413], `${path} ${String(form['scope']).slice(0, 10)}`).toContain(response.status);
        expect(jsonOf(response)['error']).toMatch(/^invalid_(scope|request)$/);
      }
      const { location, status } = await browser.post('/authorize', new URLSearchParams(query), { cookie: undefined });
      if (location === undefined) expect([400, 413]).toContain(status);
      else expect(new URL(location).searchParams.get('error')).toMatch(/^invalid_(scope|request)$/);
      const registration = await attacked.ask({
        method: 'POST',
        target: '/oauth2/registration',
        headers: [['Content-Type', 'application/json']],
        body: JSON.stringify({ client_uri: 'https://app.example/', redirect_uris: ['https://app.example/cb'], scope }),
      });
      expect([400, 413]).toContain(registration.status);
    });
    expect(await isActive(accessToken)).toBe(true);
  });

  test.each(['a ', 'openid ', 'x', ' '])(
    'a scope of repeated %j is refused at a cost linear in its length (S-43)',
    async (part) => {
      const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
      await expectLinear(
        async (size) => {
          await attacked.refresh(C1, refreshToken, { scope: `${part.repeat(size / part.length)}"` });
          return attacked.lastCpu();
        },
        60_000,
        { resolution: 0.1 },
      );
    },
  );

  test.each([
    ['50 words', 'openid '.repeat(50), 200],
    ['51 words, each of which is granted', 'openid '.repeat(51), 400],
    ['2,048 characters', 'openid'.padEnd(2048), 200],
    ['2,049 characters, one word and spaces', 'openid'.padEnd(2049), 400],
  ])('a scope of %s is limited by its length, not its meaning (S-43)', async (_, scope, status) => {
    const browser = await attacked.signedIn('amira');
    const { refreshToken } = await attacked.tokens(browser, C1);
    const forItself = { grant_type: 'client_credentials', scope };
    for (const response of [
      await attacked.refresh(C1, refreshToken, { scope }),
      await attacked.post('/oauth2/token', forItself, basic(C1)),
    ]) {
      expect(response.status).toBe(status);
      if (status === 400) expect(jsonOf(response)['error']).toBe('invalid_scope');
    }
    const { searchParams } = await attacked.callbackOf(browser, C1, { scope });
    expect(searchParams.get('error')).toBe(status === 400 ? 'invalid_scope' : null);
  });
});

/** Presents an informational JWT of this service wherever a token gives access. */
async function expectNoAccess(jwt: string, client: AttackedClient): Promise<void> {
  expect((await userinfo(jwt)).status).toBe(401);
  expect(await isActive(jwt)).toBe(false);
  const assertion = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: jwt,
  };
  const form = { grant_type: 'client_credentials', ...assertion };
  expectError(await attacked.post('/oauth2/token', form), 401, 'invalid_client');
  expectError(await attacked.refresh(client, jwt), 400, 'invalid_grant');
}

async function expectNoHint(jwt: string, client: AttackedClient): Promise<void> {
  const { location } = await attacked.browser().get(attacked.authorizeUrl(client, { id_token_hint: jwt }));
  expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_request');
  const logout = `/oauth2/logout?${new URLSearchParams({ id_token_hint: jwt })}`;
  expect((await attacked.browser().get(logout)).status).toBe(400);
}

test('an ID token grants no access: it is refused as access token, assertion or refresh token (S-36)', async () => {
  const { answer: response } = await own('amira');
  const idToken = textMember(response, 'id_token');
  await expectNoAccess(idToken, C1);
  await expectNoHint(`${idToken.slice(0, -8)}AAAAAAAA`, C1);
});

test('a signed userinfo or introspection response grants no access, and is not accepted as an ID token hint (S-36)', async () => {
  const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), CJ);
  const ofUserinfo = await userinfo(accessToken);
  expect(headerOf(ofUserinfo, 'content-type')).toBe('application/jwt');
  const ofIntrospection = await attacked.ask({
    method: 'POST',
    target: '/oauth2/introspect',
    headers: [
      ['Accept', 'application/token-introspection+jwt'],
      ['Authorization', basic(CJ) ?? ''],
      ['Content-Type', 'application/x-www-form-urlencoded'],
    ],
    body: `token=${accessToken}`,
  });
  expect(headerOf(ofIntrospection, 'content-type')).toBe('application/token-introspection+jwt');
  for (const { body } of [ofUserinfo, ofIntrospection]) {
    expect(body).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    await expectNoAccess(body, CJ);
    await expectNoHint(body, CJ);
  }
});

describe('introspection (RFC 7662)', () => {
  const STRANGERS: [string, () => string | undefined | Promise<string>][] = [
    ['nobody', () => undefined],
    ['a client with a wrong secret', () => basic({ ...C1, secret: 'wrong-secret-of-the-client' })],
    ['the homeserver with a wrong secret', () => `Bearer ${HOMESERVER_SECRET.replace('the', 'The')}`],
    ['the homeserver with a secret of another length', () => `Bearer ${HOMESERVER_SECRET}x`],
    ['the homeserver with an empty secret', () => 'Bearer '],
    ['a user with their own token', async () => `Bearer ${(await own('bruno')).accessToken}`],
  ];

  test.each(STRANGERS)('reveals nothing to %s (S-44)', async (_, authorization) => {
    const { accessToken } = await own('amira');
    const response = await attacked.post('/oauth2/introspect', { token: accessToken }, await authorization());
    expect(response.status).toBe(401);
    expect(headerOf(response, 'www-authenticate')).toMatch(/^(Basic|Bearer) /);
    expect(response.body).not.toContain('active');
  });

  test.each([
    ['own', [false, false, true]],
    ['static', [true, false, true]],
    ['confidential', [true, true, true]],
  ] as const)(
    'with introspection_callers %s: visible to another configured client, a dynamic client and its own: %j (S-44)',
    async (setting, seen) => {
      const instance = { own: ownOnly, static: attacked, confidential: everyClient }[setting];
      const { accessToken, refreshToken } = await instance.tokens(await instance.signedIn('amira'), C1);
      const registration = await instance.ask({
        method: 'POST',
        target: '/oauth2/registration',
        headers: [['Content-Type', 'application/json']],
        body: JSON.stringify({ client_uri: 'https://app.example/', redirect_uris: ['https://app.example/cb'] }),
      });
      const [id, secret] = [textMember(registration, 'client_id'), textMember(registration, 'client_secret')];
      instance.secrets.add(secret);
      for (const token of [accessToken, refreshToken]) {
        const responses: unknown[] = [];
        for (const asking of [C2, { id, secret, callback: '' }, C1]) {
          const response = await instance.post('/oauth2/introspect', { token }, basic(asking));
          if (jsonOf(response)['active'] !== true)
            expect([response.status, response.body]).toEqual([200, '{"active":false}']);
          responses.push(jsonOf(response)['active']);
        }
        expect(responses).toEqual(seen);
      }
      expect((await instance.introspect(accessToken))['active']).toBe(true);
    },
  );

  test('reveals nothing to a public client, and to the homeserver what it needs (S-44)', async () => {
    const { accessToken } = await own('amira');
    const response = await attacked.post('/oauth2/introspect', { token: accessToken, client_id: P1.id });
    expectError(response, 401, 'access_denied');
    expect(await attacked.introspect(accessToken)).toMatchObject({ active: true, username: 'amira' });
  });

  test('gives the same empty answer for every dead token, and userinfo refuses each alike (S-45)', async () => {
    await attacked.service.registerUser('dario', PASSWORD);
    const expired = await own('amira');
    attacked.clock.advanceSeconds(301);
    const revoked = await own('amira');
    await attacked.post('/oauth2/revoke', { token: revoked.refreshToken }, basic(C1));
    const refreshed = await own('amira');
    await attacked.refresh(C1, refreshed.refreshToken);
    const reused = await own('amira');
    attacked.clock.advanceSeconds(21);
    expectError(await attacked.exchange(C1, reused.code), 400, 'invalid_grant');
    const locked = await own('bruno');
    const gone = await own('dario');
    const live = await own('adele');
    await attacked.change("update users set locked_at = created_at where username = 'bruno'");
    await attacked.change("update users set deactivated_at = created_at where username = 'dario'");
    try {
      const dead = [
        expired.accessToken,
        revoked.accessToken,
        revoked.refreshToken,
        refreshed.accessToken,
        refreshed.refreshToken,
        reused.accessToken,
        reused.refreshToken,
        locked.accessToken,
        locked.refreshToken,
        gone.accessToken,
        gone.refreshToken,
        'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv',
        'malformed',
        'x'.repeat(20_000),
        `${live.accessToken} `,
        live.accessToken.toLowerCase(),
        live.accessToken.slice(0, -1),
      ];
      for (const token of dead) {
        for (const authorization of [HOMESERVER, basic(C1)]) {
          const response = await attacked.post('/oauth2/introspect', { token }, authorization);
          expect([response.status, response.body], token.slice(0, 60)).toEqual([200, '{"active":false}']);
        }
      }
      // Trailing whitespace is not part of a header value, and headers have a separate size limit.
      const refusals = await Promise.all(
        dead.filter((token) => !token.endsWith(' ') && token.length < 10_000).map((token) => userinfo(token)),
      );
      for (const refusal of refusals) {
        expect([refusal.status, refusal.body]).toEqual([refusals[0]?.status, refusals[0]?.body]);
        expect(refusal.headers.get('www-authenticate')).toEqual(refusals[0]?.headers.get('www-authenticate'));
        expect(refusal.status).toBe(401);
      }
      const tooLong = await attacked.post('/oauth2/introspect', { token: 'x'.repeat(1_000_000) }, HOMESERVER);
      expect(tooLong.status).toBe(413);
    } finally {
      await attacked.change("update users set locked_at = null where username = 'bruno'");
    }
  });
});

describe('revocation (RFC 7009)', () => {
  test('has no effect without credentials, by another client or a user; its own client succeeds with any hint (S-46)', async () => {
    const { accessToken, refreshToken } = await own('amira');
    await attacked.changingNothing(async () => {
      for (const token of [accessToken, refreshToken]) {
        expectError(await attacked.post('/oauth2/revoke', { token }), 401, 'invalid_client');
        expectError(await attacked.post('/oauth2/revoke', { token }, `Bearer ${accessToken}`), 401, 'invalid_client');
        expectError(await attacked.post('/oauth2/revoke', { token }, HOMESERVER), 401, 'invalid_client');
        expectError(await attacked.post('/oauth2/revoke', { token }, basic(C2)), 400, 'unauthorized_client');
      }
      const unknown = { token: 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv' };
      expect(await attacked.post('/oauth2/revoke', unknown, basic(C2))).toMatchObject({ status: 200, body: '' });
    });
    expect(await isActive(accessToken)).toBe(true);
    const wrongHint = { token: accessToken, token_type_hint: 'refresh_token' };
    for (let count = 0; count < 2; count += 1) {
      expect(await attacked.post('/oauth2/revoke', wrongHint, basic(C1))).toMatchObject({ status: 200, body: '' });
    }
    expect(await isActive(accessToken)).toBe(false);
    expectError(await attacked.refresh(C1, refreshToken), 400, 'invalid_grant');
  });
});

describe('while the database is down', () => {
  test('a revocation gets 503 instead of 200, and the token stays valid until it is revoked afterwards (S-46)', async () => {
    const { accessToken, refreshToken } = await orphaned.tokens(await orphaned.signedIn('amira'), C1);
    await withoutDatabase(orphaned.service.connectionString, async () => {
      for (const fields of [
        { token: accessToken },
        { token: refreshToken },
        { token: refreshToken, token_type_hint: 'access_token' },
      ]) {
        const response = await orphaned.post('/oauth2/revoke', fields, basic(C1));
        expectError(response, 503, 'temporarily_unavailable');
        expect(Number(headerOf(response, 'retry-after'))).toBeGreaterThan(0);
      }
      // A token must not be reported as inactive when the lookup fails.
      const requested = await orphaned.post('/oauth2/introspect', { token: accessToken }, HOMESERVER);
      expectError(requested, 503, 'temporarily_unavailable');
    });
    await waitUntil(async () => (await orphaned.ask({ target: '/health' })).status === 200, 'the database');
    expect((await orphaned.introspect(accessToken))['active']).toBe(true);
    const revoked = await orphaned.post('/oauth2/revoke', { token: accessToken }, basic(C1));
    expect(revoked).toMatchObject({ status: 200, body: '' });
    expect(await orphaned.introspect(accessToken)).toEqual({ active: false });
    expect(await orphaned.introspect(refreshToken)).toEqual({ active: false });
  });
});

describe('an access token outside the Authorization header (RFC 9700 4.3.2)', () => {
  test('is refused in the query, in the body of a GET, and in two places; it is never logged (S-47)', async () => {
    const { accessToken } = await own('amira');
    const header: [string, string] = ['Authorization', `Bearer ${accessToken}`];
    const form = { headers: [['Content-Type', 'application/x-www-form-urlencoded']] } as const;
    const body = `access_token=${accessToken}`;
    const target = '/oauth2/userinfo';
    const dpop: [string, string] = ['Authorization', `DPoP ${accessToken}`];
    const responses = [
      await attacked.ask({ target: `${target}?${body}` }),
      await attacked.ask({ target: `${target}?${body}&${body}` }),
      await attacked.ask({ target: `${target}?token=${accessToken}` }),
      await attacked.ask({ target, headers: [['Cookie', body]] }),
      await attacked.ask({ target, headers: [header, header] }),
      await attacked.ask({ target, headers: [header, dpop] }),
      await attacked.ask({ target, headers: [['Authorization', `Bearer ${accessToken}, Bearer ${accessToken}`]] }),
      await attacked.ask({ method: 'POST', target, ...form, body: `${body}&${body}` }),
      await attacked.ask({ method: 'POST', target: `${target}?${body}`, ...form, body }),
      await attacked.ask({ method: 'POST', target: `${target}?${body}`, headers: [header] }),
      await attacked.ask({ target, ...form, body }),
      await attacked.ask({ target: `${target}?${body}`, headers: [header] }),
      await attacked.ask({ method: 'POST', target, headers: [header, ...form.headers], body }),
      await attacked.ask({ method: 'POST', target: `${target}?${body}`, ...form, body: '' }),
    ];
    for (const [index, response] of responses.entries()) {
      expect([400, 401], `answer ${index}`).toContain(response.status);
      expect(response.body).not.toContain('amira');
      expect(response.body).not.toContain(accessToken);
    }
    expect(await isActive(accessToken)).toBe(true);
    expect(attacked.service.logLines().join('\n')).not.toContain(accessToken);
  });
});

test('the homeserver’s secret and a token in the query or form work at no other endpoint (S-47)', async () => {
  const { accessToken } = await own('amira');
  await attacked.changingNothing(async () => {
    for (const path of ['/oauth2/introspect', '/oauth2/revoke', '/oauth2/token', '/oauth2/registration']) {
      for (const secret of [HOMESERVER_SECRET, accessToken]) {
        const query = `?access_token=${secret}&token=${accessToken}`;
        const response = await attacked.post(`${path}${query}`, { access_token: secret, token: accessToken });
        expect([400, 401], path).toContain(response.status);
        expect(response.body).not.toContain('active');
      }
    }
  });
  expect(await isActive(accessToken)).toBe(true);
});

describe('tokens', () => {
  const chat = () => new ChatClient(attacked.service);

  async function begin(username: string) {
    const { accessToken, refreshToken = '' } = await chat().login(username, PASSWORD, { refresh_token: true });
    for (const token of [accessToken, refreshToken]) attacked.secrets.add(token);
    return { accessToken, refreshToken };
  }

  const refresh = (token: string) => chat().post('/refresh', { refresh_token: token });

  test('of chat clients: all dead ones get the same empty answer (S-45)', async () => {
    await attacked.service.registerUser('emilia', PASSWORD);
    await attacked.service.registerUser('elias', PASSWORD);
    const expired = await begin('amira');
    attacked.clock.advanceSeconds(301);
    const ended = await begin('amira');
    await chat().post('/logout', undefined, { authorization: `Bearer ${ended.accessToken}` });
    const refreshed = await begin('amira');
    await refresh(refreshed.refreshToken);
    const [locked, gone, live] = [await begin('emilia'), await begin('elias'), await begin('adele')];
    await attacked.change("update users set locked_at = created_at where username = 'emilia'");
    await attacked.change("update users set deactivated_at = created_at where username = 'elias'");
    const dead = [
      expired.accessToken,
      ...Object.values(ended),
      ...Object.values(refreshed),
      ...Object.values(locked),
      ...Object.values(gone),
      'mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M',
      'syt_YW1pcmE_kbyTtqTbZVgQNhgKrQmZ_3uOxOE',
      `${live.accessToken} `,
      live.accessToken.toLowerCase(),
      'x'.repeat(20_000),
    ];
    for (const token of dead) {
      expect(await attacked.introspect(token), token.slice(0, 60)).toEqual({ active: false });
      const headers: [string, string][] = [['Authorization', `Bearer ${token.slice(0, 4000)}`]];
      const response = await attacked.ask({ target: '/oauth2/userinfo', headers });
      expect([400, 401], token.slice(0, 60)).toContain(response.status);
    }
    expect(await attacked.introspect(live.accessToken)).toMatchObject({ active: true });
  });

  test('are refused at the OAuth endpoints, and OAuth tokens are refused here (S-42)', async () => {
    const inChat = await begin('amira');
    const atClient = await own('amira');
    for (const token of [inChat.refreshToken, inChat.accessToken]) {
      expectError(await attacked.refresh(C1, token), 400, 'invalid_grant');
    }
    for (const token of [atClient.refreshToken, atClient.accessToken, inChat.accessToken]) {
      expect((await refresh(token)).body).toMatchObject({ errcode: 'M_UNKNOWN_TOKEN' });
    }
    // No token was consumed.
    expect((await refresh(inChat.refreshToken)).status).toBe(200);
    expect((await attacked.refresh(C1, atClient.refreshToken)).status).toBe(200);
  });

  test('cannot be used with the homeserver secret, which signs nobody in or out (S-132)', async () => {
    const { refreshToken } = await begin('amira');
    const authorization = `Bearer ${HOMESERVER_SECRET}`;
    for (const path of ['/logout', '/logout/all']) {
      const response = await chat().post(path, undefined, { authorization });
      expect([response.status, response.body['errcode']]).toEqual([401, 'M_UNKNOWN_TOKEN']);
    }
    expect((await chat().post('/refresh', { refresh_token: HOMESERVER_SECRET })).status).toBe(401);
    expect((await chat().tryLogin('amira', HOMESERVER_SECRET)).status).toBe(403);
    expect((await refresh(refreshToken)).status).toBe(200);
  });
});

test('a token of a deleted client is invalid, and so is the client (S-45)', async () => {
  const { accessToken, refreshToken } = await own('amira', C2);
  await attacked.change(
    'update oauth2_clients set disabled_at = created_at, version = version + 1 where id = $1::uuid',
    [uuidOf(C2)],
  );
  try {
    await attacked.withSecondInstance(async (fresh: TestService) => {
      expect(await attacked.introspect(accessToken, fresh)).toEqual({ active: false });
    });
    // The instance that still caches the client must detect the change itself.
    expect(await attacked.introspect(accessToken)).toEqual({ active: false });
    expectError(await attacked.refresh(C2, refreshToken), 401, 'invalid_client');
  } finally {
    await attacked.change('update oauth2_clients set disabled_at = null where id = $1::uuid', [uuidOf(C2)]);
  }
});

function uuidOf(client: AttackedClient): string {
  const id = parseId(client.id);
  if (id === undefined) throw new Error(`${client.id} is not an id`);
  return toUuid(id);
}

async function own(username: string, asking: AttackedClient = C1) {
  return await attacked.tokens(await attacked.signedIn(username), asking);
}
