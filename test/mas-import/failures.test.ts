/** Imports from Matrix Authentication Service that cannot complete, and what they leave. */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createEmptyDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { waitUntil } from '#test/support/postgres-server.ts';
import { dumpSchema } from '#test/support/schema-dump.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { Migration, ROOT } from './migration.test-support.ts';
import { C1, C2, C3, device, ENCRYPTED_SECRET, H1, newUuid, T1, T2, USERS, ulid } from './vectors.test-support.ts';

const migration = await sharedByTests(Migration.create());

beforeEach(async () => {
  await migration.restart();
  await add('users', { user_id: USERS.alice, username: 'alice' });
  await add('oauth2_clients', { oauth2_client_id: C1, token_endpoint_auth_method: 'none' });
  const session = { oauth2_session_id: newUuid(), oauth2_client_id: C1, user_id: USERS.alice };
  await add('oauth2_sessions', { ...session, scope_list: [device('ALICEPHONE')] });
  const of = { oauth2_session_id: session.oauth2_session_id };
  const access = newUuid();
  await add('oauth2_access_tokens', { ...of, oauth2_access_token_id: access, access_token: T1, expires_at: null });
  await add('oauth2_refresh_tokens', { ...of, oauth2_refresh_token_id: newUuid(), refresh_token: T2 });
});

const add = async (table: string, row: Readonly<Record<string, unknown>>) => await migration.mas.add(table, row);
const stored = async <Row extends object>(text: string): Promise<Row[]> =>
  await sql<Row>(migration.target.database, text);
const isIncomplete = async () => (await stored(`select from server_state where key = 'import-incomplete'`)).length > 0;

