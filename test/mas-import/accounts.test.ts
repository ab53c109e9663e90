/** Accounts, passwords and email addresses after an import from Matrix Authentication Service. */
import { beforeEach, describe, expect, test } from 'vitest';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { Migration } from './migration.test-support.ts';
import { BCRYPT, H1, newUuid, PASSWORD, PBKDF2, PEPPERED, USERS, ulid } from './vectors.test-support.ts';

const migration = await sharedByTests(Migration.create());

beforeEach(async () => {
  await migration.restart();
});

const add = async (table: string, row: Readonly<Record<string, unknown>>) => await migration.mas.add(table, row);

async function addUser(username: keyof typeof USERS, row: Readonly<Record<string, unknown>> = {}): Promise<string> {
  await add('users', { user_id: USERS[username], username, ...row });
  return USERS[username];
}

async function addPassword(userId: string, hash: string, row: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await add('user_passwords', {
    user_password_id: newUuid(),
    user_id: userId,
    hashed_password: hash,
    version: 1,
    ...row,
  });
}

async function addEmail(userId: string, email: string, createdAt = '2025-01-01T00:00:00Z'): Promise<void> {
  await add('user_emails', { user_email_id: newUuid(), user_id: userId, email, created_at: createdAt });
}

const stored = async <Row extends object>(text: string): Promise<Row[]> =>
  await sql<Row>(migration.target.database, text);

