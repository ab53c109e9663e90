import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { HEX, KEYS, MATRIX, SMALLEST } from '#config/mas/documents.test-support.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { runMasProgram } from './mas-program.ts';
import { runCommand } from './run-command.test-support.ts';

const homeserver = await sharedByTests(startStandInHomeserver(MATRIX.secret));
let directory: string;
let testDatabase: TestDatabase;

beforeAll(async () => {
  // Each run adds an exit listener that flushes its log.
  process.setMaxListeners(50);
  testDatabase = await createTestDatabase();
  directory = mkdtempSync(join(tmpdir(), 'latchkey-mas-cli-'));
  const document = { ...SMALLEST, matrix: { ...MATRIX, endpoint: homeserver.endpoint } };
  const database = { uri: testDatabase.connectionString };
  writeFileSync(join(directory, 'config.yaml'), stringify({ ...document, database }), { mode: 0o600 });
  mkdirSync(join(directory, 'below'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await testDatabase.drop();
});

/** Runs `mas-cli` in a directory below the one of its configuration. */
async function mas(words: readonly string[], environment: Record<string, string> = {}) {
  return await runCommand(words, { workingDirectory: join(directory, 'below'), environment }, runMasProgram);
}

const REGISTER = ['manage', 'register-user', '--yes', '--ignore-password-complexity', '-p', 'secret'];

describe('mas-cli', () => {
  test('finds config.yaml in a directory above and checks it', async () => {
    const { exitCode, out, err } = await mas(['config', 'check']);
    expect([exitCode, err.includes('Error')]).toEqual([0, false]);
    expect(out).toBe(`Configuration is valid: ${join(directory, 'config.yaml')}\n`);
  });

  test('prints tokens and ids at the end of messages on standard error, and writes no file', async () => {
    const registered = await mas([...REGISTER, '-a', 'alice']);
    expect([registered.exitCode, registered.out]).toEqual([0, expect.stringMatching(/^[0-9A-Z]{26}\talice\n$/)]);
    expect(registered.err).toMatch(/ INFO mas_cli: User registered user\.id=[0-9A-Z]{26} username=alice\n$/);
    const token = await mas(['manage', 'issue-user-registration-token', '--token', 'class-of.26', '--unlimited']);
    expect(token.err).toMatch(/ INFO mas_cli: Created user registration token: class-of\.26\n$/);
    const compat = await mas(['manage', 'issue-compatibility-token', 'ALICE', 'DEVICE']);
    expect([compat.exitCode, compat.out]).toEqual([0, expect.stringMatching(/^mct_\w+\n$/)]);
    expect(compat.err).toMatch(/ INFO mas_cli: Compatibility token issued: mct_\w+\n$/);
    const admins = await mas(['manage', 'list-admin-users']);
    expect(admins.err).toMatch(/ \(1 total\):\n.* user\.id=[0-9A-Z]{26} username=alice\n$/s);
    expect(existsSync(join(directory, 'below/data'))).toBe(false);
  });

  test('RUST_LOG=warn hides the messages', async () => {
    const words = ['manage', 'issue-user-registration-token', '--token', 'hidden'];
    const { out, err } = await mas(words, { RUST_LOG: 'warn' });
    expect([out, err.includes('mas_cli')]).toEqual(['hidden\n', false]);
  });

  test('kill-sessions keeps personal sessions', async () => {
    await mas([...REGISTER, 'bob']);
    const { exitCode, out } = await mas(['manage', 'kill-sessions', 'bob', '--dry-run']);
    expect([exitCode, out.includes('personal')]).toEqual([0, false]);
  });

  test('config dump prints the merged document of MAS with its secrets', async () => {
    const { exitCode, out } = await mas(['config', 'dump'], { MAS_EMAIL_FROM: 'a@example.org' });
    expect(exitCode).toBe(0);
    expect(parse(out)).toMatchObject({
      matrix: { secret: MATRIX.secret },
      secrets: { encryption: HEX, keys: [{ key: KEYS[0] }, { key: KEYS[1] }] },
      email: { from: 'a@example.org' },
    });
  });

  test('config generate writes a document of MAS over an existing file, and it is valid', async () => {
    const path = join(directory, 'below/generated.yaml');
    writeFileSync(path, 'former');
    expect((await mas(['config', 'generate', '-o', path])).exitCode).toBe(0);
    expect(parse(readFileSync(path, 'utf8'))).toMatchObject({
      matrix: { kind: 'synapse' },
      http: { listeners: [{}, {}] },
    });
    expect((await mas(['config', 'check', '-c', path])).exitCode).toBe(0);
  });

  test.each([
    ['a wrong configuration', ['config', 'check'], { MAS_CONFIG: 'absent.yaml' }, 1],
    ['an unknown user', ['manage', 'lock-user', 'stranger'], {}, 1],
    ['a wrong command line', ['manage', 'lock-user'], {}, 2],
    ['findings of doctor', ['doctor'], {}, 0],
    ['the version', ['--version'], {}, 0],
  ])('ends with the exit code of MAS: %s', async (_, words, environment: Record<string, string>, code) => {
    const { exitCode, err } = await mas(words, environment);
    expect(exitCode).toBe(code);
    if (code === 1) expect(err).toMatch(/^Error: /m);
    expect(err).not.toContain('latchkey:');
  });

  /** Every command and option of MAS, in the forms that its help shows. */
  const ACCEPTED: readonly string[] = [
    ...[
      'config check',
      'config dump',
      'config dump -o DIRECTORY/dump.yaml',
      'config dump --output DIRECTORY/dump.yaml',
    ],
    ...[
      'config generate --output DIRECTORY/made.yaml',
      'config sync',
      'config sync --prune --dry-run',
      'database migrate',
    ],
    ...['manage register-user -y -p secret -e eve@example.org -A eve -d Eve --ignore-password-complexity'],
    ...['manage add-email eve second@example.org', 'manage verify-email eve second@example.org'],
    ...['manage set-password --ignore-complexity eve other', 'manage promote-admin eve', 'manage demote-admin eve'],
    ...['manage list-admin-users', 'manage provision-all-users', 'manage kill-sessions --dry-run eve'],
    'manage issue-compatibility-token eve DEVICE --yes-i-want-to-grant-synapse-admin-privileges',
    'manage issue-user-registration-token --usage-limit 3 --expires-in 3600',
    ...['manage lock-user eve', 'manage unlock-user eve', 'manage lock-user eve --deactivate'],
    ...[
      'manage unlock-user --reactivate eve',
      'templates check',
      'templates check --out-dir DIRECTORY/out --stabilise',
    ],
    ...['debug policy', 'debug policy --with-dynamic-data', 'doctor', 'help'],
  ];
  test('accepts every command of MAS with its options', async () => {
    const outcomes: (readonly [string, number])[] = [];
    for (const line of ACCEPTED) {
      const words = line.split(' ').map((word) => word.replace('DIRECTORY', directory));
      outcomes.push([line, (await mas(words)).exitCode]);
    }
    expect(outcomes).toEqual(ACCEPTED.map((line) => [line, 0]));
  });

  test.each([
    ['server --no-migrate --no-worker --no-sync'],
    ['worker'],
    ['syn2mas check --synapse-config a.yaml --synapse-config b.yaml --ignore-missing-auth-providers'],
    ['syn2mas migrate --dry-run --synapse-config a.yaml --synapse-database-uri postgresql://nobody@127.0.0.1:1/none'],
    ['-c a.yaml manage register-user eve --upstream-provider-mapping 01HZX7T3Q8V3M5N6P7R8S9T0AB:subject --yes --admin'],
    ['config check --config a.yaml --config b.yaml'],
  ])('reads the options of a command that cannot run here: %s', async (line) => {
    const { exitCode, err } = await mas(line.split(' '), { MAS_CONFIG: 'absent.yaml' });
    expect([exitCode, err.includes('unknown option')]).toEqual([1, false]);
  });

  test('the version begins with the name of the program', async () => {
    expect((await mas(['-V'])).out).toBe('mas-cli v1.2.3\n');
  });

  test('accepts --migrate of server, which has no effect', async () => {
    const { err } = await mas(['server', '--migrate'], { MAS_CONFIG: 'absent.yaml' });
    expect(err).toContain('matrix: missing');
  });
});
