/** Security 4.3: clients that authenticate with a signed JWT. If one of these fails, an attacker acts as the client. */
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { exportJWK } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '#platform/base/secret.ts';
import { ASSERTION_TYPE, type AssertionParts, signAssertion } from '../support/client-assertions.ts';
import { certificate, loopbackOutbound, startHttpsPeer } from '../support/https-peer.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { attackedService, C1, type HeldTokens, ISSUER, SETTINGS } from './attacked-service.ts';
import { headerOf, jsonOf, type RawResponse, textMember } from './raw-http.ts';

const CJ = '01JD3Q5Z8W2N4K6M7P9R0S1TCJ';
const CS = '01JD3Q5Z8W2N4K6M7P9R0S1TCS';
/** At most 64 bytes: HMAC replaces a longer key by its hash (RFC 2104 2). */
const SECRET = 'the-secret-that-signs-the-assertions-of-a-client';
const FORM = { grant_type: 'client_credentials' };

const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** The private key of the attacker's server certificate. */
const attackers = createPrivateKey(certificate().key);
const attackersJwk = createPublicKey(attackers).export({ format: 'jwk' });
const attackersRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
const peer = await sharedByTests(
  startHttpsPeer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.url === '/keys' ? JSON.stringify({ keys: [attackersJwk] }) : certificate().cert);
  }),
);

const SETTINGS_OF_CLIENTS = {
  clients: [
    ...SETTINGS.clients,
    {
      client_id: CJ,
      client_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      redirect_uris: ['https://jwt.example/cb'],
      jwks: { keys: [jwk] },
    },
    { client_id: CS, client_auth_method: 'client_secret_jwt', client_secret: SECRET },
  ],
};
const attacked = attackedService(SETTINGS_OF_CLIENTS, { outbound: () => loopbackOutbound([peer]) });

async function assertion(parts: Partial<AssertionParts> = {}): Promise<string> {
  const usual = { clientId: CJ, audience: ISSUER, now: attacked.clock.now(), key: own.privateKey };
  return await signAssertion({ ...usual, header: { kid: 'one' }, ...parts });
}

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

type Signer = (content: string) => Buffer | string;
const withKey =
  (key: KeyObject, dsaEncoding: 'der' | 'ieee-p1363' = 'ieee-p1363'): Signer =>
  (content) =>
    sign('sha256', Buffer.from(content), { key, dsaEncoding });
const withMac =
  (key: string | Buffer): Signer =>
  (content) =>
    createHmac('sha256', key).update(content).digest();

/** Signs any header, with valid claims unless the payload is given. */
function forged(header: unknown, signer: Signer, clientId = CJ, payload?: string): string {
  const seconds = Math.floor(attacked.clock.now() / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: ISSUER,
    iat: seconds,
    exp: seconds + 60,
    jti: `${Math.random()}`,
  };
  const content = `${encode(header)}.${encode(payload ?? claims)}`;
  return `${content}.${Buffer.from(signer(content)).toString('base64url')}`;
}

async function ask(client_assertion: string, at = attacked.service): Promise<RawResponse> {
  const form = { ...FORM, client_assertion_type: ASSERTION_TYPE, client_assertion };
  return await attacked.post('/oauth2/token', form, undefined, at);
}

