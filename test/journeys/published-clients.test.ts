import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AdminClient } from '../support/admin-client.ts';
import { cleanUpAll } from '../support/clean-up.ts';
import { assertionFields, newClientKey } from '../support/client-assertions.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { sql } from '../support/fixtures.ts';
import { GraphqlClient } from '../support/graphql-client.ts';
import { loopbackOutbound } from '../support/https-peer.ts';
import {
  authorizeUrl,
  CALLBACK,
  claimsOf,
  consent,
  newBrowser,
  openConsent,
  PASSWORD,
  type Publisher,
  post,
  redeem,
  signInAt,
  startPublisher,
  USERNAME,
} from '../support/published-clients.ts';
import { startService, type TestService } from '../support/service.ts';

const ADMINISTRATION = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const SECRET = 'the secret of the administration';
const DAY_SECONDS = 86_400;

const clock = new FakeClock();
let publisher: Publisher;
let service: TestService;

beforeAll(async () => {
  publisher = await startPublisher();
  service = await startService(
    {
      oauth: {
        client_id_metadata_documents: { enabled: true },
        resources: [{ identifier: 'https://mcp.example.org/mcp', scopes: ['notes.read'], token_format: 'jwt' }],
      },
      policy: { data: { admin_clients: [ADMINISTRATION] } },
      clients: [
        {
          client_id: ADMINISTRATION,
          client_auth_method: 'client_secret_post',
          client_secret: SECRET,
          grant_types: ['client_credentials'],
        },
      ],
      rate_limiting: { client_registration: { per_ip: { burst: 1000, per_second: 10 } } },
    },
    { clock, outbound: loopbackOutbound([publisher.peer], { clock }) },
  );
  await service.registerUser(USERNAME, PASSWORD);
});
beforeEach(() => publisher.publish());
afterAll(async () => {
  await service.stop();
  await publisher.peer.stop();
});

const known = async (clientId: string): Promise<boolean> =>
  (await sql(service.database, 'select id from oauth2_clients where document_url = $1', [clientId])).length > 0;

test('users find such a client in the account area by its URL, and revoke its access', async () => {
  const clientId = publisher.newClient();
  const browser = newBrowser(service);
  const tokens = await signInAt(service, clientId, browser);
  const user = new GraphqlClient(service, {}, browser);
  const { data } = await user.query(
    '{ viewer { ... on User { connectedApplications(first: 50) { nodes { id client { id clientId clientName isVerified } } } } } }',
  );
  const { nodes } = Object(data).viewer.connectedApplications;
  const listed = nodes.find(({ client }: { client: { clientId: string } }) => client.clientId === clientId);
  expect(listed).toMatchObject({ client: { clientName: 'Harbour', isVerified: false } });
  expect(listed.id).toMatch(/^connected_application:[0-7]\w{25}$/);
  const node = await user.query('query($id: ID!) { oauth2Client(id: $id) { clientId } }', { id: listed.client.id });
  expect(node.data).toEqual({ oauth2Client: { clientId } });
  const revoke = 'mutation($id: ID!) { revokeApplication(input: { applicationId: $id }) { status endedSessions } }';
  const revoked = await user.query(revoke, { id: listed.id });
  expect(revoked.data).toEqual({ revokeApplication: { status: 'REVOKED', endedSessions: 1 } });
  const refresh = { grant_type: 'refresh_token', refresh_token: String(tokens['refresh_token']), client_id: clientId };
  expect(await post(service, '/oauth2/token', refresh)).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  });
});

test('administrators find it under its id, with its URL as client_id', async () => {
  const clientId = publisher.newClient();
  await openConsent(newBrowser(service), clientId);
  const credentials = { client_id: ADMINISTRATION, client_secret: SECRET, scope: 'urn:mas:admin' };
  const token = await post(service, '/oauth2/token', { grant_type: 'client_credentials', ...credentials });
  const admin = new AdminClient(service, String(token.body['access_token']));
  const { body } = await admin.get(
    'oauth2-clients?filter[client-kind]=dynamic&filter[client-name]=harb&page[first]=100',
  );
  const found = body.data?.find(({ attributes }) => attributes['client_id'] === clientId);
  expect(found).toMatchObject({ attributes: { client_name: 'Harbour', is_static: false } });
  const one = await admin.get(`oauth2-clients/${found?.id}`);
  expect(one.body).toMatchObject({ data: { id: found?.id, attributes: { client_id: clientId } } });
});