describe('accounts and passwords', () => {
  test('case 1: an account keeps its ID, creation time, address and password', async () => {
    const alice = await addUser('alice', { created_at: '2024-08-23T10:11:12.345Z', can_request_admin: true });
    await addPassword(alice, H1);
    await addEmail(alice, 'alice@example.org');
    const migrated = await migration.serve();
    expect(await migrated.canSignIn('alice', PASSWORD)).toBe(true);
    expect(await migrated.canSignIn('alice', 'another password')).toBe(false);
    const [row] = await stored(
      `select u.id, to_char(u.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as created, can_request_admin, email
         from users u join user_emails e on e.user_id = u.id`,
    );
    expect(row).toEqual({
      id: alice,
      created: '2024-08-23 10:11:12.345',
      can_request_admin: true,
      email: 'alice@example.org',
    });
  });

  test('case 2: of several passwords of an account, only the newest works', async () => {
    const alice = await addUser('alice');
    await addPassword(alice, PBKDF2.replace('FssU', 'AssU'), { created_at: '2024-01-01T00:00:00Z' });
    await addPassword(alice, H1, { created_at: '2025-06-01T00:00:00Z' });
    const bob = await addUser('bob');
    await addPassword(bob, H1, { created_at: '2024-01-01T00:00:00Z' });
    await addPassword(bob, H1.replace('69I7', '69I8'), { created_at: '2025-06-01T00:00:00Z' });
    const migrated = await migration.serve();
    expect(await migrated.canSignIn('alice', PASSWORD)).toBe(true);
    expect(await migrated.canSignIn('bob', PASSWORD)).toBe(false);
  });

  test('case 3: a password version that the configuration lacks is an error, and nothing is written', async () => {
    await addPassword(await addUser('alice'), H1, { version: 2 });
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['password_version']]);
    expect(errors[0]?.message).toContain('1 accounts have a password of version 2');
    expect((await migration.run('migrate')).exitCode).toBe(10);
    expect(await stored('select id from users')).toEqual([]);
    expect((await migration.check(['--skip', 'password-versions'])).errors).toEqual([]);
    await migration.migrate(['--skip', 'password-versions']);
    expect(await stored('select username from users')).toEqual([{ username: 'alice' }]);
    expect(await stored('select hash from user_passwords')).toEqual([]);
  });

  test.each([
    [
      4,
      'argon2id with a pepper that ends with a line feed',
      PEPPERED,
      { algorithm: 'argon2id', secret: 'pepper-with-newline\n' },
    ],
    [5, 'bcrypt with a pepper', BCRYPT, { algorithm: 'bcrypt', secret: 'pepper', unicode_normalization: true }],
    [6, 'pbkdf2', PBKDF2, { algorithm: 'pbkdf2' }],
  ])('case %i: a password of %s works, and is hashed again with the newest scheme', async (_, _kind, hash, scheme) => {
    await migration.restart({
      passwords: {
        schemes: [
          { version: 1, ...scheme },
          { version: 2, algorithm: 'argon2id', memory_kib: 64 },
        ],
      },
    });
    await addPassword(await addUser('alice'), hash);
    const migrated = await migration.serve();
    expect(await migrated.canSignIn('alice', `${PASSWORD}!`)).toBe(false);
    expect(await migrated.canSignIn('alice', PASSWORD)).toBe(true);
    expect(await stored('select scheme_version as version from user_passwords')).toEqual([{ version: 2 }]);
    expect(await migrated.canSignIn('alice', PASSWORD)).toBe(true);
  });

  test('case 7: names that differ in case only are found by their exact spelling', async () => {
    await add('users', { user_id: newUuid(), username: 'Ann', created_at: '2024-01-01T00:00:00Z' });
    const older = String((await migration.mas.query(`select user_id from users`))[0]?.['user_id']);
    const newer = newUuid();
    await add('users', { user_id: newer, username: 'ann', created_at: '2025-01-01T00:00:00Z' });
    await addPassword(older, H1);
    const { warnings } = await migration.check();
    expect(warnings.map(({ code }) => code)).toContain('usernames_differ_in_case');
    const migrated = await migration.serve();
    expect(await stored('select username, username_key from users order by username')).toEqual([
      { username: 'Ann', username_key: 'Ann' },
      { username: 'ann', username_key: 'ann' },
    ]);
    expect(await migrated.canSignIn('Ann', PASSWORD)).toBe(true);
    expect(await migrated.canSignIn('ann', PASSWORD)).toBe(false);
    // The rule of MAS: nobody.
    expect(await migrated.canSignIn('ANN', PASSWORD)).toBe(false);
  });

  test('case 8: of two accounts with the same address, the older row keeps it', async () => {
    const [bob, caro] = [await addUser('bob'), await addUser('caro')];
    await addEmail(caro, 'team@example.org', '2025-02-01T00:00:00Z');
    await addEmail(bob, 'team@example.org', '2025-01-01T00:00:00Z');
    const { exitCode, warnings } = await migration.check();
    expect(exitCode).toBe(11);
    expect(warnings.find(({ code }) => code === 'duplicate_emails')?.message).toContain('caro team@example.org');
    await migration.migrate();
    expect(await stored('select username, email from user_emails e join users u on u.id = e.user_id')).toEqual([
      { username: 'bob', email: 'team@example.org' },
    ]);
    expect(await stored('select user_id, address from user_unsupported_threepids')).toEqual([
      { user_id: caro, address: 'team@example.org' },
    ]);
  });

  test('case 9: an account that has an address twice has it once', async () => {
    const bob = await addUser('bob');
    await addEmail(bob, 'Team@Example.org', '2025-01-01T00:00:00Z');
    await addEmail(bob, 'team@example.org', '2025-02-01T00:00:00Z');
    await migration.migrate();
    expect(await stored('select email_key from user_emails')).toEqual([{ email_key: 'team@example.org' }]);
    expect(await stored('select address from user_unsupported_threepids')).toEqual([]);
  });

  test('case 13: a guest is an account that cannot sign in', async () => {
    await addUser('alice', { is_guest: true });
    expect((await migration.check()).warnings.map(({ code }) => code)).toContain('guest_users');
    const migrated = await migration.serve();
    expect(await stored('select is_guest from users')).toEqual([{ is_guest: true }]);
    expect(await migrated.canSignIn('alice', PASSWORD)).toBe(false);
  });

  test('shows the same ID in the account API', async () => {
    const alice = await addUser('alice');
    await addPassword(alice, H1);
    const migrated = await migration.serve();
    const browser = migrated.browser();
    await migrated.signIn('alice', PASSWORD, browser);
    const { body } = await browser.postRaw(
      '/graphql',
      JSON.stringify({ query: '{ viewer { ... on User { id username } } }' }),
      {
        'content-type': 'application/json',
      },
    );
    expect(JSON.parse(body)).toMatchObject({ data: { viewer: { id: `user:${ulid(alice)}`, username: 'alice' } } });
  });
});