/** Everything in the database of MAS. */
async function contentOfMas(): Promise<unknown> {
  const tables = await migration.mas.query(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  const content: unknown[] = [];
  for (const { name } of tables) {
    content.push([name, await migration.mas.query(`select t::text as row from ${String(name)} t order by 1`)]);
  }
  return content;
}

describe('a source that cannot be imported', () => {
  test('that is not a database of MAS: exit 1', async () => {
    const other = await createEmptyDatabase();
    try {
      const { exitCode, err } = await migration.run('check', ['--mas-database-uri', other.connectionString]);
      expect([exitCode, err]).toEqual([1, expect.stringContaining('not a database of Matrix Authentication Service')]);
    } finally {
      await other.drop();
    }
  });

  test('that cannot be reached: exit 69', async () => {
    const { exitCode } = await migration.run('check', ['--mas-database-uri', 'postgres://nobody@127.0.0.1:1/mas']);
    expect(exitCode).toBe(69);
  });

  test('of an older version: an error that names what is missing', async () => {
    await migration.mas.query('alter table oauth2_refresh_tokens rename revoked_at to other');
    await migration.mas.query('alter table personal_sessions rename to other_sessions');
    try {
      const { exitCode, errors } = await migration.check();
      expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['schema_outdated']]);
      expect(errors[0]?.message).toMatch(
        /without oauth2_refresh_tokens.revoked_at, personal_sessions.personal_session_id,/,
      );
      expect((await migration.run('migrate')).exitCode).toBe(10);
    } finally {
      await migration.mas.query('alter table oauth2_refresh_tokens rename other to revoked_at');
      await migration.mas.query('alter table other_sessions rename to personal_sessions');
    }
  });

  test('whose migration failed, and one that is newer than known here', async () => {
    await migration.mas.query('update _sqlx_migrations set success = false where version = 20260121103025');
    await migration.mas.query('update _sqlx_migrations set version = 20990101000000 where version = 20260720134722');
    try {
      const { errors, warnings } = await migration.check();
      expect(errors.map(({ code }) => code)).toEqual(['schema_incomplete']);
      expect(warnings.map(({ code }) => code)).toContain('schema_newer');
    } finally {
      await migration.mas.query('update _sqlx_migrations set success = true');
      await migration.mas.query('update _sqlx_migrations set version = 20260720134722 where version = 20990101000000');
    }
  });

  test('with rows that refer to missing ones: an error, and --skip orphans leaves them out', async () => {
    await migration.mas.query(`set session_replication_role = replica`);
    await migration.mas.query(`delete from users`);
    await migration.mas.query(`set session_replication_role = origin`);
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['orphans']]);
    expect(errors[0]?.message).toContain('1 in oauth2_sessions without users');
    expect((await migration.run('migrate')).exitCode).toBe(10);
    const done = await migration.migrate(['--skip', 'orphans']);
    expect([done['clients'], done['OAuth sessions'], done['OAuth access tokens']]).toEqual([1, 0, 0]);
  });

  test('with another protocol name here: an error', async () => {
    expect((await migration.check([], { protocol_name: 'chat' })).errors.map(({ code }) => code)).toEqual([
      'protocol_name',
    ]);
  });

  test('with names that look like IDs: an error, and --skip leaves these accounts out', async () => {
    await add('users', { user_id: USERS.bob, username: ulid(USERS.caro) });
    expect((await migration.check()).errors.map(({ code }) => code)).toEqual(['identifier_usernames']);
    expect((await migration.migrate(['--skip', 'identifier-names']))['users']).toBe(1);
  });

  test('with hashes that no scheme verifies: an error, and --skip imports these accounts without a password', async () => {
    for (const [user, hash] of [
      [USERS.alice, H1],
      [USERS.bob, '$pbkdf2-sha512$i=600000,l=32$MDEyMzQ1Njc4OWFiY2RlZg$FssUBfIHq1ETs6'],
      [USERS.caro, 'x\u0001'],
    ] as const) {
      if (user !== USERS.alice) await add('users', { user_id: user, username: user.slice(-4) });
      await add('user_passwords', { user_password_id: newUuid(), user_id: user, hashed_password: hash, version: 1 });
    }
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors]).toEqual([
      10,
      [{ severity: 'error', code: 'foreign_hashes', message: expect.stringContaining('(2b00, 2c0b)') }],
    ]);
    expect((await migration.run('migrate')).exitCode).toBe(10);
    expect(await stored('select id from users')).toEqual([]);
    expect(await migration.migrate(['--skip', 'foreign-hashes'])).toMatchObject({ users: 3, passwords: 1 });
  });

  test('with addresses that are not valid here: an error, and --skip stores them separately', async () => {
    for (const email of ['alice@example.org', 'no address', `${'x'.repeat(400)}@example.org`]) {
      await add('user_emails', { user_email_id: newUuid(), user_id: USERS.alice, email });
    }
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors]).toEqual([
      10,
      [{ severity: 'error', code: 'unusable_emails', message: expect.stringContaining('2 email addresses') }],
    ]);
    expect((await migration.run('migrate')).exitCode).toBe(10);
    expect((await migration.migrate(['--skip', 'unusable-emails']))['email addresses']).toBe(1);
    expect(await stored(`select address from user_unsupported_threepids where address = 'no address'`)).toHaveLength(1);
  });

  test('with policy data that is not valid here: an error, and --skip leaves it out', async () => {
    await add('policy_data', { policy_data_id: newUuid(), data: { admin_users: 7 } });
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['policy_data']]);
    expect((await migration.run('migrate')).exitCode).toBe(10);
    expect((await migration.migrate(['--skip', 'policy-data']))['policy data']).toBe(0);
  });

  test('with a client secret that does not open: an error, and --skip leaves the client out', async () => {
    const client = { token_endpoint_auth_method: 'client_secret_basic' };
    await add('oauth2_clients', { ...client, oauth2_client_id: C2, encrypted_client_secret: ENCRYPTED_SECRET });
    await add('oauth2_clients', { ...client, oauth2_client_id: C3, encrypted_client_secret: 'damaged' });
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['client_secrets']]);
    expect((await migration.run('migrate')).exitCode).toBe(10);
    expect((await migration.migrate(['--skip', 'client-secrets']))['clients']).toBe(2);
  });

  test('that is the database of this server as well: refused, and unchanged', async () => {
    const before = await contentOfMas();
    const { exitCode } = await migration.run('migrate', [], { database: { uri: migration.mas.uri } });
    expect(exitCode).not.toBe(0);
    expect(await contentOfMas()).toEqual(before);
  });
});

