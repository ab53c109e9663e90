/** What administrators see when the homeserver fails during their request (operations 4.2). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AdminClient } from '../support/admin-client.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { startService, type TestService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { startStandInHomeserver } from '../support/stand-in-homeserver/stand-in-homeserver.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const SECRET = 'shared-secret-of-the-homeserver';
let service: TestService;
let admin: AdminClient;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  const { endpoint, serverName } = homeserver;
  service = await startService(
    {
      homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET, timeout: '1s' },
      clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })],
      policy: { data: { admin_clients: [CLIENT] } },
    },
    { expectedErrors: ['502 Bad Gateway', '504 Gateway Timeout', 'homeserver_'] },
  );
  const program = new ChatOAuthClient(service, CLIENT);
  const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  const { body } = await program.post('/oauth2/token', form);
  admin = new AdminClient(service, String(body['access_token']));
});
afterAll(async () => {
  await service.stop();
});

test('returns 504 for an unresponsive homeserver and 502 for one that returns an error, without storing anything', async () => {
  await homeserver.setFault({ kind: 'hang' });
  const slow = await admin.post('users', { username: 'slow' });
  expect([slow.status, slow.body.errors?.[0]?.code]).toEqual([504, 'homeserver_timeout']);
  await homeserver.setFault({ kind: 'answer', status: 500 });
  const failed = await admin.post('users', { username: 'failed' });
  expect([failed.status, failed.body.errors?.[0]?.code]).toEqual([502, 'homeserver_error']);
  await homeserver.setFault(undefined);
  expect((await admin.get('users')).body.meta?.count).toBe(0);
});

test('provisions a new account with name and picture before it responds', async () => {
  const created = await admin.post('users', {
    ...{ username: 'nadia', displayname: 'Nadia B.', avatar_url: 'mxc://chat.example/face' },
  });
  expect(created.status).toBe(201);
  expect(homeserver.user('nadia')).toMatchObject({ displayName: 'Nadia B.', avatarUrl: 'mxc://chat.example/face' });
  for (const avatar_url of ['https://chat.example/face.png', 'mxc://', 'mxc://a/b/c', `mxc://a/${'x'.repeat(260)}`]) {
    const refused = await admin.post('users', { username: 'other', avatar_url });
    expect([refused.status, refused.body.errors?.[0]?.source]).toEqual([400, { pointer: '/avatar_url' }]);
  }
  expect(homeserver.user('other')).toBeUndefined();
});

test.each([
  ['hang', { kind: 'hang' }, 504],
  ['an error', { kind: 'answer', status: 500 }, 502],
] as const)(
  'does not store an account that the homeserver rejects, even unchecked: %s',
  async (_what, fault, status) => {
    const { count } = (await admin.get('users?count=only')).body.meta ?? {};
    await homeserver.setFault(fault);
    const failed = await admin.post('users', { username: 'unheard', skip_homeserver_check: true });
    await homeserver.setFault(undefined);
    expect(failed.status).toBe(status);
    expect((await admin.get('users?count=only')).body.meta?.count).toBe(count);
    expect((await admin.get('users/by-username/unheard')).status).toBe(404);
  },
);

test('creates one account for two concurrent requests with one name, and rejects the other', async () => {
  const both = await Promise.all(
    ['first', 'second'].map(() => admin.post('users', { username: 'wanted', skip_homeserver_check: true })),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

test('keeps an account deactivated when the homeserver cannot reactivate it', async () => {
  const id = (await admin.post('users', { username: 'amira' })).body.data?.id;
  await admin.post(`users/${id}/deactivate`);
  await homeserver.setFault({ kind: 'hang' });
  const slow = await admin.post(`users/${id}/reactivate`);
  expect([slow.status, slow.body.errors?.[0]?.code]).toEqual([504, 'homeserver_timeout']);
  await homeserver.setFault(undefined);
  expect((await admin.get(`users/${id}`)).body.data?.attributes['deactivated_at']).not.toBeNull();
  expect((await admin.post(`users/${id}/reactivate`)).body.data?.attributes['deactivated_at']).toBeNull();
});
