import { beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '#test/support/database.ts';
import { loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { manage, REGISTRATION, registerManaged } from '#test/support/managed-clients.ts';
import { type MachineResponse, startOAuthService } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const HOSTS = ['https://app.example.org/callback', 'https://www.app.example.org/callback'];
let list: string;
let fetches = 0;

const db = await sharedByTests(createTestDatabase());
const peer = await sharedByTests(
  startHttpsPeer((_, response) => {
    fetches += 1;
    response.setHeader('content-type', 'application/json').end(list);
  }),
);
const service = await sharedByTests(startOAuthService(db.database, { outbound: loopbackOutbound([peer]) }));
beforeEach(() => {
  list = JSON.stringify([...HOSTS, 'https://another.example/callback']);
  fetches = 0;
});

function pairwise(path: string, origin = peer.origin) {
  return { subject_type: 'pairwise', redirect_uris: HOSTS, sector_identifier_uri: `${origin}${path}` };
}

async function register(changes: object): Promise<MachineResponse> {
  return await service.request('/oauth2/registration', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...REGISTRATION, ...changes }),
  });
}

test('a client on several hosts belongs to the sector whose list contains them (OpenID Connect Registration 5)', async () => {
  const requested = pairwise('/apps');
  expect(await register(requested)).toMatchObject({ status: 201, body: requested });
  expect(service.lastRequest()).toMatchObject({ queries: 2 });
  expect(fetches).toBe(1);
});

test.each([
  ['lacks a host', JSON.stringify(HOSTS.slice(1))],
  ['is not a list', JSON.stringify({ redirect_uris: HOSTS })],
  ['is not JSON', '<html>'],
  ['is empty', ''],
])('rejects a list that %s', async (_, response) => {
  list = response;
  const refused = await register(pairwise('/apps'));
  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
  expect(refused.body['error_description']).toContain('sector_identifier_uri');
});

test('never contacts an internal address, and responds as for a list that does not match (S-52)', async () => {
  list = '[]';
  const unfit = await register(pairwise('/apps'));
  const before = peer.connections();
  const guarded = await startOAuthService(db.database, { clock: service.clock });
  try {
    for (const origin of [`https://localhost:${peer.port}`, 'https://metadata.internal', `${peer.origin}0`]) {
      const response = await guarded.request('/oauth2/registration', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...REGISTRATION, ...pairwise('/apps', origin) }),
      });
      expect(response.status).toBe(400);
      expect(response.body['error']).toBe('invalid_client_metadata');
    }
  } finally {
    await guarded.close();
  }
  expect(unfit.status).toBe(400);
  expect(peer.connections()).toBe(before);
});

test('fetches the list again when a registration is replaced', async () => {
  const application = await registerManaged(service, pairwise('/apps'));
  const body = { ...REGISTRATION, ...pairwise('/apps'), client_id: application.id };
  expect((await manage(service, 'PUT', application.id, application.token, body)).status).toBe(200);
  list = '[]';
  expect((await manage(service, 'PUT', application.id, application.token, body)).status).toBe(400);
  expect(fetches).toBe(3);
});