describe('the configuration of MAS', () => {
  const document = {
    http: { public_base: 'https://account.example.org/' },
    matrix: { homeserver: 'old.example', secret: 'shared', endpoint: 'https://chat.example.org/' },
    secrets: { encryption: ROOT.toString('hex'), keys: [] },
    passwords: { enabled: true, schemes: [{ version: 1, algorithm: 'argon2id' }] },
  };
  const own = { http: { public_base: 'https://account.example.org/' } };

  test('names its database, its key and its password schemes', async () => {
    const file = migration.masConfig(document);
    const { exitCode, errors, warnings } = await migration.check(['--mas-config', file], own);
    expect([exitCode, errors, warnings.map(({ code }) => code)]).toEqual([11, [], ['no_homeserver']]);
    expect((await migration.run('migrate', ['--mas-config', file], own)).exitCode).toBe(0);
    expect(await stored('select username from users')).toEqual([{ username: 'alice' }]);
  });

  test.each([
    [
      'a missing pepper',
      { passwords: { schemes: [{ version: 1, algorithm: 'argon2id', secret: 'pepper' }] } },
      'password_scheme_differs',
      /secret/,
    ],
    [
      'another algorithm',
      { passwords: { schemes: [{ version: 1, algorithm: 'bcrypt' }] } },
      'password_scheme_differs',
      /algorithm/,
    ],
    [
      'another server name',
      { matrix: { ...document.matrix, homeserver: 'other.example' } },
      'server_name_differs',
      /other\.example/,
    ],
  ])('shows %s as an error', async (_, changes, code, message) => {
    const file = migration.masConfig({ ...document, ...changes });
    const { exitCode, errors } = await migration.check(['--mas-config', file], own);
    expect([exitCode, errors]).toEqual([
      10,
      [expect.objectContaining({ code, message: expect.stringMatching(message) })],
    ]);
    expect((await migration.run('migrate', ['--mas-config', file], own)).exitCode).toBe(10);
    expect(await stored('select id from users')).toEqual([]);
  });

  test('with another issuer is a warning', async () => {
    const file = migration.masConfig({ ...document, http: { ...document.http, issuer: 'https://example.org' } });
    const { warnings } = await migration.check(['--mas-config', file], own);
    expect(warnings.find(({ code }) => code === 'issuer_differs')?.message).toContain('https://example.org/ in MAS');
  });

  test('is completed by the variables of MAS, which do not apply to the database of this server', async () => {
    const file = migration.masConfig({ ...document, database: undefined });
    await migration.check([], own);
    const words = ['import', 'mas', 'migrate', '--json', '--mas-config', file];
    // Applies to this server only.
    const environment = `LATCHKEY__DATABASE__URI=${migration.target.connectionString}\n`;
    writeFileSync(join(dirname(file), '.env'), environment, { mode: 0o600 });
    onTestFinished(() => rmSync(join(dirname(file), '.env')));
    const lost = await migration.command(words, { PGHOST: '127.0.0.1', PGPORT: '1' });
    expect([lost.exitCode, lost.err]).toEqual([69, expect.stringContaining('127.0.0.1:1')]);
    const { exitCode } = await migration.command(words, { MAS_DATABASE_URI: migration.mas.uri, PGUSER: 'nobody' });
    expect(exitCode).toBe(0);
    expect(await stored('select username from users')).toEqual([{ username: 'alice' }]);
  });

  test('or the address of its database is required: exit 2', async () => {
    const { exitCode, err } = await migration.command(['import', 'mas', 'check']);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('--mas-config')]);
  });
});

