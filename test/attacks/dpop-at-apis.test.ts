/** DPoP-bound tokens at the admin API and the account API (RFC 9449 7). */
// Preloaded: the service imports this module on the first request, which can exceed the request timeout on a busy
// machine.
import '#features/account-api/endpoint.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ProofKey, type WantedProof } from '#test/support/dpop-proofs.ts';
import { startService, type TestService } from '#test/support/service.ts';

const WORKER = '01JD3Q5Z8W2N4K6M7P9R0S1TWK';
const SPA = '01JD3Q5Z8W2N4K6M7P9R0S1TSP';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe.each([
  ['without nonces', false],
  ['with nonces', true],
])('a bound token, %s', (_, dpop_require_nonce) => {
  const key = new ProofKey();
  const attacker = new ProofKey();
  let service: TestService;
  let nonce: string | undefined;
  let tokens: Readonly<Record<string, string>>;

  beforeAll(async () => {
    service = await startService({
      oauth: { dpop_require_nonce },
      graphql: { oauth2_access: true },
      policy: { data: { admin_clients: [WORKER] } },
      clients: [
        { client_id: WORKER, client_auth_method: 'client_secret_basic', client_secret: SECRET },
        { client_id: SPA, client_auth_method: 'none', redirect_uris: [CALLBACK] },
      ],
    });
    await service.registerUser('amira', PASSWORD);
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.open('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    const query = new URLSearchParams({
      client_id: SPA,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid urn:mas:graphql:*',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    await browser.open(`/authorize?${query}`);
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
    const forAdmin = {
      grant_type: 'client_credentials',
      scope: 'urn:mas:admin',
      client_id: WORKER,
      client_secret: SECRET,
    };
    const forUser = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: CALLBACK };
    tokens = {
      '/api/admin/v1/users/by-username/amira?x=1': await bound(forAdmin),
      '/graphql': await bound({ ...forUser, client_id: SPA }),
    };
  });
  afterAll(async () => await service.stop());

  function proof(path: string, changes: Partial<WantedProof> = {}, by = key): string {
    const url = new URL(path.split('?', 1)[0] ?? '', service.publicBase).href;
    return by.proof({ url, now: Date.now(), ...(nonce !== undefined && { nonce }), ...changes });
  }

  async function bound(form: Readonly<Record<string, string>>): Promise<string> {
    const send = async () =>
      await fetch(`${service.address}/oauth2/token`, {
        method: 'POST',
        headers: { dpop: proof('/oauth2/token') },
        body: new URLSearchParams(form),
      });
    let response = await send();
    nonce = response.headers.get('dpop-nonce') ?? undefined;
    if (response.status === 400) response = await send();
    const body: Readonly<Record<string, unknown>> = JSON.parse(await response.text());
    expect(body).toMatchObject({ token_type: 'DPoP' });
    return String(body['access_token']);
  }

  async function call(path: string, authorization: string, dpop?: string) {
    const response = await fetch(`${service.address}${path}`, {
      method: path === '/graphql' ? 'POST' : 'GET',
      headers: {
        authorization,
        ...(dpop !== undefined && { dpop }),
        ...(path === '/graphql' && { 'content-type': 'application/json' }),
      },
      ...(path === '/graphql' && { body: JSON.stringify({ query: '{ viewer { ... on User { username } } }' }) }),
    });
    const challenge = response.headers.get('www-authenticate') ?? '';
    return { status: response.status, challenge, body: await response.text(), headers: response.headers };
  }

  describe.each(['/api/admin/v1/users/by-username/amira?x=1', '/graphql'])('at %s', (path) => {
    const method = path === '/graphql' ? 'POST' : 'GET';
    const accessToken = () => tokens[path] ?? '';
    const good = (changes: Partial<WantedProof> = {}, by = key) =>
      proof(path, { method, accessToken: accessToken(), ...changes }, by);

    test('is accepted once with a proof', async () => {
      const dpop = good();
      const response = await call(path, `DPoP ${accessToken()}`, dpop);
      expect(response.status, response.body).toBe(200);
      expect(response.body).toContain('amira');
      expect(response.headers.has('dpop-nonce')).toBe(dpop_require_nonce);
      const again = await call(path, `DPoP ${accessToken()}`, dpop);
      expect(again).toMatchObject({
        status: 401,
        challenge: expect.stringMatching(/^DPoP error="invalid_dpop_proof"/),
      });
    });

    test('is refused as a bearer token, and the challenge names the DPoP scheme', async () => {
      for (const dpop of [undefined, good()]) {
        const response = await call(path, `Bearer ${accessToken()}`, dpop);
        expect(response.status).toBe(401);
        expect(response.challenge).toMatch(/^DPoP error="invalid_token", algs="[^"]*ES256[^"]*"$/);
      }
    });

    test.each<[string, () => string | undefined]>([
      ['without a proof', () => undefined],
      ['with a proof of another method', () => good({ method: 'DELETE' })],
      ['with a proof of another URL', () => good({ url: `${service.publicBase}oauth2/userinfo` })],
      ['with a proof without ath', () => good({ claims: { ath: undefined } })],
      ['with a proof of another token', () => good({ accessToken: 'another' })],
      ['with an old proof', () => good({ now: Date.now() - 120_000 })],
      ['with a proof of another type', () => good({ header: { typ: 'jwt' } })],
    ])('is refused %s', async (_what, dpop) => {
      const response = await call(path, `DPoP ${accessToken()}`, dpop());
      expect(response.status).toBe(401);
      expect(response.challenge).toMatch(/^DPoP error="invalid_dpop_proof", algs="[^"]*ES256[^"]*"$/);
    });

    test('is refused with a proof of another key', async () => {
      const response = await call(path, `DPoP ${accessToken()}`, good({}, attacker));
      expect(response).toMatchObject({
        status: 401,
        challenge: expect.stringMatching(/^DPoP error="invalid_token", algs=/),
      });
    });

    test.runIf(dpop_require_nonce)('requires a nonce', async () => {
      const response = await call(path, `DPoP ${accessToken()}`, good({ claims: { nonce: undefined } }));
      expect(response).toMatchObject({ status: 401, challenge: expect.stringMatching(/^DPoP error="use_dpop_nonce"/) });
      expect(response.headers.get('dpop-nonce')).toBeTruthy();
    });
  });

  test('an unbound token is refused with the DPoP scheme', async () => {
    const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin', client_id: WORKER, client_secret: SECRET };
    const response = await fetch(`${service.address}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token: accessToken } = JSON.parse(await response.text());
    const path = '/api/admin/v1/site-config';
    const result = await call(path, `DPoP ${accessToken}`, proof(path, { method: 'GET', accessToken }));
    expect(result).toMatchObject({ status: 401, challenge: expect.stringMatching(/^DPoP error="invalid_token"/) });
    expect((await call(path, `Bearer ${accessToken}`)).status).toBe(200);
  });
});
