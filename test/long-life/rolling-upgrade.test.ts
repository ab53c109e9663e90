/**
 * A newer version migrates the database while instances of the current version are serving (operations 8.3, 10.11;
 * security O-09).
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { Browser } from '#test/support/browser.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { silentLog } from '#test/support/silent-log.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${btoa(`${CLIENT_ID}:a-secret-of-at-least-16-characters`)}`;
const USER = { username: 'amira', password: 'correct horse battery staple' };
const ROUNDS = 3;
const PLENTY = { burst: 100_000, per_second: 1000 };
const SETTINGS = {
  rate_limiting: { login: { per_ip: PLENTY, per_account: PLENTY, per_known_browser: PLENTY } },
  clients: [
    {
      ...{ client_id: CLIENT_ID, client_secret: 'a-secret-of-at-least-16-characters' },
      client_auth_method: 'client_secret_basic',
    },
  ],
};
/** Tables that every request of the load reads or writes. */
const TABLES = ['users', 'user_sessions', 'oauth2_sessions', 'oauth2_access_tokens', 'oauth2_clients'];

let instances: TestService[];
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-next-version-'));
  cpSync('migrations', directory, { recursive: true });
  const first = await startService(SETTINGS);
  instances = [first, await startService(SETTINGS, { like: first })];
  await first.registerUser(USER.username, USER.password);
});

afterAll(async () => {
  for (const instance of instances.toReversed()) await instance.stop();
  rmSync(directory, { recursive: true });
});

test('columns and indexes are added and removed under load, and no request of two instances fails', async () => {
  const failures: string[] = [];
  let requests = 0;
  let isUnderLoad = true;
  const repeat = async (step: (instance: TestService) => Promise<void>, instance: TestService): Promise<void> => {
    while (isUnderLoad) {
      requests += 1;
      await step(instance).catch((error: unknown) => failures.push(String(error)));
    }
  };
  const load = instances.flatMap((instance) => [repeat(useToken, instance), repeat(signInAndOut, instance)]);
  const [instance] = instances;
  if (instance === undefined) throw new Error('no instance');
  for (let round = 0; round < ROUNDS; round += 1) {
    writeVersion(9000 + round * 10);
    const { applied } = await migrate({
      ...{ connection: parseConnectionUri(instance.connectionString), directory },
      ...{ log: silentLog, clock: systemClock },
    });
    expect(applied).toHaveLength(3);
  }
  isUnderLoad = false;
  await Promise.all(load);
  expect([...new Set(failures)]).toEqual([]);
  expect(requests).toBeGreaterThan(10);
  const indexes = await sql(
    instance.database,
    `select from pg_index where indexrelid::regclass::text like 'next_%' and indisvalid`,
  );
  expect(indexes).toHaveLength(ROUNDS * TABLES.length);
}, 60_000);

/** Writes the migrations of a version. They add columns and indexes, then drop the columns. */
function writeVersion(number: number): void {
  const of = (line: (table: string) => string) => TABLES.map((table) => `${line(table)};\n`).join('');
  const column = `extra_${number}`;
  const write = (offset: number, name: string, text: string) =>
    writeFileSync(join(directory, `${number + offset}-${name}.sql`), text);
  write(1, 'columns', `-- expand\n${of((table) => `alter table ${table} add column ${column} text default 'none'`)}`);
  const index = (table: string) => `create index concurrently next_${table}_${number} on ${table} (id)`;
  write(2, 'indexes', `-- expand concurrently\n${of(index)}`);
  write(3, 'removal', `-- contract\n${of((table) => `alter table ${table} drop column ${column}`)}`);
}

async function useToken({ address }: TestService): Promise<void> {
  const post = async (path: string, fields: Record<string, string>): Promise<Record<string, unknown>> => {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION },
      body: new URLSearchParams(fields),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const token = String((await post('/oauth2/token', { grant_type: 'client_credentials' }))['access_token']);
  if ((await post('/oauth2/introspect', { token }))['active'] !== true) throw new Error('a live token is refused');
  await post('/oauth2/revoke', { token });
  if ((await post('/oauth2/introspect', { token }))['active'] !== false) throw new Error('a revoked token is live');
}

async function signInAndOut({ address, publicBase }: TestService): Promise<void> {
  const user = new Browser({ listener: address, publicBase });
  await user.get('/login');
  await user.submit(USER);
  if (user.page.status !== 303) throw new Error(`signing in gave ${user.page.status}`);
  await user.get('/logout');
  await user.submit();
  if (user.page.status !== 303) throw new Error(`signing out gave ${user.page.status}`);
}
