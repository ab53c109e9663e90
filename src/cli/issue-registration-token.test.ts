import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { runCommand } from './run-command.test-support.ts';

const BY_INVITATION = { password_registration_enabled: true, password_registration_token_required: true };
let directory: string;
let testDatabase: TestDatabase;

beforeAll(async () => {
  // Each run adds an exit listener that flushes its log.
  process.setMaxListeners(50);
  testDatabase = await createTestDatabase();
  directory = mkdtempSync(join(tmpdir(), 'latchkey-token-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await testDatabase.drop();
});

async function issue(options: readonly string[], account: object = BY_INVITATION) {
  const file = join(directory, 'latchkey.yaml');
  const settings = {
    secrets: { encryption: 'ab'.repeat(32) },
    database: { uri: testDatabase.connectionString },
    logging: { output: join(directory, 'log') },
    account,
  };
  writeFileSync(file, stringify(settings), { mode: 0o600 });
  return await runCommand(['manage', 'issue-user-registration-token', '-c', file, ...options], {
    workingDirectory: directory,
  });
}

async function newest(): Promise<object | undefined> {
  const rows = await sql<object>(
    testDatabase.database,
    `select usage_limit, times_used, extract(epoch from expires_at - created_at)::integer as seconds
       from user_registration_tokens order by created_at desc limit 1`,
  );
  return rows[0];
}

describe('manage issue-user-registration-token (operations 3.5)', () => {
  test('prints a token of twelve random letters and digits for one account, without expiry', async () => {
    const first = await issue([]);
    expect(first.exitCode).toBe(0);
    expect(first.out).toMatch(/^[0-9A-Za-z]{12}\n$/);
    expect(first.err).toBe(`Registration link: http://localhost:8080/register?token=${first.out.trim()}\n`);
    expect(await newest()).toEqual({ usage_limit: 1, times_used: 0, seconds: null });
    expect((await issue([])).out).not.toBe(first.out);
  });

  test('creates the requested token with its number of uses and expiry', async () => {
    expect((await issue(['--token', 'class-of.26', '--usage-limit', '30', '--expires-in', '7d'])).out).toBe(
      'class-of.26\n',
    );
    expect(await newest()).toEqual({ usage_limit: 30, times_used: 0, seconds: 604_800 });
    const { out } = await issue(['--json', '--unlimited', '--expires-in', '60']);
    expect(JSON.parse(out)).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      token: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
      usage_limit: null,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      url: expect.stringMatching(/^http:\/\/localhost:8080\/register\?token=[0-9A-Za-z]{12}$/),
    });
    expect(await newest()).toEqual({ usage_limit: null, times_used: 0, seconds: 60 });
  });

  test('creates an invitation for an address, with groups and a note (administration A-16)', async () => {
    const options = ['--email', 'Guest@mail.example', '--group', 'deck', '--group', 'crew', '--note', 'Spring'];
    expect((await issue(options)).exitCode).toBe(0);
    const [row] = await sql<object>(
      testDatabase.database,
      `select email, note, created_by, usage_limit,
              array(select g.name from user_groups g where g.id = any(t.group_ids) order by g.name) as groups
         from user_registration_tokens t order by created_at desc limit 1`,
    );
    expect(row).toEqual({
      email: 'Guest@mail.example',
      note: 'Spring',
      created_by: null,
      usage_limit: 1,
      groups: ['crew', 'deck'],
    });
  });

  test('stores no token in plain text, neither in the database nor in the log', async () => {
    const { out } = await issue(['--token', 'Plainly-Visible']);
    expect(out).toBe('Plainly-Visible\n');
    const stored = await sql<{ row: string }>(
      testDatabase.database,
      `select encode(token_hmac, 'escape') || encode(token_sealed, 'escape') as row from user_registration_tokens`,
    );
    expect(stored.map(({ row }) => row).join()).not.toContain('Plainly');
    expect(readFileSync(join(directory, 'log'), 'utf8')).not.toContain('Plainly');
  });

  test('rejects an existing token', async () => {
    await issue(['--token', 'once']);
    const again = await issue(['--token', 'once']);
    expect(again).toMatchObject({ exitCode: 1, out: '', err: 'latchkey: a token with this value already exists\n' });
    expect((await issue(['--token', 'Once'])).exitCode).toBe(0);
  });

  test.each([
    [['--token', 'a b'], 'a token must have 1 to 64 letters'],
    [['--token', ''], 'a token must have 1 to 64 letters'],
    [['--token', 'x'.repeat(65)], 'a token must have 1 to 64 letters'],
    [['--usage-limit', '0'], 'Expected an integer of 1 or more.'],
    [['--usage-limit', '1.5'], 'Expected an integer of 1 or more.'],
    [['--usage-limit', '2', '--unlimited'], 'cannot be used with option'],
    [['--expires-in', '0'], 'from 1 second to 10 years'],
    [['--expires-in', '9999999999d'], 'from 1 second to 10 years'],
    [['--expires-in', 'soon'], 'Expected seconds'],
    [['--email', 'nobody'], 'not an email address: nobody'],
    [['--email', 'guest@mail.example', '--unlimited'], 'valid for one account'],
    [['--group', ' crew'], 'not a group name: " crew"'],
    [['--send'], '--send requires --email'],
    [['--note', ''], '1 to 500 characters'],
  ])('rejects %j', async (options, message) => {
    const { exitCode, out, err } = await issue(options);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(message);
  });

  test('warns when registration does not ask for a token', async () => {
    expect((await issue([], {})).err).toContain('account.password_registration_enabled is off');
    const open = { password_registration_enabled: true };
    expect((await issue([], open)).err).toContain('account.password_registration_token_required is off');
  });
});
