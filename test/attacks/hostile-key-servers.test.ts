/** Security 4.3: clients that publish their keys on the attacker's server. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { exportJWK } from 'jose';
import { expect, test } from 'vitest';
import type { ClientId } from '#vocabulary/ids.ts';
import { ASSERTION_TYPE, assertionFields, signAssertion } from '../support/client-assertions.ts';
import { createTestDatabase } from '../support/database.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loopbackOutbound, startHttpsPeer } from '../support/https-peer.ts';
import { startOAuthService, TEST_ISSUER } from '../support/oauth-service.ts';
import { until } from '../support/route-server.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const clock = new FakeClock();
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const small = generateKeyPairSync('rsa', { modulusLength: 512 });
const right = await exportJWK(own.publicKey);
const others = Array.from({ length: 60 }, () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
);
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });

const keys = (...list: unknown[]) => JSON.stringify({ keys: list });
const json = (body: string | Buffer, headers: Record<string, string> = {}): RequestListener => {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
};

/** Each serves the client's key somewhere, except those that test the kind of key. */
const SERVERS: Readonly<Record<string, RequestListener>> = {
  '10 MB': json(`{"keys":[${JSON.stringify(right)}],"more":"${'x'.repeat(10_000_000)}"}`),
  'a slow drip': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(drip));
  },
  'status 500': (_request, response) => void response.writeHead(500).end(keys(right)),
  'a redirect to an internal address': (_request, response) =>
    void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(keys(right)),
  'a gzip bomb': json(gzipSync(`{"keys":[${JSON.stringify(right)}]}${' '.repeat(50_000_000)}`), {
    'content-encoding': 'gzip',
  }),
  // Not followed, although its target is reachable and has the right key.
  'a redirect to the right key': (_request, response) =>
    void response.writeHead(302, { location: `${peer.origin}/elsewhere` }).end(keys(right)),
  'the key after 10,000 invalid ones': json(keys(...Array.from({ length: 10_000 }, () => ({ kty: 'EC' })), right)),
  'an object of keys': json(JSON.stringify({ keys: { one: right } })),
  'a deeply nested document': json(`{"keys":[${JSON.stringify(right)},${'['.repeat(10_000)}${']'.repeat(10_000)}]}`),
  'the key after 60 others': json(keys(...others, right)),
  'a wrong key of the same kid twice': json(keys({ ...others[0], kid: 'one' }, { ...others[1], kid: 'one' })),
  'an empty object': json('{}'),
  'not JSON': json('<html></html>'),
  'an RSA key of 512 bits': json(keys(await exportJWK(small.publicKey))),
  'an RSA key of 16,384 bits': json(keys({ ...rsa, n: Buffer.alloc(2048, 0xff).toString('base64url') })),
  'an RSA key with the exponent 1': json(keys({ ...rsa, e: 'AQ' })),
  'a symmetric key': json(keys({ kty: 'oct', k: Buffer.from('shared').toString('base64url') })),
  'a key on another curve': json(keys({ ...right, crv: 'P-384' })),
  'a private key': json(keys(own.privateKey.export({ format: 'jwk' }))),
};

/** Responses that key servers hold back until a test releases them. */
const held: ServerResponse[] = [];

/** Two keys with the same kid, one of which matches. */
const GOOD = json(keys({ ...right, kid: 'one' }, { ...others[0], kid: 'one' }));
const MIXED = json(
  keys(
    null,
    'x',
    await exportJWK(small.publicKey),
    { kty: 'oct', k: Buffer.from('shared').toString('base64url') },
    { ...right, crv: 'P-384' },
    { ...right, use: 'enc' },
    { ...rsa, e: 'AQ' },
    right,
  ),
);
const requested = new Map<string, number>();

const db = await sharedByTests(createTestDatabase());
const peer = await sharedByTests(
  startHttpsPeer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    if (name.startsWith('held ')) {
      held.push(response);
      return;
    }
    requested.set(name, (requested.get(name) ?? 0) + 1);
    const result = SERVERS[name] ?? (name === 'mixed' ? MIXED : GOOD);
    result(request, response);
  }),
);
const service = await sharedByTests(
  startOAuthService(db.database, { clock, outbound: loopbackOutbound([peer], { clock }) }),
);

