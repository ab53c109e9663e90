import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { administer } from '../support/administer.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { startService, type TestService } from '../support/service.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';

let service: TestService;
let application: ChatOAuthClient;

beforeAll(async () => {
  service = await startService(
    { clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })] },
    { expectedErrors: ['" 503 ', ' db.', 'database'] },
  );
  application = new ChatOAuthClient(service, CLIENT);
});
afterAll(async () => await service.stop());

/** By the server, for all who ask; connections that are open end. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const name = new URL(service.connectionString).pathname.slice(1);
  await administer(inject('testDatabases').adminUri, `alter database ${name} with allow_connections ${isAllowed}`);
  await administer(
    inject('testDatabases').adminUri,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

const ask = () => application.post('/oauth2/token', { grant_type: 'client_credentials' });
const statusOf = async (path: string) => (await fetch(service.address + path)).status;

test('F-11: a database that refuses connections: 503 with its reason in the log, and no restart is needed afterwards', async () => {
  const { body } = await ask();
  await allowConnections(false);
  try {
    await expect.poll(async () => (await ask()).status).toBe(503);
    const refused = await ask();
    expect([refused.headers.get('retry-after'), refused.body['error']]).toEqual(['5', 'temporarily_unavailable']);
    expect(await statusOf('/health')).toBe(503);
    expect(await statusOf('/health?probe=live')).toBe(200);
    expect(await statusOf('/oauth2/keys.json')).toBe(200);
    expect(service.logLines().join('\n')).toContain('is not currently accepting connections');
  } finally {
    await allowConnections(true);
  }
  await expect.poll(async () => (await ask()).status, { timeout: 5_000 }).toBe(200);
  const { body: introspection } = await application.post('/oauth2/introspect', { token: String(body['access_token']) });
  expect(introspection['active']).toBe(true);
});
