import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '#config/config.ts';
import { findUserByName } from '#domain/accounts/find-user.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import type { Database } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import { CHEAP_SCHEME, cheapHasher, insertTestAccount } from '#test/support/accounts.ts';
import { testConfig } from '#test/support/app.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { randomRoot } from '#test/support/fixtures.ts';
import { NO_MODULE_RULES } from '#test/support/module-rules.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import type { ManageDeps } from './accounts.ts';
import { ensureFirstAdmin } from './first-admin.ts';
import type { Prompts } from './prompts.ts';
import { type RegisterUserOptions, registerUserCommand } from './register-user.ts';
import { type SetPasswordOptions, setPasswordCommand } from './set-password.ts';

const STRONG = 'vortex-Lampion 71 pergola';
const directory = mkdtempSync(join(tmpdir(), 'latchkey-manage-'));
const hasher = cheapHasher();
const clock = new FakeClock();
let estimator: StrengthEstimator;
let database: Database;
let output: { stdout: string; stderr: string };

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  database = testDatabase.database;
  const url = new URL('../domain/accounts/passwords/strength.worker.ts', import.meta.url);
  estimator = new StrengthEstimator(await bundleWorker(url));
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
  await estimator.close();
});

beforeEach(() => {
  output = { stdout: '', stderr: '' };
});

/** A strong password that was leaked. */
const LEAKED = 'ein Walross pfeift im Regen';

const NO_HOMESERVER = testConfig('http://localhost/', []);

function deps(
  io: { stdin?: string; prompts?: Prompts; config?: Pick<Config, 'homeserver' | 'protocolName'> } = {},
): ManageDeps {
  return {
    database,
    clock,
    log: silentLog,
    keyRing: new KeyRing(randomRoot()),
    hasher,
    rules: {
      estimator,
      ...{ minimumComplexity: 3, minimumLength: 8, maximumLength: 1024, moduleRules: NO_MODULE_RULES },
      leakedPasswords: { has: async (password) => password === LEAKED },
    },
    serverName: 'example.org',
    serviceName: 'Latchkey',
    defaultLanguage: 'de',
    sendsNotices: false,
    adminArea: 'https://login.example/admin/',
    publicBase: 'https://login.example/',
    issuer: 'https://login.example/',
    scopeRules: new ScopeRules('chat', []),
    listedAdmins: [],
    homeserver: openHomeserver({ config: io.config ?? NO_HOMESERVER, clock, log: silentLog, version: '0' }),
    io: {
      stdin: Readable.from(io.stdin === undefined ? [] : [Buffer.from(io.stdin)]),
      prompts: io.prompts,
      stdout: (text) => {
        output.stdout += text;
      },
      stderr: (text) => {
        output.stderr += text;
      },
    },
  };
}

/** Answers prompts in order, and records the questions and notes. */
class ScriptedPrompts implements Prompts {
  readonly seen: string[] = [];
  readonly #answers: (string | boolean)[];

  constructor(...responses: (string | boolean)[]) {
    this.#answers = responses;
  }

