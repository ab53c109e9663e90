/**
 * A read-only database, as after a failover to the wrong server (F-11). The service reports it and recovers from it.
 */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const PASSWORD = 'correct horse battery staple';
let application: ChatOAuthClient;
let operator: Client;

const service = await sharedByTests(
  startService(
    { clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })] },
    { expectedErrors: ['" 503 ', 'database'] },
  ),
);

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
  application = new ChatOAuthClient(service, CLIENT);
  operator = new Client({
    connectionString: service.connectionString,
    options: '-c default_transaction_read_only=off',
  });
  await operator.connect();
});
afterAll(async () => {
  await operator.end();
});

/** Applies to all new connections. Terminates the existing ones. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  await operator.query(
    `do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}', current_database()); end $$`,
  );
  await operator.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

const ask = () => application.post('/oauth2/token', { grant_type: 'client_credentials' });
const isActive = async (token: unknown) => {
  const { body } = await application.post('/oauth2/introspect', { token: String(token) });
  return body['active'];
};

test('refuses writes with 503, serves reads, and recovers without a restart', async () => {
  const { body } = await ask();
  expect(await isActive(body['access_token'])).toBe(true);
  await setReadOnly('on');
  try {
    await expect.poll(async () => (await ask()).status).toBe(503);
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after'), refused.body['error']]).toEqual([
      ...[503, '5', 'temporarily_unavailable'],
    ]);
    expect(await isActive(body['access_token'])).toBe(true);
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get('/login');
    expect(browser.page.status).toBe(200);
    const { status } = await browser.submit({ username: 'amira', password: PASSWORD });
    expect(status).toBe(503);
    expect(service.logLines().join('\n')).toMatch(/read-only/);
  } finally {
    await setReadOnly('off');
  }
  await expect.poll(async () => (await ask()).status).toBe(200);
  expect(await isActive(body['access_token'])).toBe(true);
});
