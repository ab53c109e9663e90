/** Sign in with Apple: the secret generated for each request, and the posted response (browser-flows 8.1, 8.7). */
import { generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const peer = await sharedByTests(startUpstreamPeer());
const service = await sharedByTests(
  startService({
    upstream_oauth2: {
      providers: [
        {
          id: ID,
          issuer: peer.issuer,
          human_name: 'Apple',
          client_id: 'org.example.signin',
          token_endpoint_auth_method: 'sign_in_with_apple',
          sign_in_with_apple: {
            private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
            team_id: 'A1B2C3D4E5',
            key_id: 'F6G7H8J9K0',
          },
          scope: 'openid name email',
          response_mode: 'form_post',
        },
      ],
    },
  }),
);

beforeAll(async () => {
  const userId = await service.registerUser('amira', 'correct horse battery staple');
  await linkAccount(service.database, { providerId: ID, userId, subject: '001234.abc.5678' });
});

async function signIn(): Promise<Browser> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get(`/upstream/authorize/${ID}`);
  const requested = new URL(browser.page.location ?? '').searchParams;
  expect([requested.get('response_mode'), requested.get('scope')]).toEqual(['form_post', 'openid name email']);
  const back = new URL(peer.signIn(browser.page.location ?? '', { claims: { sub: '001234.abc.5678' } }));
  back.searchParams.set('user', '{"name":{"firstName":"Amira","lastName":"Haddad"},"email":"a@privaterelay.example"}');
  // The cross-site POST arrives without this service's cookies. A page of this service repeats it with them.
  const cookies = new Map(browser.cookies);
  browser.cookies.clear();
  await browser.post(back.pathname, back.searchParams, { origin: peer.issuer, 'sec-fetch-site': 'cross-site' });
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  await browser.submit();
  await browser.follow();
  return browser;
}

test("check 24: the secret is a JWT signed with the team's key, created for this request and valid for a minute", async () => {
  const browser = await signIn();
  expect((await browser.submit()).status).toBe(303);
  const { form, headers } = peer.tokenRequests.at(-1) ?? expect.fail('no token request');
  expect(headers.authorization).toBeUndefined();
  expect(form.get('client_id')).toBe('org.example.signin');
  const secret = form.get('client_secret') ?? '';
  expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'F6G7H8J9K0', typ: 'JWT' });
  const { payload } = await jwtVerify(secret, publicKey, { audience: 'https://appleid.apple.com' });
  const now = Math.floor(Date.now() / 1000);
  const { iat = 0, exp = 0, ...claims } = payload;
  expect(claims).toEqual({ iss: 'A1B2C3D4E5', sub: 'org.example.signin', aud: 'https://appleid.apple.com' });
  expect(iat).toBeLessThanOrEqual(now);
  expect(exp - iat).toBe(60);
  // The request contains nothing else about the client: neither an assertion nor the key itself.
  expect([...form.keys()].toSorted()).toEqual([
    ...['client_id', 'client_secret', 'code', 'code_verifier', 'grant_type', 'redirect_uri'],
  ]);
});

test('check 24: every request has its own secret, and neither it nor the key is logged', async () => {
  const secrets = [];
  for (let count = 0; count < 2; count += 1) {
    await signIn();
    secrets.push(peer.tokenRequests.at(-1)?.form.get('client_secret') ?? '');
  }
  expect(new Set(secrets).size).toBe(2);
  const log = service.logLines().join('\n');
  for (const secret of secrets) expect(log).not.toContain(secret.slice(-20));
  expect(log).not.toContain('PRIVATE KEY');
});