async function clientAt(name: string): Promise<ClientId> {
  const jwks_uri = `${peer.origin}/${encodeURIComponent(name)}`;
  return await service.client({
    isStatic: false,
    metadata: { token_endpoint_auth_method: 'private_key_jwt', jwks_uri },
  });
}

async function ask(clientId: ClientId, key: string | KeyObject = own.privateKey, alg = 'ES256') {
  const proof = await assertionFields({ clientId, audience: TEST_ISSUER, now: clock.now(), key, alg });
  return await service.post('/oauth2/token', { grant_type: 'client_credentials', ...proof });
}

test('hostile key sets are refused and fetched once a minute, while other clients are served (S-35)', {
  timeout: 20_000,
}, async () => {
  const good = await clientAt('good');
  const names = Object.keys(SERVERS);
  const clients = await Promise.all(names.map(async (name) => await clientAt(name)));
  const hostile = Promise.all(clients.map(async (clientId) => await ask(clientId)));
  const served = await ask(good);
  expect(served.status).toBe(200);
  const responses = await hostile;
  for (const [index, response] of responses.entries()) {
    expect([names[index], response.status, response.body['error']]).toEqual([names[index], 401, 'invalid_client']);
    expect(response.text).not.toMatch(/169\.254|500|peer\.example/);
  }
  const again = await Promise.all(clients.map(async (clientId) => await ask(clientId)));
  expect(again.map(({ status }) => status)).toEqual(names.map(() => 401));
  expect([...requested.values()]).toEqual([...requested.keys()].map(() => 1));
  expect(requested.size).toBe(names.length + 1);
  expect((await ask(good)).status).toBe(200);
});

test('only the usable keys of a set count, and unusable ones do not affect them (S-35)', async () => {
  const clientId = await clientAt('mixed');
  for (const _ of [1, 2]) expect((await ask(clientId)).status).toBe(200);
  for (const [key, alg] of [
    [small.privateKey, 'RS256'],
    ['shared', 'HS256'],
  ] as const) {
    await expect(signedBy(clientId, key, alg)).resolves.toBe(401);
  }
  expect(requested.get('mixed')).toBe(1);
});

/** Signs an assertion, also with keys that a library would reject. @returns the status */
async function signedBy(clientId: ClientId, key: KeyObject | string, alg: string): Promise<number> {
  const [, body = ''] = (
    await signAssertion({ clientId, audience: TEST_ISSUER, now: clock.now(), key: own.privateKey })
  ).split('.');
  const content = `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.${body}`;
  const signature =
    typeof key === 'string'
      ? createHmac('sha256', key).update(content).digest()
      : sign('sha256', Buffer.from(content), key);
  const client_assertion = `${content}.${signature.toString('base64url')}`;
  const form = { grant_type: 'client_credentials', client_assertion_type: ASSERTION_TYPE, client_assertion };
  return (await service.post('/oauth2/token', form)).status;
}

test('a shared secret published by a key server verifies no signature (S-35)', async () => {
  const clientId = await clientAt('a symmetric key');
  expect((await ask(clientId, 'shared', 'HS256')).status).toBe(401);
});

test('few requests wait for a slow key server, per set and in total, and other clients are served (S-35)', {
  timeout: 20_000,
}, async () => {
  const clients = await Promise.all(Array.from({ length: 5 }, async (_, index) => await clientAt(`held ${index}`)));
  const good = await clientAt('good');
  // Caches its keys. Otherwise, its requests would wait with the others.
  expect((await ask(good)).status).toBe(200);
  let refused = 0;
  const waiting = clients.flatMap((clientId) =>
    Array.from({ length: 40 }, async () => {
      const response = await ask(clientId);
      if (response.status !== 503) return response.status;
      expect(response.body['error']).toBe('temporarily_unavailable');
      expect(response.headers.get('retry-after')).toBe('5');
      refused += 1;
      return 503;
    }),
  );
  // Each of four key sets has 32 waiting requests. Those of the fifth exceed the total of 128.
  await until(() => refused === 72);
  expect((await ask(good)).status).toBe(200);
  expect(held).toHaveLength(4);
  for (const response of held.splice(0)) response.writeHead(500).end();
  const statuses = await Promise.all(waiting);
  expect(statuses.filter((status) => status === 401)).toHaveLength(128);
});
