import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { waitUntil } from '#test/support/postgres-server.ts';
import { dumpSchema } from '#test/support/schema-dump.ts';
import { createSynapseDatabase, type SynapseDatabase } from './import/synapse-database.test-support.ts';
import { runCommand } from './run-command.test-support.ts';

const DAY_MS = 86_400_000;
const PROVIDER = newId<'upstream-provider'>(1);
const BCRYPT = '$2b$04$KsoWKTLnYiM8n8PbUZ1S6.jjdJ1ZLEm9bHUyZ0VBKwhN6mYd3hZ2a';

let directory: string;
let synapse: SynapseDatabase;
let target: TestDatabase;

beforeAll(async () => {
  process.setMaxListeners(100);
  directory = mkdtempSync(join(tmpdir(), 'latchkey-import-'));
  synapse = await createSynapseDatabase();
  target = await createTestDatabase();
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await synapse.drop();
  await target.drop();
});
beforeEach(async () => {
  await synapse.query(
    'truncate users, profiles, user_threepids, user_external_ids, devices, access_tokens, refresh_tokens',
  );
  await sql(target.database, 'delete from users');
  await sql(target.database, `delete from server_state where key = 'import-incomplete'`);
});

const SCHEMES = [
  { version: 1, algorithm: 'bcrypt', unicode_normalization: true, secret: 'pepper of old' },
  { version: 2, algorithm: 'argon2id' },
];

interface Setting {
  readonly here?: object;
  readonly there?: object;
  readonly options?: readonly string[];
}

/** Runs a command with matching configurations of both sides, modified by the arguments. */
async function run(command: 'check' | 'migrate', { here = {}, there = {}, options = [] }: Setting = {}) {
  const own = {
    secrets: { encryption: 'ab'.repeat(32) },
    database: { uri: target.connectionString },
    logging: { output: join(directory, 'log') },
    protocol_name: 'matrix',
    homeserver: { homeserver: 'old.example', secret: 'shared-by-both-of-them' },
    passwords: { schemes: SCHEMES },
    upstream_oauth2: {
      providers: [
        {
          id: PROVIDER,
          issuer: 'https://sso.example',
          client_id: 'synapse',
          token_endpoint_auth_method: 'none',
          synapse_idp_id: 'oidc-sso',
        },
      ],
    },
    ...here,
  };
  const other = {
    server_name: 'old.example',
    database: { name: 'psycopg2', args: {} },
    password_config: { pepper: 'pepper of old' },
    oidc_providers: [{ idp_id: 'sso', issuer: 'https://sso.example', client_id: 'synapse' }],
    ...there,
  };
  const [file, synapseFile] = [join(directory, 'latchkey.yaml'), join(directory, 'homeserver.yaml')];
  writeFileSync(file, stringify(own), { mode: 0o600 });
  writeFileSync(synapseFile, stringify(other), { mode: 0o600 });
  const words = ['--synapse-config', synapseFile, '--synapse-database-uri', synapse.uri, ...options];
  return await runCommand(['import', command, '-c', file, ...words], { workingDirectory: directory });
}

async function checked(setting: Setting = {}) {
  const { exitCode, out, err } = await run('check', { ...setting, options: ['--json', ...(setting.options ?? [])] });
  if (out === '') throw new Error(`exit ${exitCode}: ${err}`);
  const found: Record<'errors' | 'warnings', { readonly code: string }[]> = JSON.parse(out);
  const codes = (name: 'errors' | 'warnings') => found[name].map(({ code }) => code);
  return { exitCode, errors: codes('errors'), warnings: codes('warnings') };
}

