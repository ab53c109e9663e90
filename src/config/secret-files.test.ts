import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ExitError } from '#platform/base/errors.ts';
import { load, problemsOf, workingDirectory } from './fixture.test-support.ts';
import { loadConfig } from './load.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const HEX = 'ab'.repeat(32);

describe('k_file', () => {
  test('provides the content of the file without the final line ending', () => {
    const { config } = load({
      files: {
        'conf/latchkey.yaml': 'database: {host: h, password_file: ./password}\n',
        'conf/password': '  pass word \r\n',
      },
      named: ['conf/latchkey.yaml'],
    });
    const { server } = config.database;
    expect(server.kind === 'postgres' && server.password?.reveal()).toBe('  pass word ');
  });

  test('trims whitespace around encryption key, homeserver and client secrets', () => {
    const { config } = load({
      files: {
        'latchkey.yaml': [
          'secrets: {encryption_file: key, encryption_previous: [{file: key}]}',
          'homeserver: {kind: none, secret_file: shared}',
          `clients: [{client_id: ${ULID}, client_auth_method: client_secret_post, client_secret_file: shared}]`,
        ].join('\n'),
        key: `\n ${HEX}\n\n`,
        shared: ' a shared secret of ours \n\n',
      },
    });
    expect(config.secrets.encryption?.reveal()).toBe(HEX);
    expect(config.secrets.encryptionPrevious.map((key) => key.reveal())).toEqual([HEX]);
    expect(config.homeserver.secret?.reveal()).toBe('a shared secret of ours');
    expect(config.clients[0]?.clientSecret?.reveal()).toBe('a shared secret of ours');
  });

  test('together with k in one source is an error that names both', () => {
    const yaml = 'database:\n  host: h\n  password: x\n  password_file: y\n';
    expect(problemsOf({ files: { 'latchkey.yaml': yaml, y: 'z' } })).toEqual([
      'database.password: set together with "database.password_file"; set only one of the two (latchkey.yaml:3:3)',
    ]);
    const environment = { LATCHKEY__DATABASE__PASSWORD: 'x', LATCHKEY__DATABASE__PASSWORD_FILE: 'y' };
    expect(problemsOf({ environment })).toEqual([
      'database.password: set together with "database.password_file"; set only one of the two (LATCHKEY__DATABASE__PASSWORD)',
    ]);
  });

  test('and k are one setting: the source of higher precedence wins', () => {
    const files = {
      'a.yaml': 'database: {host: h, password_file: a}\n',
      'b.yaml': 'database: {password: from b}\n',
      'c.yaml': 'database: {password_file: c}\n',
      a: 'from a',
      c: 'from c',
    };
    const password = (...named: string[]) => {
      const { server } = load({ files, named }).config.database;
      return server.kind === 'postgres' ? server.password?.reveal() : undefined;
    };
    expect(password('a.yaml', 'b.yaml')).toBe('from b');
    expect(password('b.yaml', 'a.yaml')).toBe('from a');
    expect(password('a.yaml', 'b.yaml', 'c.yaml')).toBe('from c');
  });

  test('that cannot be read is one problem with key and path', () => {
    const yaml = `clients:\n  - client_id: ${ULID}\n    client_auth_method: client_secret_post\n    client_secret_file: /gone\n`;
    expect(problemsOf({ files: { 'latchkey.yaml': yaml } })).toEqual([
      'clients[0].client_secret_file: cannot read the file /gone: no such file (latchkey.yaml:4:25)',
    ]);
  });

  test('over 64 KiB is rejected, exactly 64 KiB is not', () => {
    const yaml = 'database: {host: h, password_file: big}\n';
    const files = (bytes: number) => ({ 'latchkey.yaml': yaml, big: 'x'.repeat(bytes) });
    expect(problemsOf({ files: files(65_536) })).toEqual([]);
    expect(problemsOf({ files: files(65_537) })).toEqual([
      expect.stringMatching(
        /^database\.password_file: the file \S+\/big is larger than 64 KiB \(latchkey\.yaml:1:36\)$/,
      ),
    ]);
  });

  test('with invalid content is a problem at the file, without the content', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': 'secrets: {encryption_file: key}\n', key: 'hunter2' } })).toEqual([
      'secrets.encryption: expected 64 hexadecimal characters, got [secret] (latchkey.yaml:1:28)',
    ]);
  });

  test('that is not a path is a problem', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': 'database: {host: h, password_file: [x]}\n' } })).toEqual([
      'database.password_file: expected a path, got a list (latchkey.yaml:1:36)',
    ]);
  });
});