async function expectRefused(client_assertion: string): Promise<void> {
  const response = await attacked.changingNothing(async () => await ask(client_assertion));
  expect(response.status).toBe(401);
  expect(jsonOf(response)).toEqual({ error: 'invalid_client', error_description: expect.any(String) });
  expect(headerOf(response, 'www-authenticate')).toMatch(/^Basic realm="/);
}

test("accepts the client's own assertion, with the header that the attacks start from", async () => {
  expect((await ask(await assertion())).status).toBe(200);
  expect((await ask(forged({ alg: 'ES256', kid: 'one' }, withKey(own.privateKey)))).status).toBe(200);
  expect((await ask(forged({ alg: 'HS256' }, withMac(SECRET), CS))).status).toBe(200);
});

describe('an assertion with a forged algorithm is refused (S-30)', () => {
  const publicKey = createPublicKey(own.privateKey);
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  test.each<[string, unknown, Signer]>([
    ['none without a signature', { alg: 'none' }, () => ''],
    ['none with a signature', { alg: 'none' }, withKey(own.privateKey)],
    ['nOnE', { alg: 'nOnE' }, () => 'x'],
    ['an empty alg', { alg: '' }, withKey(own.privateKey)],
    ['no alg', {}, withKey(own.privateKey)],
    ['HS256 keyed with the public key as PEM', { alg: 'HS256' }, withMac(pem)],
    ['the same without the final newline', { alg: 'HS256' }, withMac(pem.toString().trimEnd())],
    ['HS256 keyed with it as DER', { alg: 'HS256' }, withMac(publicKey.export({ type: 'spki', format: 'der' }))],
    ['HS256 keyed with it as JWK', { alg: 'HS256', kid: 'one' }, withMac(JSON.stringify(jwk))],
    ['HS256 with an empty key', { alg: 'HS256' }, withMac('')],
    [
      'RS256 for a registration of ES256',
      { alg: 'RS256', kid: 'one' },
      (content) => sign('sha256', Buffer.from(content), attackersRsa.privateKey),
    ],
    ['ES384 by the key for ES256', { alg: 'ES384', kid: 'one' }, withKey(own.privateKey)],
    ['ES256 with r = s = 0', { alg: 'ES256', kid: 'one' }, () => Buffer.alloc(64)],
    ['an empty signature', { alg: 'ES256', kid: 'one' }, () => ''],
    [
      'a truncated signature',
      { alg: 'ES256', kid: 'one' },
      (content) => Buffer.from(withKey(own.privateKey)(content)).subarray(0, 63),
    ],
    ['a signature in DER', { alg: 'ES256', kid: 'one' }, withKey(own.privateKey, 'der')],
  ])('%s', async (_, header, signer) => await expectRefused(forged(header, signer)));
});

describe('an assertion with a hostile header is refused (S-31)', () => {
  const x5c = [certificate().cert.replaceAll(/-----[^-]+-----|\s/g, '')];
  test.each<[string, (origin: string) => Record<string, unknown>]>([
    ['jwk', () => ({ jwk: attackersJwk })],
    ['jwk under the kid of the client', () => ({ kid: 'one', jwk: { ...attackersJwk, kid: 'one' } })],
    ['jku', (origin) => ({ jku: `${origin}/keys` })],
    ['jku under the kid of the client', (origin) => ({ kid: 'one', jku: `${origin}/keys` })],
    ['x5u', (origin) => ({ x5u: `${origin}/certificate` })],
    ['x5c', () => ({ x5c })],
    ['x5c under the kid of the client', () => ({ kid: 'one', x5c })],
  ])("%s that names the attacker's key", async (_, header) => {
    await expectRefused(forged({ alg: 'ES256', ...header(peer.origin) }, withKey(attackers)));
    expect(peer.connections()).toBe(0);
    expect(attacked.service.logLines().join('\n')).not.toContain('peer.example');
  });

  test.each<[string, unknown]>([
    ['a path', '../../../../dev/null'],
    ['SQL', "' OR 1=1 --"],
    ['a property of objects', '__proto__'],
    ['a number', 1],
    ['a list', ['one']],
    ['null', null],
    ['24 KiB', 'k'.repeat(24 * 1024)],
  ])('kid that is %s', async (_, kid) => {
    // The client signs with its own key, whose ID is not the one in the header.
    await expectRefused(forged({ alg: 'ES256', kid }, withKey(own.privateKey)));
  });

  test('kid of 64 KiB, which exceeds the form limit', async () => {
    const response = await ask(forged({ alg: 'ES256', kid: 'k'.repeat(65_536) }, withKey(own.privateKey)));
    expect(response.status).toBe(413);
  });

  test.each<[string, string]>([
    ['crit', '{"alg":"ES256","kid":"one","crit":["exp"]}'],
    ['an empty crit', '{"alg":"ES256","kid":"one","crit":[]}'],
    ['b64', '{"alg":"ES256","kid":"one","b64":false,"crit":["b64"]}'],
    ['b64 alone', '{"alg":"ES256","kid":"one","b64":false}'],
    ['a duplicate alg', '{"alg":"none","kid":"one","alg":"ES256"}'],
    ['not an object', '["ES256"]'],
    ['not JSON', 'ES256'],
  ])('%s', async (_, header) => await expectRefused(forged(header, withKey(own.privateKey))));

  test('duplicate claims, a nested JWT, and an encrypted JWT', async () => {
    const header = { alg: 'ES256', kid: 'one' };
    const seconds = Math.floor(attacked.clock.now() / 1000);
    const twice = `{"sub":"${C1.id}","sub":"${CJ}","iss":"${CJ}","aud":"${ISSUER}","exp":${seconds + 60},"jti":"twice"}`;
    await expectRefused(forged(header, withKey(own.privateKey), CJ, twice));
    const inner = await assertion();
    await expectRefused(forged({ ...header, cty: 'JWT' }, withKey(own.privateKey), CJ, inner));
    const jwe = [encode({ alg: 'dir', enc: 'A256GCM' }), '', encode('iv'), encode(inner), encode('tag')].join('.');
    await expectRefused(jwe);
    await expectRefused(jwe.replace('..', `.${encode('key')}.`));
  });
});

describe('a replayed valid assertion (S-33)', () => {
  test('20 times at once over two instances: one succeeds', async () => {
    await attacked.withSecondInstance(async (second) => {
      for (const parts of [{}, { clientId: CS, key: SECRET, header: {} }]) {
        const once = await assertion(parts);
        const responses = await Promise.all(
          Array.from({ length: 20 }, (_, index) => ask(once, index % 2 === 0 ? second : attacked.service)),
        );
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
        const refused = responses.filter(({ status }) => status === 401);
        expect(refused).toHaveLength(19);
        for (const response of refused) expect(jsonOf(response)['error']).toBe('invalid_client');
      }
    });
  });

  test('after a restart', async () => {
    const once = await assertion();
    expect((await ask(once)).status).toBe(200);
    // A new instance knows only the database's contents.
    await attacked.withSecondInstance(async (restarted) => {
      expect((await ask(once, restarted)).status).toBe(401);
    });
  });

  test('at another endpoint, or for a token that it would revoke', async () => {
    const browser = await attacked.signedIn('amira');
    const { accessToken, refreshToken } = await attacked.tokens(browser, C1);
    const once = await assertion();
    const fields = { client_assertion_type: ASSERTION_TYPE, client_assertion: once };
    const introspected = await attacked.post('/oauth2/introspect', { ...fields, token: accessToken });
    expect(jsonOf(introspected)['active']).toBe(true);
    const request = { redirect_uri: 'https://jwt.example/cb', response_type: 'code', scope: 'openid' };
    for (const path of ['/oauth2/introspect', '/oauth2/revoke', '/oauth2/par', '/oauth2/device']) {
      const response = await attacked.changingNothing(
        async () => await attacked.post(path, { ...fields, ...request, token: refreshToken }),
      );
      expect(response.status).toBe(401);
      expect(response.body).not.toContain('active');
    }
  });
});

describe('client_secret_jwt with a key other than the secret is refused (S-34)', () => {
  test.each<[string, unknown, Signer]>([
    [
      'RS256 by the attacker',
      { alg: 'RS256' },
      (content) => sign('sha256', Buffer.from(content), attackersRsa.privateKey),
    ],
    ['HS256 with an empty key', { alg: 'HS256' }, withMac('')],
    ['HS256 with the hash of the secret', { alg: 'HS256' }, withMac(sha256(SECRET))],
    ['HS256 with that hash as text', { alg: 'HS256' }, withMac(sha256(SECRET).toString('hex'))],
    ['HS256 with the client id', { alg: 'HS256' }, withMac(CS)],
    ['HS512 with the MAC of HS256', { alg: 'HS512' }, withMac(SECRET)],
  ])('%s', async (_, header, signer) => await expectRefused(forged(header, signer, CS)));
});

describe('a JWT signed by this service is not accepted as another kind of proof (S-36)', () => {
  let idToken: string;
  let held: HeldTokens;
  beforeAll(async () => {
    const browser = await attacked.signedIn('amira');
    held = await attacked.tokens(browser, C1);
    idToken = textMember(held.answer, 'id_token');
  });

  test('as a client assertion', async () => await expectRefused(idToken));

  test('as an access token', async () => {
    for (const scheme of ['Bearer', 'DPoP']) {
      const headers: [string, string][] = [['Authorization', `${scheme} ${idToken}`]];
      const response = await attacked.ask({ target: '/oauth2/userinfo', headers });
      expect(response.status).toBe(401);
      expect(response.body).not.toContain('amira');
    }
    const introspected = await attacked.introspect(idToken);
    expect(introspected).toEqual({ active: false });
  });

  test('as a hint after being altered', async () => {
    const [head = '', body = '', signature = ''] = idToken.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const other = [head, encode({ ...claims, aud: CJ }), signature].join('.');
    const unsigned = `${encode({ alg: 'none', typ: 'JWT' })}.${body}.`;
    for (const id_token_hint of [other, unsigned, `${head}.${body}.${encode('signature')}`]) {
      const response = await attacked.ask({ target: `/oauth2/logout?${new URLSearchParams({ id_token_hint })}` });
      expect(response.status).toBe(400);
    }
  });
});