test('a client with a key authenticates by its URL, and keys of other documents are refused', async () => {
  const [own, other] = [await newClientKey('own'), await newClientKey('other')];
  publisher.publish({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [own.publicJwk] } });
  const clientId = publisher.newClient();
  const proof = async ({ privateKey }: typeof own, header = { kid: 'own' }) =>
    await assertionFields({ clientId, audience: service.issuer, now: clock.now(), key: privateKey, header });
  const redirect = { redirect_uri: CALLBACK };
  publisher.publish({
    token_endpoint_auth_method: 'private_key_jwt',
    application_type: 'native',
    jwks: { keys: [own.publicJwk] },
  });
  const page = await openConsent(newBrowser(service), clientId, redirect);
  const code = await consent(page);
  const refused = await redeem(service, clientId, code, { ...redirect, ...(await proof(other)) });
  expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  expect(await redeem(service, clientId, code)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  const redeemed = await redeem(service, clientId, code, { ...redirect, ...(await proof(own)) });
  expect(redeemed).toMatchObject({ status: 200 });
  expect(claimsOf(redeemed.body['id_token'])).toMatchObject({ aud: clientId });
});

test('JWT access tokens, signing out and revocation identify it by its URL', async () => {
  publisher.publish({ post_logout_redirect_uris: [`${publisher.peer.origin}/bye`] });
  const clientId = publisher.newClient();
  const browser = newBrowser(service);
  const resource = { resource: 'https://mcp.example.org/mcp', scope: 'openid notes.read' };
  const code = await consent(await openConsent(browser, clientId, resource));
  const { body } = await redeem(service, clientId, code);
  expect(claimsOf(body['access_token'])).toMatchObject({ client_id: clientId, aud: resource.resource });
  const logout = new URLSearchParams({
    client_id: clientId,
    id_token_hint: String(body['id_token']),
    post_logout_redirect_uri: `${publisher.peer.origin}/bye`,
  });
  const page = await browser.get(`/oauth2/logout?${logout}`);
  expect(page.status).toBeLessThan(400);
  logout.set('client_id', publisher.newClient());
  expect((await browser.get(`/oauth2/logout?${logout}`)).status).toBe(400);
  const revoked = await post(service, '/oauth2/revoke', { client_id: clientId, token: String(body['refresh_token']) });
  expect(revoked.status).toBe(200);
  const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: clientId };
  expect(await post(service, '/oauth2/token', refresh)).toMatchObject({ status: 400 });
});

test('documents fetched by strangers are deleted after a day or with their requests, and those in use stay', async () => {
  const clients = [publisher.newClient(), publisher.newClient(), publisher.newClient()] as const;
  const [looked, begun, used] = clients;
  const browser = newBrowser(service);
  await browser.get(authorizeUrl(looked, { redirect_uri: 'https://victim.example.org/' }));
  await browser.get(authorizeUrl(begun));
  await signInAt(service, used);
  const after = async (days: number): Promise<boolean[]> => {
    for (let day = 0; day < days; day += 1) {
      clock.advanceSeconds(DAY_SECONDS + 1);
      await cleanUpAll({ clock, database: service.database });
    }
    return await Promise.all(clients.map(known));
  };
  expect(await after(0)).toEqual([true, true, true]);
  expect(await after(1)).toEqual([false, true, true]);
  expect(await after(9)).toEqual([false, false, true]);
  expect((await browser.open(authorizeUrl(looked))).status).toBe(200);
  expect(await known(looked)).toBe(true);
});

test('one that an operator has disabled stays disabled despite its document', async () => {
  const clientId = publisher.newClient();
  await signInAt(service, clientId);
  await sql(service.database, 'update oauth2_clients set disabled_at = now() where document_url = $1 returning id', [
    clientId,
  ]);
  clock.advanceSeconds(3_700);
  const page = await newBrowser(service).get(authorizeUrl(clientId));
  expect(page.status).toBe(400);
  expect(page.body).toContain('This client is disabled.');
});

test("a document that would change a client's subjects is refused", async () => {
  publisher.publish({ subject_type: 'pairwise', redirect_uris: [`${publisher.peer.origin}/callback`] });
  const clientId = publisher.newClient();
  const fields = { redirect_uri: `${publisher.peer.origin}/callback` };
  await openConsent(newBrowser(service), clientId, fields);
  publisher.publish({ redirect_uris: [`${publisher.peer.origin}/callback`] });
  clock.advanceSeconds(3_700);
  const page = await newBrowser(service).get(authorizeUrl(clientId, fields));
  expect(page.status).toBe(400);
  expect(page.body).toContain('subject_type must remain pairwise');
});