describe('signing keys', () => {
  const pem = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----';

  test('PEM stays text, DER becomes base64', () => {
    const { keys } = load({
      files: {
        'latchkey.yaml': 'secrets: {keys: [{key_file: a.pem, kid: one}, {key_file: b.der, password: p}]}\n',
        'a.pem': `${pem}\n`,
        'b.der': Buffer.from([0x30, 0x82, 0xff, 0x00]),
      },
    }).config.secrets;
    expect(keys.map(({ key, ...rest }) => ({ ...rest, key: key.reveal(), password: rest.password?.reveal() }))).toEqual(
      [
        {
          name: 'secrets.keys[0]',
          kid: 'one',
          encoding: 'utf8',
          key: pem,
          alg: undefined,
          password: undefined,
          useForSigning: true,
        },
        {
          name: 'secrets.keys[1]',
          kid: undefined,
          encoding: 'base64',
          key: 'MIL/AA==',
          alg: undefined,
          password: 'p',
          useForSigning: true,
        },
      ],
    );
  });

  test('an entry without a key is rejected', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': 'secrets: {keys: [{kid: x}]}\n' } })).toEqual([
      'secrets.keys[0]: needs "key" or "key_file" (latchkey.yaml:1:18)',
    ]);
  });

  test('keys_dir adds its files in byte order, except hidden, temporary and public ones', () => {
    const content = { b: pem, B: pem, '.hidden': '', 'x~': '', 'x.tmp': '', 'x.pub': '', 'sub/x': '' };
    const files = Object.fromEntries(Object.entries(content).map(([name, text]) => [`keys/${name}`, text]));
    const { config, directory } = load({
      files: {
        ...files,
        'latchkey.yaml': `secrets: {keys: [{key: "${pem.replaceAll('\n', '\\n')}"}], keys_dir: keys}\n`,
      },
    });
    expect(config.secrets.keys.map(({ name }) => name)).toEqual([
      'secrets.keys[0]',
      join(directory, 'keys/B'),
      join(directory, 'keys/b'),
    ]);
  });

  test('a missing keys_dir is a problem', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': 'secrets: {keys_dir: /gone}\n' } })).toEqual([
      'secrets.keys_dir: cannot read the directory /gone: no such file (latchkey.yaml:1:21)',
    ]);
  });
});

describe('secret files accessible to other users (operations 1.3, security S-184)', () => {
  const root = { uid: 0, groups: [0] };
  const isRoot = process.getuid?.() === 0;
  /** Creates a directory with these files, all owned by a user other than root. */
  function foreign(files: Readonly<Record<string, string>>): string {
    const directory = workingDirectory(files);
    if (isRoot) for (const name of Object.keys(files)) chownSync(join(directory, name), 65_534, 65_534);
    return directory;
  }
  function problems(directory: string): string {
    const sources = { files: ['latchkey.yaml'], environment: {}, flags: {}, workingDirectory: directory };
    try {
      loadConfig({ ...sources, account: root });
      return '';
    } catch (error) {
      return error instanceof ExitError && error.exitCode === 78 ? error.message : String(error);
    }
  }

  test('a key file of another user is rejected at startup as root, at the line that names it', () => {
    const directory = foreign({ key: HEX });
    writeFileSync(join(directory, 'latchkey.yaml'), 'secrets: {encryption_file: key}\n', { mode: 0o600 });
    expect(problems(directory)).toMatch(
      /^ {2}secrets\.encryption_file: \S+\/key belongs to user \d+, .*run chown root on the file.*\(latchkey\.yaml:1:28\)$/m,
    );
  });

  test('a keys_dir writable by another user is rejected at startup as root', () => {
    const directory = workingDirectory({ 'latchkey.yaml': 'secrets: {keys_dir: keys}\n', 'keys/a.pem': 'PEM' });
    if (isRoot) chownSync(join(directory, 'keys'), 65_534, 65_534);
    expect(problems(directory)).toMatch(/^ {2}secrets\.keys_dir: \S+\/keys belongs to user \d+/m);
  });

  test('a configuration file of another user is rejected at startup as root when it contains secrets', () => {
    const withSecret = foreign({ 'latchkey.yaml': `secrets: {encryption: ${HEX}}\n` });
    expect(problems(withSecret)).toMatch(/^ {2}\S+\/latchkey\.yaml belongs to user \d+.*\(latchkey\.yaml:1:1\)$/m);
    expect(problems(foreign({ 'latchkey.yaml': 'branding: {service_name: Ours}\n' }))).toBe('');
  });

  test.each([
    ['a root key', `secrets: {encryption: ${HEX}}`, 1],
    ['a database password', 'database: {uri: "postgres://role:pass@db/name"}', 1],
    ['no secret: a database without a password', 'database: {uri: "postgres://role@db/name"}', 0],
    ['no secret: the file of one', 'database: {host: h, password_file: password}', 0],
  ])('a world-readable configuration file that contains %s: %#', (_what, yaml, count) => {
    const directory = workingDirectory({ 'latchkey.yaml': `${yaml}\n`, password: 'pass' });
    chmodSync(join(directory, 'latchkey.yaml'), 0o644);
    const sources = { files: ['latchkey.yaml'], environment: {}, flags: {}, workingDirectory: directory };
    const said = loadConfig(sources).warnings;
    expect(said).toHaveLength(count);
    if (count > 0) {
      expect(said[0]).toMatch(
        /latchkey\.yaml has mode 0644: every system user can read it; run chmod o-r on it; it contains secrets/,
      );
    }
  });

  test('a world-writable file with secrets is rejected, whichever account starts the service', () => {
    const directory = workingDirectory({ 'latchkey.yaml': 'secrets: {encryption_file: key}\n', key: HEX });
    chmodSync(join(directory, 'key'), 0o602);
    const sources = { files: ['latchkey.yaml'], environment: {}, flags: {}, workingDirectory: directory };
    expect(() => loadConfig(sources)).toThrow(/key has mode 0602: every system user can write to it/);
  });
});
