/** A request that has timed out has no effect afterwards (security F-09, O-02). */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { sql } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
let authorization: string;

const service = await sharedByTests(
  startService(
    {
      clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: SECRET }],
      policy: { data: { admin_clients: [CLIENT_ID] } },
      limits: { handler_timeout: '1s' },
    },
    { expectedErrors: ['" 503 '] },
  ),
);

beforeAll(async () => {
  await service.registerUser('amira', 'correct horse battery staple');
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'urn:mas:admin' }),
  });
  authorization = `Bearer ${(await response.json()).access_token}`;
});

async function administer(method: 'GET' | 'POST', path: string) {
  const response = await fetch(`${service.address}/api/admin/v1/users/${path}`, { method, headers: { authorization } });
  return { status: response.status, data: (await response.json()).data };
}

async function untilIdle(): Promise<void> {
  for (;;) {
    const [busy] = await sql<{ count: number }>(
      service.database,
      `select count(*) as count from pg_stat_activity
        where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    if (busy?.count === 0) return;
    await pause(10);
  }
}

test('a transaction that waited for a lock is rolled back when its request was answered 503 in the meantime', async () => {
  const { data: amira } = await administer('GET', 'by-username/amira');
  const holder = new pg.Client({ connectionString: service.connectionString });
  await holder.connect();
  await holder.query("begin; select from users where username = 'amira' for update");
  const late = await administer('POST', `${amira.id}/lock`);
  await holder.query('commit');
  await holder.end();
  expect(late.status).toBe(503);
  await untilIdle();
  expect((await administer('GET', amira.id)).data.attributes.locked_at).toBeNull();
  expect((await administer('POST', `${amira.id}/lock`)).status).toBe(200);
});
