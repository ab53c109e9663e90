/** Security 4.3: who may act as a client. If one of these fails, an attacker redeems codes and reads tokens. */
import { describe, expect, test } from 'vitest';
import { attackedService, basic, C1, C2, CLIENT_SETTINGS, CP, P1 } from './attacked-service.ts';
import { headerOf, jsonOf, type RawResponse } from './raw-http.ts';

/** Its secret contains characters that form encoding changes. */
const CE = {
  id: '01JD3Q5Z8W2N4K6M7P9R0S1TCE',
  secret: 'a+secret:with%41all that=is&changed',
  callback: 'https://encoded.example/cb',
};
/** Accepts its secret only in the header. */
const CX = { id: '01JD3Q5Z8W2N4K6M7P9R0S1TCX', secret: 'the-secret-of-the-strict-client', callback: '' };
/** Signs assertions with its secret, which is never transmitted. */
const CS = { id: '01JD3Q5Z8W2N4K6M7P9R0S1TCS', secret: 'the-secret-that-signs-the-assertions-of-a-client' };
const attacked = attackedService({
  clients: [
    ...CLIENT_SETTINGS,
    { client_id: CE.id, client_auth_method: 'client_secret_basic', client_secret: CE.secret },
    { client_id: CX.id, client_auth_method: 'client_secret_basic', client_secret: CX.secret, strict_auth_method: true },
    { client_id: CS.id, client_auth_method: 'client_secret_jwt', client_secret: CS.secret },
  ],
});
for (const { secret } of [CE, CX, CS]) attacked.secrets.add(secret);
const FORM = { grant_type: 'client_credentials' };

function encoded(text: string | Buffer): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