describe('an import', () => {
  test('never writes to the source: a role with the right to read is enough', async () => {
    const before = await contentOfMas();
    const role = 'mas_import_reader';
    await migration.mas.query(`create role ${role} login`);
    await migration.mas.query(`grant select on all tables in schema public to ${role}`);
    try {
      const uri = new URL(migration.mas.uri);
      uri.username = role;
      expect((await migration.run('migrate', ['--mas-database-uri', uri.href])).exitCode).toBe(0);
    } finally {
      await migration.mas.query(`drop owned by ${role}`);
      await migration.mas.query(`drop role ${role}`);
    }
    expect(await contentOfMas()).toEqual(before);
  });

  test('reads one snapshot on a connection that is read-only as a whole', async () => {
    const other = new Client({ connectionString: migration.mas.uri });
    await other.connect();
    try {
      await other.query('begin; lock table policy_data in access exclusive mode');
      const running = migration.run('migrate');
      const state = async () =>
        await migration.mas.query(
          `select pid from pg_stat_activity where application_name = 'latchkey import'
             and datname = current_database() and wait_event_type = 'Lock'`,
        );
      await waitUntil(async () => (await state()).length > 0, 'the import to wait for the lock');
      await add('users', { user_id: USERS.bob, username: 'bob' });
      await other.query('commit');
      expect((await running).exitCode).toBe(0);
      expect(await stored('select username from users')).toEqual([{ username: 'alice' }]);
    } finally {
      await other.end();
    }
  });

  test('rebuilds all keys and indexes', async () => {
    const before = await dumpSchema(migration.target.connectionString);
    await migration.migrate();
    expect(await dumpSchema(migration.target.connectionString)).toEqual(before);
  });

  test('with --dry-run keeps nothing', async () => {
    const before = await dumpSchema(migration.target.connectionString);
    expect((await migration.run('migrate', ['--dry-run'])).exitCode).toBe(0);
    expect(await stored('select id from users')).toEqual([]);
    expect(await stored('select id from oauth2_access_tokens')).toEqual([]);
    expect(await dumpSchema(migration.target.connectionString)).toEqual(before);
    expect(await isIncomplete()).toBe(false);
  });

  test('does not start while another process uses the target: exit 75, and no mark', async () => {
    const other = new Client({
      connectionString: migration.target.connectionString,
      application_name: 'latchkey:4194305',
    });
    await other.connect();
    try {
      expect((await migration.run('migrate')).exitCode).toBe(75);
      expect(await isIncomplete()).toBe(false);
    } finally {
      await other.end();
    }
  });
});

describe('an import that fails in the middle', () => {
  /** Ends a connection while the import waits for a lock of the source. */
  async function interrupted(end: () => Promise<unknown>) {
    const other = new Client({ connectionString: migration.mas.uri });
    await other.connect();
    try {
      await other.query('begin; lock table user_session_authentications in access exclusive mode');
      const running = migration.run('migrate', ['--skip', 'running']);
      const waiting = `select pid from pg_stat_activity where application_name = 'latchkey import'
        and datname = current_database() and wait_event_type = 'Lock' and query like 'copy %'`;
      await waitUntil(async () => (await migration.mas.query(waiting)).length > 0, 'the import to wait for the lock');
      await end();
      await other.query('rollback');
      return await running;
    } finally {
      await other.end();
    }
  }

  const nothingIsLeft = async () => {
    expect(await stored('select id from users')).toEqual([]);
    expect(await stored('select id from oauth2_clients where kind is null')).toEqual([]);
    expect(await isIncomplete()).toBe(true);
    const { exitCode, err } = await migration.command(['serve']);
    expect([exitCode, err]).toEqual([1, expect.stringContaining('import-incomplete')]);
    await migration.migrate();
    expect(await stored('select username from users')).toEqual([{ username: 'alice' }]);
    expect(await isIncomplete()).toBe(false);
  };

  test('because the source connection is lost: exit 69, nothing is left, and another run completes', async () => {
    const schema = await dumpSchema(migration.target.connectionString);
    const { exitCode, err } = await interrupted(
      async () =>
        await migration.mas.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'latchkey import' and datname = current_database()`,
        ),
    );
    expect([exitCode, err]).toEqual([69, expect.stringContaining('was rolled back')]);
    expect(await dumpSchema(migration.target.connectionString)).toEqual(schema);
    await nothingIsLeft();
  });

  test('because the target connection is lost: exit 69, nothing is left, and another run completes', async () => {
    const { exitCode, err } = await interrupted(
      async () =>
        await stored(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`,
        ),
    );
    expect([exitCode, err]).toEqual([69, expect.stringContaining('was rolled back')]);
    await nothingIsLeft();
  });

  test('because the disk is full: exit 1 with that reason, nothing is left, and another run completes', async () => {
    await stored(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`);
    await stored('create trigger full_disk before insert on oauth2_access_tokens execute function refuse()');
    const { exitCode, err } = await migration.run('migrate');
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/rolled back: .*(disk|space)/)]);
    await stored('drop function refuse() cascade');
    await nothingIsLeft();
  });
});
