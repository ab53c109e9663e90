/** A new database beside a homeserver that has users (operations 3.2, 3.8). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { markFreshStart, requireImportedUsers } from '#domain/import/unimported-users.ts';
import { systemClock } from '#platform/base/clock.ts';
import { Secret } from '#platform/base/secret.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { testConfig } from '#test/support/app.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { testSigningKeys } from '#test/support/signing-keys.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { runCommand } from './run-command.test-support.ts';

const SECRET = 'shared-secret-of-the-test';
const IMPORT_FIRST =
  /the homeserver has the user (\S+), but this database has no accounts: import first\..* --fresh once/;
/** The next check of a start: the start was not refused before. */
const NEXT_CHECK = /LATCHKEY_ADMIN_USERNAME is not allowed/;
const NEXT_CHECK_FAILS = { LATCHKEY_ADMIN_USERNAME: '_not-allowed', LATCHKEY_ADMIN_PASSWORD: 'x' };

process.setMaxListeners(50);
const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));
const service = await startService();
const directory = mkdtempSync(join(tmpdir(), 'latchkey-import-first-'));

const connection = openHomeserver({
  config: {
    protocolName: 'chat',
    homeserver: {
      ...testConfig('http://localhost/', []).homeserver,
      kind: 'synapse',
      endpoint: homeserver.endpoint,
      secret: new Secret(SECRET),
    },
  },
  clock: systemClock,
  log: silentLog,
  version: '1.2.3',
});

beforeEach(async () => {
  await sql(service.database, 'truncate users, server_state cascade');
  await homeserver.setFault(undefined);
  homeserver.state.users.clear();
  homeserver.requests.length = 0;
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

interface Given {
  readonly admins?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly database?: object | undefined;
}

async function latchkey(words: readonly string[], { admins = [], environment = {}, database }: Given = {}) {
  const file = join(directory, 'latchkey.yaml');
  const settings = {
    data_dir: join(directory, 'data'),
    database: database ?? { uri: service.connectionString, max_connections: 5 },
    http: { public_base: service.issuer },
    secrets: { encryption: 'cd'.repeat(32), keys: testSigningKeys().map(({ key }) => ({ key })) },
    homeserver: {
      kind: 'synapse',
      homeserver: homeserver.serverName,
      endpoint: homeserver.endpoint,
      secret: SECRET,
    },
    policy: { data: { admin_users: admins } },
  };
  writeFileSync(file, stringify(settings));
  return await runCommand([...words, '-c', file], { environment });
}

const queries = () => homeserver.requests.filter(({ path }) => path.endsWith('query_user')).length;

test.each([
  ['in policy.data.admin_users', 'olu', { admins: ['nobody', 'olu'] }],
  ['of the first admin', 'pim', { environment: { LATCHKEY_ADMIN_USERNAME: 'pim', LATCHKEY_ADMIN_PASSWORD: 'x' } }],
  ['that is common', 'admin', {}],
])('a start is refused if the homeserver knows the name %s', async (_, name, given) => {
  homeserver.addUser(name);
  const { exitCode, err } = await latchkey(['serve'], given);
  expect([exitCode, IMPORT_FIRST.exec(err)?.[1]]).toEqual([78, name]);
  expect(await sql(service.database, 'select from users')).toEqual([]);
});

test('the start continues with --fresh, and from then on without it', async () => {
  homeserver.addUser('admin');
  const start = (...options: string[]) => latchkey(['serve', ...options], { environment: NEXT_CHECK_FAILS });
  expect((await start()).err).toMatch(IMPORT_FIRST);
  expect((await start('--fresh')).err).toMatch(NEXT_CHECK);
  homeserver.requests.length = 0;
  expect((await start()).err).toMatch(NEXT_CHECK);
  expect(queries()).toBe(0);
});

test('a database with accounts is not checked, and --fresh does not mark it', async () => {
  homeserver.addUser('admin');
  const { database } = service;
  await insertTestAccount(database, { username: 'quin' });
  await markFreshStart(database, Date.now());
  await requireImportedUsers({ database, homeserver: connection }, []);
  expect(queries()).toBe(0);
  expect(await sql(database, `select from server_state where key = 'fresh-start'`)).toEqual([]);
});

test('a homeserver without these users does not prevent a start', async () => {
  homeserver.addUser('somebody-else');
  expect((await latchkey(['serve'], { admins: ['olu'], environment: NEXT_CHECK_FAILS })).err).toMatch(NEXT_CHECK);
  expect(queries(), 'the two names and a common one').toBe(3);
});

test.each([
  ['refuses connections', { kind: 'refuse' }],
  ['does not respond', { kind: 'hang' }],
  ['has another secret', { kind: 'answer', status: 403, body: '{"errcode":"M_UNKNOWN"}' }],
] as const)('a homeserver that %s does not hold up a start', async (_, fault) => {
  homeserver.addUser('admin');
  await homeserver.setFault(fault);
  const startedAt = performance.now();
  await requireImportedUsers({ database: service.database, homeserver: connection }, ['a', 'b', 'c', 'd', 'e']);
  expect(performance.now() - startedAt).toBeLessThan(2_500);
  expect(queries()).toBeLessThan(2);
});

test('doctor reports the same', async () => {
  homeserver.addUser('admin');
  const find = async (database?: object) => {
    const { out } = await latchkey(['doctor', '--json'], { database });
    const findings: readonly { readonly name: string; readonly status: string; readonly hint?: string }[] =
      JSON.parse(out);
    return findings.filter(({ status, hint = '' }) => status === 'fail' && hint.startsWith('Import first'));
  };
  const found = [{ name: 'database', message: expect.stringContaining('the user admin') }];
  expect(await find()).toMatchObject(found);
  await insertTestAccount(service.database, { username: 'quin' });
  expect(await find()).toEqual([]);
  const empty = await createEmptyDatabase();
  expect(await find({ uri: empty.connectionString })).toMatchObject(found);
  await empty.drop();
  expect(await find({}), 'the embedded server, which has no files yet').toMatchObject(found);
});