function expectRefused(response: RawResponse, status: number, error: string): void {
  expect(response.status).toBe(status);
  expect(jsonOf(response)).toEqual({ error, error_description: expect.any(String) });
  expect(headerOf(response, 'cache-control')).toBe('no-store');
  if (status === 401) expect(headerOf(response, 'www-authenticate')).toMatch(/^Basic realm="/);
}

describe('credentials that do not match the client (S-28)', () => {
  const REFUSED: [string, Record<string, string>, string | undefined][] = [
    ['a wrong secret', {}, encoded(`${C1.id}:wrong-secret-of-the-client`)],
    ['an empty secret', {}, encoded(`${C1.id}:`)],
    ['the secret of another client', {}, encoded(`${C1.id}:${C2.secret}`)],
    ['the secret of another client in the form', { client_id: C1.id, client_secret: CP.secret }, undefined],
    ['no secret at all', { client_id: C1.id }, undefined],
    ['a Bearer token', { client_id: C1.id }, `Bearer ${C1.secret}`],
    ['an unknown scheme', { client_id: C1.id }, `Negotiate ${C1.secret}`],
    ['nothing', {}, undefined],
    ['the secret that signs assertions, in the header', {}, encoded(`${CS.id}:${CS.secret}`)],
    ['the same in the form', { client_id: CS.id, client_secret: CS.secret }, undefined],
    ['only the id of a client with assertions', { client_id: CS.id }, undefined],
    ['the right secret in the form of a strict client', { client_id: CX.id, client_secret: CX.secret }, undefined],
    [
      'the right secret of a strict client in both places',
      { client_secret: CX.secret },
      encoded(`${CX.id}:${CX.secret}`),
    ],
    ['the right secret with a trailing space', {}, encoded(`${C1.id}:${C1.secret} `)],
    ['the right secret without its last character', {}, encoded(`${C1.id}:${C1.secret.slice(0, -1)}`)],
    ['the right secret in upper case', {}, encoded(`${C1.id}:${C1.secret.toUpperCase()}`)],
    ['a client that does not exist', {}, encoded(`01JD3Q5Z8W2N4K6M7P9R0S1TZZ:${C1.secret}`)],
    ['a malformed id', {}, encoded(`' or 1=1 --:${C1.secret}`)],
  ];
  test.each(REFUSED)('%s: 401 invalid_client with a challenge', async (_, fields, authorization) => {
    await attacked.changingNothing(async () => {
      const response = await attacked.post('/oauth2/token', { ...FORM, ...fields }, authorization);
      expectRefused(response, 401, 'invalid_client');
    });
  });

  test.each([
    ['the right secret in the header and another in the form', { client_secret: 'x' }, basic(C1)],
    ['the right secret in the form and another in the header', { client_secret: C1.secret }, encoded(`${C1.id}:x`)],
    ['another client_id in the form than in the header', { client_id: C2.id }, basic(C1)],
    ['invalid base64', {}, 'Basic !!!'],
    ['base64 without a colon', {}, encoded(C1.id)],
    ['invalid UTF-8', {}, encoded(Buffer.from([...Buffer.from(`${C1.id}:`), 0xff, 0xfe]))],
    ['a NUL', {}, encoded(`${C1.id}:\0`)],
    ['a secret without a client', { client_secret: 'x' }, undefined],
    ['an assertion of another kind', { client_assertion: 'x', client_assertion_type: 'urn:evil' }, undefined],
  ])('%s: 400 invalid_request', async (_, fields, authorization) => {
    await attacked.changingNothing(async () => {
      const response = await attacked.post('/oauth2/token', { ...FORM, ...fields }, authorization);
      expectRefused(response, 400, 'invalid_request');
    });
  });

  test('two client_id values: 400, whichever comes first', async () => {
    for (const [one, other] of [
      [C1, C2],
      [C2, C1],
    ] as const) {
      const body = `grant_type=client_credentials&client_id=${one.id}&client_id=${other.id}`;
      expectRefused(await attacked.post('/oauth2/token', body, basic(C1)), 400, 'invalid_request');
    }
  });

  test('credentials with colon and plus are read per RFC 6749 2.3.1, and as clients send them', async () => {
    expect((await attacked.post('/oauth2/token', FORM, basic(C1))).status).toBe(200);
    expect(
      (await attacked.post('/oauth2/token', FORM, encoded(`${C1.id}:${encodeURIComponent(C1.secret)}`))).status,
    ).toBe(200);
    // Form encoding decodes a plus to a space, so a plus must not match a hyphen in the secret.
    const plus = encoded(`${C1.id}:${C1.secret.replaceAll('-', '+')}`);
    expectRefused(await attacked.post('/oauth2/token', FORM, plus), 401, 'invalid_client');
  });

  test('a secret with colon, plus, percent and space is accepted in either encoding; near misses are not', async () => {
    const raw = encoded(`${CE.id}:${CE.secret}`);
    const form = encoded(`${CE.id}:${new URLSearchParams({ x: CE.secret }).toString().slice(2)}`);
    for (const right of [raw, form, encoded(`${CE.id}:${encodeURIComponent(CE.secret)}`)]) {
      expect((await attacked.post('/oauth2/token', FORM, right)).status).toBe(200);
    }
    const near = [
      CE.secret.replace('+', ' '),
      CE.secret.replace('%41', 'A'),
      CE.secret.split(':')[0] ?? '',
      encodeURIComponent(encodeURIComponent(CE.secret)),
    ];
    for (const wrong of near) {
      expectRefused(await attacked.post('/oauth2/token', FORM, encoded(`${CE.id}:${wrong}`)), 401, 'invalid_client');
    }
    const inForm = { ...FORM, client_id: CE.id, client_secret: encodeURIComponent(CE.secret) };
    expectRefused(await attacked.post('/oauth2/token', inForm), 401, 'invalid_client');
  });

  test('applies to every endpoint with client authentication', async () => {
    const fields = { ...FORM, token: 'x', response_type: 'code', scope: 'openid', redirect_uri: C1.callback };
    for (const path of ['/oauth2/token', '/oauth2/introspect', '/oauth2/revoke', '/oauth2/par', '/oauth2/device']) {
      await attacked.changingNothing(async () => {
        for (const authorization of [encoded(`${C1.id}:wrong-secret-of-the-client`), encoded(`${C1.id}:`), undefined]) {
          expectRefused(await attacked.post(path, fields, authorization), 401, 'invalid_client');
        }
        const twice = `${new URLSearchParams(fields)}&client_id=${C1.id}&client_id=${C1.id}`;
        expectRefused(await attacked.post(path, twice, basic(C1)), 400, 'invalid_request');
        const other = await attacked.post(path, { ...fields, client_id: C2.id }, basic(C1));
        expectRefused(other, 400, 'invalid_request');
      });
    }
  });
});

describe('a public client (S-29)', () => {
  test('is refused when it sends a secret', async () => {
    const inForm = { ...FORM, client_id: P1.id, client_secret: 'x' };
    expectRefused(await attacked.post('/oauth2/token', inForm), 401, 'invalid_client');
    expectRefused(await attacked.post('/oauth2/token', FORM, encoded(`${P1.id}:x`)), 401, 'invalid_client');
    const { refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), P1);
    const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
    await attacked.changingNothing(async () => {
      const sent = await attacked.post('/oauth2/token', { ...refresh, client_id: P1.id, client_secret: 'x' });
      expectRefused(sent, 401, 'invalid_client');
      expectRefused(await attacked.post('/oauth2/token', refresh, encoded(`${P1.id}:x`)), 401, 'invalid_client');
    });
    expect((await attacked.refresh(P1, refreshToken)).status).toBe(200);
  });

  test('gets no client credentials token, even with an empty secret', async () => {
    await attacked.changingNothing(async () => {
      for (const scope of ['', 'openid', 'urn:latchkey:admin']) {
        const response = await attacked.post('/oauth2/token', { ...FORM, scope, client_id: P1.id });
        expectRefused(response, 400, 'unauthorized_client');
        const withHeader = await attacked.post('/oauth2/token', { ...FORM, scope }, encoded(`${P1.id}:`));
        expectRefused(withHeader, 400, 'unauthorized_client');
      }
    });
  });
});

test('the key set contains only public members, each key with its use and id (S-37)', async () => {
  const response = await attacked.ask({ target: '/oauth2/keys.json' });
  const { keys } = jsonOf(response);
  if (!Array.isArray(keys)) return expect.fail('no keys');
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    expect(key).toMatchObject({ kid: expect.any(String), use: 'sig', kty: expect.stringMatching(/^(RSA|EC|OKP)$/) });
    for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']) expect(key).not.toHaveProperty(member);
  }
  expect(new Set(keys.map((key) => key.kid)).size).toBe(keys.length);
});