  text(question: string): Promise<string> {
    return Promise.resolve(String(this.#next(question)));
  }

  password(question: string): Promise<string> {
    return Promise.resolve(String(this.#next(question)));
  }

  confirm(question: string): Promise<boolean> {
    return Promise.resolve(this.#next(question) === true);
  }

  note(title: string, lines: readonly string[]): void {
    this.seen.push(title, ...lines);
  }

  #next(question: string): string | boolean {
    this.seen.push(question);
    const response = this.#answers.shift();
    if (response === undefined) throw new Error(`nothing prepared for: ${question}`);
    return response;
  }
}

const passwordOf = statement<{ hash: string; scheme_version: number }, { readonly userId: string }>(
  'test-manage-password',
  'select hash, scheme_version from user_passwords where user_id = :userId::uuid',
);
const emailsOf = statement<{ email: string }, { readonly userId: string }>(
  'test-manage-emails',
  'select email from user_emails where user_id = :userId::uuid order by email',
);
const countUsers = statement<{ count: number }, NoParameters>(
  'test-count-users',
  'select count(*)::integer as count from users',
);
const insertSessions = statement<
  never,
  {
    readonly browser: string;
    readonly oauth2: string;
    readonly client: string;
    readonly userId: string;
    readonly now: Date;
  }
>(
  'test-manage-sessions',
  `with client as (
    insert into oauth2_clients (id, is_static, metadata, created_at) values (:client::uuid, true, '{}', :now::timestamptz)
    on conflict (id) do nothing
  ), personal as (
    insert into personal_sessions (id, owner_user_id, actor_user_id, human_name, scope, created_at)
    values (:oauth2::uuid, :userId::uuid, :userId::uuid, 'a program', '{}', :now::timestamptz)
  ), browser as (
    insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at)
    values (:browser::uuid, :userId::uuid, '', :now::timestamptz, :now::timestamptz)
  )
  insert into oauth2_sessions (id, user_id, client_id, scope, created_at)
  values (:oauth2::uuid, :userId::uuid, :client::uuid, '{openid}', :now::timestamptz)`,
);
const countLive = statement<{ browser: number; oauth2: number }, { readonly userId: string }>(
  'test-manage-live',
  `select
    (select count(*)::integer from user_sessions where user_id = :userId::uuid and finished_at is null) as browser,
    (select count(*)::integer from oauth2_sessions where user_id = :userId::uuid and finished_at is null) as oauth2`,
);

async function isPassword(username: string, password: string): Promise<boolean> {
  const user = await findUserByName(database, username);
  const row = user === undefined ? undefined : await database.first(passwordOf, { userId: toUuid(user.id) });
  if (row === undefined) return false;
  const stored = { hash: row.hash, schemeVersion: row.scheme_version };
  return (await hasher.verify(stored, password, { address: 'test' })).isRight;
}

describe('manage register-user', () => {
  const register = (options: Partial<RegisterUserOptions>, io: Parameters<typeof deps>[0] = {}): Promise<void> =>
    registerUserCommand(deps(io), {
      emails: [],
      upstreamProviderMapping: [],
      yes: true,
      ignorePasswordComplexity: false,
      skipHomeserverCheck: false,
      json: false,
      ...options,
    });

  test('creates the user with email addresses, password from stdin, and admin flag', async () => {
    await register(
      {
        username: 'alice',
        emails: ['Alice@Example.net', 'alice@other.example', 'ALICE@example.net'],
        admin: true,
        displayName: 'Alice A.',
        passwordFile: '-',
        json: true,
      },
      { stdin: `${STRONG}\n` },
    );
    const user = await findUserByName(database, 'alice');
    expect(user).toMatchObject({ username: 'alice', displayName: 'Alice A.', canRequestAdmin: true });
    expect(JSON.parse(output.stdout)).toEqual({
      id: user?.id,
      username: 'alice',
      admin: true,
      emails: ['ALICE@example.net', 'alice@other.example'],
    });
    expect(output.stderr).toBe('admin area: https://login.example/admin/\n');
    expect(await isPassword('alice', STRONG)).toBe(true);
    expect(await database.rows(emailsOf, { userId: toUuid(user?.id ?? neverId()) })).toHaveLength(2);
  });

  test('gives an account the requested language, otherwise the default of the service', async () => {
    await register({ username: 'austrian', locale: 'de-at' });
    await register({ username: 'unspoken' });
    expect(await findUserByName(database, 'austrian')).toMatchObject({ locale: 'de-AT' });
    expect(await findUserByName(database, 'unspoken')).toMatchObject({ locale: 'de' });
  });

  test('warns of missing data, and prints ID and name', async () => {
    await register({ username: 'bare' });
    expect(output.stderr).toContain('no email address');
    expect(output.stderr).toContain('no password');
    expect(output.stdout).toMatch(/^[0-9A-Z]{26}\tbare\n$/);
    expect(await findUserByName(database, 'bare')).toMatchObject({ canRequestAdmin: false });
  });

  test('warns that a password on the command line is visible, and never prints one', async () => {
    await register({ username: 'visible', password: STRONG });
    expect(output.stderr).toContain('visible to other users');
    expect(output.stdout + output.stderr).not.toContain(STRONG);
    expect(await isPassword('visible', STRONG)).toBe(true);
  });

  test('reads a password file without its final line ending', async () => {
    const file = join(directory, 'password');
    writeFileSync(file, ` ${STRONG} \r\n`);
    await register({ username: 'filed', passwordFile: file });
    expect(await isPassword('filed', ` ${STRONG} `)).toBe(true);
  });

  test.each([
    ['a username outside the grammar', { username: 'Alice' }, 1, 'lowercase letters a to z'],
    ['a reserved username', { username: '_alice' }, 1, 'starts with an underscore'],
    ['a common password', { username: 'weak', password: 'password1' }, 1, 'one of the most common'],
    ['a weak password', { username: 'weak', password: 'aaaaaaaaaaaaaaab' }, 1, 'password is too weak'],
    ['a leaked password', { username: 'weak', password: LEAKED }, 1, 'password is known from data breaches'],
    ['a short password', { username: 'weak', password: 'x7#qP' }, 1, 'at least 8 characters'],
    ['a password like the name', { username: 'florentina.b', password: 'florentina.b' }, 1, 'too weak'],
    ['something that is not an address', { username: 'weak', emails: ['weak'] }, 1, 'weak is not an email address'],
    ['a display name over 255 characters', { username: 'weak', displayName: 'x'.repeat(256) }, 1, '255'],
    ['a display name with a line feed', { username: 'weak', displayName: 'A\nB' }, 1, 'control characters'],
    ['a display name that turns the text', { username: 'weak', displayName: 'A\u202eB' }, 1, 'text direction'],
    ['a display name of blanks', { username: 'weak', displayName: '  ' }, 1, 'must not be empty'],
    ['a language that is not a tag', { username: 'weak', locale: 'german please' }, 1, 'not a language tag'],
    ['two passwords', { username: 'weak', password: STRONG, passwordFile: '-' }, 2, 'either'],
    ['a missing password file', { username: 'weak', passwordFile: '/nowhere/x' }, 1, 'file /nowhere/x: no such file'],
    ['a name with a space', { username: 'al ice' }, 1, 'not allowed: allowed characters are lowercase letters a to z'],
    ['an empty password file', { username: 'weak', passwordFile: '-' }, 1, 'empty'],
    ['no username', {}, 2, 'username is missing'],
    ['no terminal and no --yes', { username: 'weak', yes: false }, 2, '--yes'],
  ])('rejects %s and writes nothing', async (_, options, exitCode, message) => {
    const before = await database.first(countUsers, {});
    await expect(register(options)).rejects.toMatchObject({ exitCode, message: expect.stringContaining(message) });
    expect(await database.first(countUsers, {})).toEqual(before);
  });

  test('rejects names and addresses that are taken, in any case, also by deactivated users', async () => {
    await insertTestAccount(database, { username: 'former', email: 'former@example.net', isDeactivated: true });
    await insertTestAccount(database, { username: 'Imported' });
    await expect(register({ username: 'former' })).rejects.toMatchObject({ exitCode: 1, message: /is already taken/ });
    await expect(register({ username: 'imported' })).rejects.toMatchObject({ exitCode: 1 });
    await expect(register({ username: 'newcomer', emails: ['FORMER@example.net'] })).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('FORMER@example.net is already taken'),
    });
    expect(await findUserByName(database, 'newcomer')).toBeUndefined();
  });

  test('creates one of twenty simultaneous users with the same name', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => register({ username: 'contested' })));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ exitCode: 1 });
  });

  test('accepts a weak password on request', async () => {
    await register({ username: 'lenient', password: 'short', ignorePasswordComplexity: true });
    expect(await isPassword('lenient', 'short')).toBe(true);
  });

  test('at a terminal asks for missing data, shows the equivalent command and creates after confirmation', async () => {
    const prompts = new ScriptedPrompts('asked', STRONG, STRONG, 'asked@example.net', "Ask'ed", true, true);
    await register({ yes: false }, { prompts });
    expect(await findUserByName(database, 'asked')).toMatchObject({ displayName: "Ask'ed", canRequestAdmin: true });
    expect(await isPassword('asked', STRONG)).toBe(true);
    expect(prompts.seen).toContain(
      "latchkey manage register-user --yes --admin --email asked@example.net --display-name 'Ask'\\''ed' " +
        '--password-file - asked',
    );
    expect(prompts.seen.join('\n')).not.toContain(STRONG);
  });

  test('at a terminal creates nothing after a no, or when the passwords differ', async () => {
    const declined = new ScriptedPrompts('', '', '', false, false);
    await expect(register({ username: 'unwanted', yes: false }, { prompts: declined })).rejects.toMatchObject({
      exitCode: 1,
    });
    const differing = new ScriptedPrompts(STRONG, `${STRONG}.`);
    await expect(register({ username: 'unwanted', yes: false }, { prompts: differing })).rejects.toMatchObject({
      exitCode: 1,
      message: 'the passwords do not match',
    });
    expect(await findUserByName(database, 'unwanted')).toBeUndefined();
  });
});

