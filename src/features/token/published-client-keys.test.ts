import { expect, test } from 'vitest';
import { assertionFields, type ClientKey, newClientKey } from '#test/support/client-assertions.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { startOAuthService, TEST_ISSUER } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const clock = new FakeClock();
let published: readonly unknown[] | undefined;
let requested = 0;

const db = await sharedByTests(createTestDatabase());
const peer = await sharedByTests(
  startHttpsPeer((_request, response) => {
    requested += 1;
    response.writeHead(published === undefined ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys: published }));
  }),
);
const service = await sharedByTests(
  startOAuthService(db.database, { clock, outbound: loopbackOutbound([peer], { clock }) }),
);

test('finds a key replaced under the same kid, with at most one request a minute', async () => {
  const [former, next] = [await newClientKey('same'), await newClientKey('same')];
  const metadata = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${peer.origin}/replaced` };
  const clientId = await service.client({ isStatic: false, metadata });
  const ask = async ({ privateKey }: ClientKey) => {
    const parts = { clientId, audience: TEST_ISSUER, now: clock.now(), key: privateKey };
    const fields = await assertionFields({ ...parts, header: { kid: 'same' } });
    return (await service.post('/oauth2/token', { grant_type: 'client_credentials', ...fields })).status;
  };
  published = [former.publicJwk];
  expect(await ask(former)).toBe(200);
  published = [next.publicJwk];
  const before = requested;
  expect([await ask(next), requested]).toEqual([401, before]);
  clock.advanceSeconds(60);
  expect([await ask(next), requested]).toEqual([200, before + 1]);
  clock.advanceSeconds(60);
  expect([await ask(former), await ask(former), await ask(former), requested]).toEqual([401, 401, 401, before + 2]);
  published = undefined;
  clock.advanceSeconds(60);
});

test('supports key rotation of a client with a jwks_uri', { timeout: 30_000 }, async () => {
  const [former, next] = [await newClientKey('former'), await newClientKey('next')];
  const metadata = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${peer.origin}/keys` };
  const clientId = await service.client({ isStatic: false, metadata });
  const ask = async (key: ClientKey) => {
    const { privateKey, publicJwk } = key;
    const parts = { clientId, audience: TEST_ISSUER, now: clock.now(), key: privateKey };
    const fields = await assertionFields({ ...parts, header: { kid: publicJwk.kid } });
    return await service.post('/oauth2/token', { grant_type: 'client_credentials', ...fields });
  };
  const refused = await ask(former);
  expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  expect(refused.body['error_description']).toContain('Fetching the jwks_uri of the client failed');
  expect(service.logged('auth.refused').at(-1)?.fields).toMatchObject({ code: 'client_keys_unavailable' });

  published = [former.publicJwk];
  clock.advanceSeconds(61);
  expect((await ask(former)).status).toBe(200);
  expect(service.lastRequest()).toMatchObject({ requester: `oauth2-client:${clientId}` });
  published = [former.publicJwk, next.publicJwk];
  expect((await ask(next)).status).toBe(401);
  clock.advanceSeconds(60);
  const before = requested;
  const responses = await Promise.all(Array.from({ length: 10 }, () => ask(next)));
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(requested).toBe(before + 1);

  published = undefined;
  clock.advanceSeconds(3600);
  expect((await ask(next)).status).toBe(200);
});