async function addUser(localpart: string, columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const name = `@${localpart}:old.example`;
  const row = { name, creation_ts: 1_500_000_000, ...columns };
  const names = Object.keys(row);
  await synapse.query(
    `insert into users (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
  return name;
}

const addDevice = async (user: string, device: string, columns: readonly unknown[] = [null, null, null, null, false]) =>
  await synapse.query('insert into devices values ($1, $2, $3, $4, $5, $6, $7)', [user, device, ...columns]);

let nextId = 0;
const letters = () => createHash('sha256').update(String(nextId)).digest('hex').slice(0, 20);

/** @returns the token */
async function addAccessToken(user: string, device: string | null, columns: Readonly<Record<string, unknown>> = {}) {
  nextId += 1;
  const token = `syt_bm9ib2R5_${letters()}_0abcde`;
  const row = { id: nextId, user_id: user, device_id: device, token, ...columns };
  const names = Object.keys(row);
  await synapse.query(
    `insert into access_tokens (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
  return String(row.token);
}

/** @returns its ID and the token */
async function addRefreshToken(user: string, device: string, columns: readonly unknown[] = [null, null, null]) {
  nextId += 1;
  const [id, token] = [nextId, `syr_bm9ib2R5_${letters()}_0abcde`];
  await synapse.query('insert into refresh_tokens values ($1, $2, $3, $4, $5, $6, $7)', [
    ...[id, user, device, token],
    ...columns,
  ]);
  return { id, token };
}

const stored = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  await sql<Row>(target.database, text, [...values]);

/** Returns the user and device of an imported token. */
async function ownerOf(token: string): Promise<string | undefined> {
  const [row] = await stored<{ owner: string }>(
    `select u.username || ' ' || coalesce(s.device_id, 'nowhere') as owner
       from (select session_id, token_hash from compat_access_tokens
              union all select session_id, token_hash from compat_refresh_tokens) t
       join compat_sessions s on s.id = t.session_id
       join users u on u.id = s.user_id
      where t.token_hash = sha256($1::text::bytea)`,
    [token],
  );
  return row?.owner;
}

describe('import migrate', () => {
  test('copies accounts with passwords, flags and names, except those of application services', async () => {
    await addUser('anna', { password_hash: BCRYPT, admin: 1 });
    await synapse.query(`insert into profiles values ('anna', 'Anna Öz', null, '@anna:old.example')`);
    await addUser('locked', { locked: true, creation_ts: 1_600_000_000_000 });
    await addUser('gone', { deactivated: 1, password_hash: '' });
    await addUser('visitor', { is_guest: 1, creation_ts: null });
    await addUser('waiting', { approved: false });
    await addUser('odd-time', { creation_ts: '9000000000000000000' });
    await addUser('bridge_1', { appservice_id: 'bridge' });
    const { exitCode, out } = await run('migrate', { options: ['--json'] });
    expect(exitCode).toBe(0);
    expect(JSON.parse(out).entities[0]).toEqual({
      entity: 'users',
      done: 6,
      skipped: { 'application service': 1 },
    });
    const rows = await stored(
      `select username, display_name, can_request_admin as admin, is_guest as guest, locked_at is not null as locked,
              deactivated_at is not null as deactivated, extract(year from u.created_at)::integer as year,
              p.hash || ' ' || p.scheme_version as password
         from users u left join user_passwords p on p.user_id = u.id order by username`,
    );
    const plain = { display_name: null, admin: false, guest: false, locked: false, deactivated: false, password: null };
    const thisYear = new Date(Date.now()).getUTCFullYear();
    expect(rows).toEqual([
      { ...plain, username: 'anna', display_name: 'Anna Öz', admin: true, year: 2017, password: `${BCRYPT} 1` },
      { ...plain, username: 'gone', deactivated: true, year: 2017 },
      { ...plain, username: 'locked', locked: true, year: 2020 },
      { ...plain, username: 'odd-time', year: thisYear },
      { ...plain, username: 'visitor', guest: true, year: thisYear },
      { ...plain, username: 'waiting', locked: true, year: 2017 },
    ]);
  });

  test('keeps unusual names, and names that differ in case only', async () => {
    const odd = ['Foo', 'foo', 'fOO', 'with space', "o'hara; drop table users", '../..', 'ünï', '%_\\', '"', '12'];
    for (const name of odd) await addUser(name);
    await synapse.query(`insert into users (name) values ('@:old.example'), (null)`);
    expect((await run('migrate')).exitCode).toBe(0);
    const rows = await stored<{ username: string; username_key: string }>('select username, username_key from users');
    expect(rows.map(({ username }) => username).toSorted()).toEqual(odd.toSorted());
    const keys = new Map(rows.map(({ username, username_key }) => [username, username_key]));
    expect([keys.get('foo'), keys.get('Foo'), keys.get('fOO')]).toEqual(['foo', 'Foo', 'fOO']);
  });

  test('copies email addresses; duplicate and invalid ones are kept separately, like phone numbers', async () => {
    const [one, two] = [await addUser('one'), await addUser('two')];
    const add = async (user: string, medium: string, address: string, at: number) =>
      await synapse.query('insert into user_threepids values ($1, $2, $3, $4, $4)', [user, medium, address, at]);
    await add(one, 'email', 'Me@Example.org', 2_000);
    await add(two, 'email', 'me@example.org', 1_000);
    await add(two, 'email', 'no address', 1_000);
    await add(two, 'msisdn', '491234', 1_000);
    await add('@absent:old.example', 'email', 'absent@example.org', 1_000);
    const { out } = await run('migrate', { options: ['--json'] });
    expect(JSON.parse(out).entities[1]).toMatchObject({
      done: 3,
      skipped: { 'unknown account': 1, 'unusable address': 1 },
    });
    expect(
      await stored('select username, email from user_emails e join users u on u.id = e.user_id order by email'),
    ).toEqual([{ username: 'two', email: 'me@example.org' }]);
    expect(
      await stored(`select username, medium, address from user_unsupported_threepids t join users u on u.id = t.user_id
                     order by username, medium`),
    ).toEqual([
      { username: 'one', medium: 'email', address: 'Me@example.org' },
      { username: 'two', medium: 'email', address: 'no address' },
      { username: 'two', medium: 'msisdn', address: '491234' },
    ]);
    const file = join(directory, 'latchkey.yaml');
    const ended = await runCommand(['manage', 'lock-user', 'two', '--deactivate', '-c', file]);
    expect(ended.exitCode).toBe(0);
    expect(await stored('select address from user_unsupported_threepids')).toEqual([{ address: 'Me@example.org' }]);
  });

  test('turns upstream identities into links of the provider with that synapse_idp_id', async () => {
    await addUser('one');
    const add = async (provider: string, subject: string) =>
      await synapse.query('insert into user_external_ids values ($1, $2, $3)', [provider, subject, '@one:old.example']);
    await add('oidc-sso', 'subject-1');
    expect((await run('migrate')).exitCode).toBe(0);
    expect(
      await stored('select subject, username, provider_id from upstream_links l join users u on u.id = l.user_id'),
    ).toEqual([{ subject: 'subject-1', username: 'one', provider_id: toUuid(PROVIDER) }]);
    await sql(target.database, 'delete from users');
    await add('oidc-lost', 'subject-2');
    expect((await run('migrate')).exitCode).toBe(10);
    const left = await run('migrate', { options: ['--ignore-missing-auth-providers', '--json'] });
    expect(left.exitCode).toBe(0);
    expect(JSON.parse(left.out).entities[2]).toMatchObject({ done: 1, skipped: { 'unknown provider': 1 } });
  });

  test('creates a session per device, also for those without a token and those named only by a token', async () => {
    const user = await addUser('one');
    await addDevice(user, 'PHONE', ['My phone', 1_700_000_000_000, '203.0.113.7', 'Element/1.0', false]);
    await addDevice(user, 'ODD\u0001', ['x'.repeat(400), null, 'no address', '', null]);
    await addDevice(user, 'signing-key', ['master signing key', null, null, null, true]);
    await addDevice('@absent:old.example', 'PHONE');
    const onPhone = await addAccessToken(user, 'PHONE', { used: true });
    const onAbsent = await addAccessToken(user, 'ABSENT');
    const nowhere = await addAccessToken(user, null);
    const alsoNowhere = await addAccessToken(user, null);
    expect((await run('migrate')).exitCode).toBe(0);
    const sessions = await stored(
      `select device_id, length(human_name) as name, user_agent, host(last_active_ip) as ip,
              extract(year from last_active_at)::integer as year, extract(year from created_at)::integer as made
         from compat_sessions order by device_id, id`,
    );
    const bare = { name: null, user_agent: null, ip: null, year: null, made: 2017 };
    expect(sessions).toEqual([
      { ...bare, device_id: 'ABSENT' },
      { ...bare, device_id: 'ODD\u0001', name: 255 },
      { ...bare, device_id: 'PHONE', name: 8, user_agent: 'Element/1.0', ip: '203.0.113.7', year: 2023 },
      { ...bare, device_id: null },
      { ...bare, device_id: null },
    ]);
    const owners = await Promise.all([onPhone, onAbsent, nowhere, alsoNowhere].map(ownerOf));
    expect(owners).toEqual(['one PHONE', 'one ABSENT', 'one nowhere', 'one nowhere']);
    expect(await stored('select token_hash from compat_access_tokens where first_used_at is not null')).toHaveLength(1);
  });

  test('skips tokens of administrators acting as another user: they would become the administrators’ own', async () => {
    const admin = await addUser('admin', { admin: 1 });
    const victim = await addUser('victim');
    const token = await addAccessToken(admin, null, { puppets_user_id: victim });
    expect((await run('migrate')).exitCode).toBe(0);
    expect(await ownerOf(token)).toBeUndefined();
    expect(await stored('select id from compat_sessions')).toEqual([]);
  });

  test('keeps an unusual token expiry as an expiry', async () => {
    const user = await addUser('one');
    await addDevice(user, 'PHONE');
    for (const end of ['0', '-5', '9000000000000000000']) await addAccessToken(user, 'PHONE', { valid_until_ms: end });
    expect((await run('migrate')).exitCode).toBe(0);
    expect(
      await stored(
        `select extract(year from expires_at at time zone 'UTC')::integer as year from compat_access_tokens order by 1`,
      ),
    ).toEqual([{ year: 1970 }, { year: 1970 }, { year: 9999 }]);
  });

  test('copies token pairs with expiry, the previous one until its successor was used, and no expired ones', async () => {
    const user = await addUser('one');
    for (const device of ['A', 'B', 'C', 'D']) await addDevice(user, device);
    const pair = async (device: string, columns: readonly unknown[], used: boolean) => {
      const refresh = await addRefreshToken(user, device, columns);
      const end = Date.now() + DAY_MS;
      const access = await addAccessToken(user, device, { refresh_token_id: refresh.id, valid_until_ms: end, used });
      return { ...refresh, access };
    };
    const fresh = await pair('A', [null, null, null], false);
    const before = await pair('A', [fresh.id, null, null], true);
    const usedSuccessor = await pair('B', [null, null, null], true);
    const superseded = await pair('B', [usedSuccessor.id, null, null], true);
    const expired = await pair('C', [null, Date.now() - 1000, null], true);
    const ended = await pair('D', [null, null, Date.now() - 1000], true);
    const { out } = await run('migrate', { options: ['--json'] });
    expect(JSON.parse(out).entities[6]).toMatchObject({ done: 3, skipped: {} });
    const owners = async (pairs: readonly { readonly token: string; readonly access: string }[]) =>
      await Promise.all(pairs.flatMap(({ token, access }) => [token, access]).map(ownerOf));
    expect(await owners([fresh, before, usedSuccessor])).toEqual([
      'one A',
      'one A',
      'one A',
      'one A',
      'one B',
      'one B',
    ]);
    expect(new Set(await owners([superseded, expired, ended]))).toEqual(new Set([undefined]));
    const [row] = await stored<{ paired: number }>(
      `select count(*) as paired from compat_refresh_tokens r
         join compat_access_tokens a on a.id = r.access_token_id and a.session_id = r.session_id
        where a.expires_at > now() and a.expires_at < now() + interval '2 days'`,
    );
    expect(row?.paired).toBe(3);
  });

  test('rebuilds all keys and indexes, and reads more than one batch', async () => {
    await synapse.query(
      `insert into users (name, creation_ts) select '@user' || n || ':old.example', 1500000000 from generate_series(1, 11000) n`,
    );
    await synapse.query(`insert into devices (user_id, device_id) select name, 'PHONE' from users`);
    const before = await dumpSchema(target.connectionString);
    expect((await run('migrate')).exitCode).toBe(0);
    expect(await dumpSchema(target.connectionString)).toEqual(before);
    expect(await stored('select count(*) as count from compat_sessions')).toEqual([{ count: 11_000 }]);
  }, 60_000);

  test('--dry-run performs everything and keeps nothing', async () => {
    await addUser('one');
    const { exitCode, out } = await run('migrate', { options: ['--dry-run'] });
    expect([exitCode, out]).toEqual([0, expect.stringContaining('users: 1 done, 0 skipped')]);
    expect(out).toContain('dry run: nothing was stored');
    expect(await stored('select id from users')).toEqual([]);
    expect((await run('migrate')).exitCode).toBe(0);
  });

  test("never writes to Synapse's database: a read-only role is enough", async () => {
    await addUser('one');
    const role = 'import_reader';
    await synapse.query(`create role ${role} login`);
    await synapse.query(`grant select on all tables in schema public to ${role}`);
    try {
      const uri = new URL(synapse.uri);
      uri.username = role;
      expect((await run('migrate', { options: ['--synapse-database-uri', uri.href] })).exitCode).toBe(0);
    } finally {
      await synapse.query(`drop owned by ${role}`);
      await synapse.query(`drop role ${role}`);
    }
  });
});

describe('a failed import', () => {
  const incomplete = async () => await stored(`select key from server_state where key = 'import-incomplete'`);

  test('leaves only its marker, which prevents every start, and another run completes', async () => {
    const user = await addUser('one');
    await addDevice(user, 'PHONE');
    const schema = await dumpSchema(target.connectionString);
    // A duplicate token violates the unique key at the end of the import.
    await synapse.query('alter table access_tokens drop constraint access_tokens_token_key');
    const token = await addAccessToken(user, 'PHONE');
    await addAccessToken(user, 'PHONE', { token });
    const failed = await run('migrate');
    expect(failed.exitCode).not.toBe(0);
    expect(await stored('select id from users')).toEqual([]);
    expect(await dumpSchema(target.connectionString)).toEqual(schema);
    expect(await incomplete()).toHaveLength(1);
    const doctor = await runCommand(['doctor', '-c', join(directory, 'latchkey.yaml')]);
    expect([doctor.exitCode, doctor.out]).toEqual([
      10,
      expect.stringMatching(/fail +database +an import is incomplete/),
    ]);
    for (const command of [['serve'], ['worker'], ['manage', 'list-users']]) {
      const { exitCode, err } = await runCommand([...command, '-c', join(directory, 'latchkey.yaml')]);
      expect([exitCode, err]).toEqual([1, expect.stringContaining('latchkey import migrate')]);
    }
    await synapse.query('delete from access_tokens where id = $1', [nextId]);
    await synapse.query('alter table access_tokens add constraint access_tokens_token_key unique (token)');
    await sql(
      target.database,
      `insert into users (id, username, username_key, created_at) values (gen_random_uuid(), 'left', 'left', now())`,
    );
    expect((await run('migrate')).exitCode).toBe(0);
    expect(await stored('select username from users')).toEqual([{ username: 'one' }]);
    expect(await incomplete()).toEqual([]);
  });

  test('reports which connection was lost: exit 69, with its marker', async () => {
    await addUser('one');
    const other = new Client({ connectionString: synapse.uri });
    await other.connect();
    try {
      await other.query('begin; lock table refresh_tokens in access exclusive mode');
      const running = run('migrate');
      const end = async () =>
        await synapse.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'latchkey import' and datname = current_database() and wait_event_type = 'Lock'`,
        );
      await waitUntil(async () => (await end()).length > 0, 'the import to wait for the lock');
      const { exitCode, err } = await running;
      expect([exitCode, err]).toEqual([69, expect.stringContaining('was rolled back')]);
      expect(await stored('select id from users')).toEqual([]);
      expect(await incomplete()).toHaveLength(1);
    } finally {
      await other.end();
    }
  });

  test('is discarded by --dry-run', async () => {
    await sql(target.database, `insert into server_state values ('import-incomplete', '')`);
    expect((await run('migrate', { options: ['--dry-run'] })).exitCode).toBe(0);
    expect(await incomplete()).toEqual([]);
  });

  test.each([
    ['another import', `select pg_advisory_lock(4981033716550242907)`, 'latchkey import'],
    ['a running service', 'select 1', 'latchkey:4194305'],
  ])('does not wait for %s: exit 75, and no marker', async (_, text, applicationName) => {
    const other = new Client({ connectionString: target.connectionString, application_name: applicationName });
    await other.connect();
    try {
      await other.query(text);
      const { exitCode, err } = await run('migrate');
      expect([exitCode, err]).toEqual([75, expect.stringMatching(/another import|other Latchkey processes/)]);
      expect(await incomplete()).toEqual([]);
    } finally {
      await other.end();
    }
  });
});

describe('import check', () => {
  test('finds no problems where both sides fit together: exit 0', async () => {
    await addUser('one', { password_hash: BCRYPT });
    expect(await checked()).toEqual({ exitCode: 0, errors: [], warnings: [] });
  });

  const scheme = (changes: object) => ({ here: { passwords: { schemes: [{ ...SCHEMES[0], ...changes }] } } });

  test.each<readonly [string, Setting]>([
    ['password_scheme', scheme({ version: 3 })],
    ['password_scheme', { here: { passwords: { schemes: [{ version: 1, algorithm: 'argon2id' }] } } }],
    ['password_pepper', scheme({ secret: 'another pepper' })],
    ['password_pepper', { there: { password_config: {} } }],
    ['password_normalization', scheme({ unicode_normalization: false })],
    ['guests_enabled', { there: { allow_guest_access: true } }],
    ['threepid_changes_enabled', { there: { enable_3pid_changes: true } }],
    ['login_via_existing_session', { there: { login_via_existing_session: { enabled: true } } }],
  ])('error %s: %j', async (code, setting) => {
    await addUser('one', { password_hash: BCRYPT });
    expect(await checked(setting)).toMatchObject({ exitCode: 10, errors: [code] });
    const { exitCode, out } = await run('migrate', { ...setting, options: ['--json'] });
    expect([exitCode, JSON.parse(out)]).toMatchObject([10, { entities: [], errors: [{ code }] }]);
    expect(await stored('select id from users')).toEqual([]);
  });

  test.each<readonly [string, Setting]>([
    ['homeserver_none', { here: { homeserver: { kind: 'none', homeserver: 'old.example' } } }],
    ['provider_to_map', { here: { upstream_oauth2: { providers: [] } } }],
    ['unsupported_sign_in', { there: { cas_config: { enabled: true, server_url: 'https://cas.example' } } }],
    ['unsupported_sign_in', { there: { saml2_config: { sp_config: { metadata: {} } } } }],
    ['unsupported_sign_in', { there: { jwt_config: { enabled: true } } }],
    ['unsupported_sign_in', { there: { modules: [{ module: 'ldap_auth_provider.LdapAuthProviderModule' }] } }],
    ['registration_enabled', { there: { enable_registration: 'yes' } }],
    [
      'user_consent_enabled',
      { there: { user_consent: { version: 1 } }, here: { branding: { tos_uri: 'https://t.example/' } } },
    ],
    ['captcha_missing', { there: { enable_registration_captcha: true } }],
    [
      'registration_captcha_enabled',
      {
        there: { enable_registration_captcha: true },
        here: { captcha: { service: 'recaptcha_v2', site_key: 'x', secret_key: 'y' } },
      },
    ],
  ])('warning %s: %j', async (code, setting) => {
    expect(await checked(setting)).toEqual({ exitCode: 11, errors: [], warnings: [code] });
  });

  test('reports what the data contains: existing accounts, other servers, providers, guests, phone numbers', async () => {
    await addUser('guest', { is_guest: 1 });
    await addUser('waiting', { approved: false });
    await synapse.query(`insert into users (name) values ('@x:other.example')`);
    await synapse.query(
      `insert into user_external_ids values ('oauth-delegated', '1', '@x'), ('oidc-lost', '1', '@x'), ('oidc-two', '1', '@x')`,
    );
    await synapse.query(`insert into user_threepids values ('@x', 'msisdn', '49', 1, 1)`);
    await sql(
      target.database,
      `insert into users (id, username, username_key, created_at) values (gen_random_uuid(), 'here', 'here', now())`,
    );
    const there = {
      oidc_providers: ['sso', 'two'].map((idp_id) => ({ idp_id, issuer: 'https://sso.example', client_id: 'x' })),
    };
    expect(await checked({ there })).toEqual({
      exitCode: 10,
      errors: [
        'target_not_empty',
        'server_name_mismatch',
        'delegated_mappings',
        'provider_missing_in_synapse',
        'provider_missing_here',
      ],
      warnings: ['provider_to_map', 'unapproved_users', 'guest_users', 'unsupported_threepids'],
    });
  });

  test('another server name is an error, and each finding is one line', async () => {
    const { exitCode, out } = await run('check', { there: { server_name: 'other.example' } });
    expect([exitCode, out]).toEqual([10, expect.stringMatching(/^error {4}server_name_differs: .*"other.example"/)]);
  });

  test('of several files the later one replaces whole sections, as in Synapse, and a directory means its files', async () => {
    const extra = join(directory, 'extra.yaml');
    writeFileSync(extra, 'allow_guest_access: yes\npassword_config: {}\n');
    const found = await checked({ options: ['--synapse-config', extra] });
    expect(found).toMatchObject({ errors: ['guests_enabled'] });
  });

  test.each([
    ['SQLite', 'server_name: x\ndatabase: { name: sqlite3 }\n', /synapse_port_db/],
    ['no database', 'server_name: x\n', /has no database settings/],
    [
      'settings that Synapse rejects',
      'server_name: [x]\nallow_guest_access: maybe\n',
      /server_name: .*\n {2}allow_guest_access: /,
    ],
    ['no mapping', '- x\n', /expected Synapse settings/],
    ['broken YAML', 'server_name: "x\n', /homeserver\.yaml: /],
  ])('%s: exit 1 with what to do', async (_, text, message) => {
    const file = join(directory, 'broken-homeserver.yaml');
    writeFileSync(file, text);
    const { exitCode, err } = await runCommand(['syn2mas', 'check', '--synapse-config', file], {
      workingDirectory: directory,
    });
    expect([exitCode, err]).toEqual([1, expect.stringMatching(message)]);
  });

  test("reports a missing file and a database other than Synapse's, and requires the option", async () => {
    const missing = await runCommand(['import', 'check', '--synapse-config', '/nowhere/homeserver.yaml']);
    expect([missing.exitCode, missing.err]).toEqual([
      1,
      expect.stringContaining('/nowhere/homeserver.yaml: no such file'),
    ]);
    expect((await runCommand(['import', 'check'])).exitCode).toBe(2);
    const other = await run('check', { options: ['--synapse-database-uri', target.connectionString] });
    expect([other.exitCode, other.err]).toEqual([1, expect.stringContaining('not a database of Synapse')]);
  });
});

describe('data that an import can skip', () => {
  const ODD = '01m8fnp7n8wtbq5ypd2n1p034g';

  async function addOddities(): Promise<void> {
    const amira = await addUser('amira', { password_hash: BCRYPT });
    await addUser('bao', { password_hash: '{SSHA}notOfSynapse' });
    for (const address of ['amira@mail.example', 'no address'])
      await synapse.query(`insert into user_threepids values ($1, 'email', $2, 1, 1)`, [amira, address]);
  }

  test('unusable addresses and foreign hashes are listed, and not counted as imported', async () => {
    await addOddities();
    expect(await checked()).toMatchObject({ exitCode: 11, errors: [] });
    expect((await checked()).warnings).toEqual(expect.arrayContaining(['foreign_hashes', 'unusable_emails']));
    const accepted = await checked({ options: ['--skip', 'foreign-hashes', 'unusable-emails'] });
    expect(accepted.warnings).not.toEqual(expect.arrayContaining(['foreign_hashes']));
    expect(accepted.warnings).not.toEqual(expect.arrayContaining(['unusable_emails']));
    const { out } = await run('migrate', { options: ['--json'] });
    const { entities } = JSON.parse(out);
    expect(entities.slice(0, 2)).toEqual([
      { entity: 'users', done: 2, skipped: { 'unknown password hash': 1 } },
      { entity: 'third-party ids', done: 1, skipped: { 'unusable address': 1 } },
    ]);
    expect(await sql(target.database, 'select user_id from user_passwords')).toHaveLength(1);
  });

  test('a foreign account and a name that looks like an ID stop it until they are skipped', async () => {
    await addOddities();
    await addUser(ODD);
    await synapse.query(`insert into users (name, creation_ts) values ('@stray:other.example', 1500000000)`);
    const stopped = await checked();
    expect(stopped).toMatchObject({ exitCode: 10, errors: ['server_name_mismatch', 'identifier_usernames'] });
    expect((await run('migrate')).exitCode).toBe(10);
    const options = ['--skip', 'other-servers', 'identifier-names'];
    expect((await checked({ options })).errors).toEqual([]);
    expect((await run('migrate', { options })).exitCode).toBe(0);
    const names = await sql<{ username: string }>(target.database, 'select username from users order by 1');
    expect(names.map(({ username }) => username)).toEqual(['amira', 'bao']);
  });
});