describe('manage set-password', () => {
  const set = (options: Partial<SetPasswordOptions>, io: Parameters<typeof deps>[0] = {}): Promise<void> =>
    setPasswordCommand(deps(io), {
      user: 'bob',
      ignoreComplexity: false,
      killSessions: false,
      json: false,
      ...options,
    });

  beforeAll(async () => {
    await insertTestAccount(database, { username: 'bob', password: 'before', email: 'bob.quist@example.net' });
  });

  test.each([['bob'], ['BOB'], ['@bob:example.org']])('replaces the password of %s', async (user) => {
    const password = `${STRONG} ${user}`;
    await set({ user, passwordFile: '-' }, { stdin: password });
    expect(await isPassword('bob', password)).toBe(true);
    expect(await isPassword('bob', 'before')).toBe(false);
  });

  test('accepts an account ID, and sets a first password', async () => {
    const id = await insertTestAccount(database, { username: 'carol' });
    await set({ user: id, password: STRONG, json: true });
    expect(JSON.parse(output.stdout)).toEqual({ id, username: 'carol' });
    expect(await isPassword('carol', STRONG)).toBe(true);
  });

  test('asks twice at a terminal', async () => {
    await set({}, { prompts: new ScriptedPrompts(`${STRONG}!`, `${STRONG}!`) });
    expect(await isPassword('bob', `${STRONG}!`)).toBe(true);
    await expect(set({}, { prompts: new ScriptedPrompts('one', 'two') })).rejects.toMatchObject({ exitCode: 1 });
  });

  test.each([
    ['an unknown user', { user: 'nobody', password: STRONG }, 1, 'user not found'],
    ['a common password', { password: 'password1' }, 1, 'one of the most common'],
    ['a leaked password', { password: LEAKED }, 1, 'password is known from data breaches'],
    ['a password like the address', { password: 'bob.quist@example.net' }, 1, 'password is too weak'],
    ['no password and no terminal', {}, 2, 'the password is missing'],
    [
      'a password over 1,024 bytes, also with --ignore-complexity',
      { password: 'x'.repeat(1025), ignoreComplexity: true },
      1,
      '',
    ],
  ])('rejects %s', async (_, options, exitCode, message) => {
    await expect(set(options)).rejects.toMatchObject({ exitCode, message: expect.stringContaining(message) });
  });

  test('a deactivated account stays without a password', async () => {
    await insertTestAccount(database, { username: 'left', isDeactivated: true });
    await expect(set({ user: 'left', password: STRONG })).rejects.toMatchObject({ exitCode: 1 });
  });

  test('ends all sessions on request, and none otherwise', async () => {
    const id = await insertTestAccount(database, { username: 'dora' });
    const [browser, oauth2, client] = ['1', '2', '3'].map((digit) => `00000000-0000-0000-0000-00000000000${digit}`);
    if (browser === undefined || oauth2 === undefined || client === undefined) throw new Error('three ids');
    await database.execute(insertSessions, { browser, oauth2, client, userId: toUuid(id), now: new Date(clock.now()) });
    await set({ user: 'dora', password: STRONG });
    expect(await database.first(countLive, { userId: toUuid(id) })).toEqual({ browser: 1, oauth2: 1 });
    await set({ user: 'dora', password: STRONG, killSessions: true });
    expect(await database.first(countLive, { userId: toUuid(id) })).toEqual({ browser: 0, oauth2: 0 });
    expect(output.stdout).toContain(
      'ended browser sessions: 1, OAuth sessions: 1, chat client sessions: 0, personal sessions: 1\n',
    );
  });

  test('hashes with the newest scheme', async () => {
    await set({ password: STRONG });
    const user = await findUserByName(database, 'bob');
    const row = await database.first(passwordOf, { userId: toUuid(user?.id ?? neverId()) });
    expect(row?.scheme_version).toBe(CHEAP_SCHEME.version);
  });
});

describe('the first admin (operations 2.4)', () => {
  let empty: TestDatabase;
  let log: RecordingLog;
  const ensure = (username: string, password: string): Promise<void> =>
    ensureFirstAdmin({ ...deps(), database: empty.database }, log, { username, password: new Secret(password) });

  beforeAll(async () => {
    empty = await createTestDatabase();
  });

  afterAll(() => empty.drop());

  beforeEach(() => {
    log = new RecordingLog();
  });

  test('is not created with a weak password or an invalid name: exit 78', async () => {
    await expect(ensure('root', 'password1')).rejects.toMatchObject({ exitCode: 78 });
    await expect(ensure('Root', STRONG)).rejects.toMatchObject({ exitCode: 78 });
    expect(await empty.database.first(countUsers, {})).toEqual({ count: 0 });
  });

  test('is created once, even by instances that start together', async () => {
    await Promise.all([ensure('root', STRONG), ensure('root', STRONG), ensure('root', STRONG)]);
    expect(await findUserByName(empty.database, 'root')).toMatchObject({ canRequestAdmin: true });
    expect(await empty.database.first(countUsers, {})).toEqual({ count: 1 });
    expect(log.lines.map((line) => line.level)).toEqual(['info', 'info', 'info']);
  });

  test('is not created where users exist: logs one line, whatever the values', async () => {
    await ensure('another', 'weak');
    expect(await empty.database.first(countUsers, {})).toEqual({ count: 1 });
    expect(log.lines).toMatchObject([{ level: 'info', message: expect.stringContaining('ignored') }]);
  });
});

function neverId(): never {
  throw new Error('the user was not created');
}
