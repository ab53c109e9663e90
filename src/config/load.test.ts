import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load, loadYaml, problemsOf, problemsOfYaml, workingDirectory } from './fixture.test-support.ts';
import { loadConfig } from './load.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';

describe('precedence', () => {
  const files = {
    'a.yaml': 'oauth: {id_token_ttl: 100, refresh_grace: 1}\nlogging: {level: error}\n',
    'b.yaml': 'oauth: {id_token_ttl: 200}\nlogging: {level: warn}\n',
  };
  const named = ['a.yaml', 'b.yaml'];

  test('a later file wins per key, and mappings merge', () => {
    const { config } = load({ files, named });
    expect(config.oauth).toMatchObject({ idTokenTtlSeconds: 200, refreshGraceSeconds: 1 });
    expect(config.logging.level).toBe('warn');
  });

  test('the environment overrides files, flags override the environment', () => {
    const environment = { LATCHKEY__OAUTH__ID_TOKEN_TTL: '300', LATCHKEY__LOGGING__LEVEL: 'debug' };
    expect(load({ files, named, environment }).config).toMatchObject({
      oauth: { idTokenTtlSeconds: 300 },
      logging: { level: 'debug' },
    });
    const flags = { logLevel: 'trace', logFormat: 'json', dataDir: 'elsewhere' };
    const { config, directory } = load({ files, named, environment, flags });
    expect(config.logging).toMatchObject({ level: 'trace', format: 'json' });
    expect(config.dataDir).toBe(join(directory, 'elsewhere'));
  });

  test('LATCHKEY_LOG overrides logging.level and contains target levels', () => {
    const environment = { LATCHKEY_LOG: 'warn,db=trace,http.server=debug', LATCHKEY__LOGGING__LEVEL: 'error' };
    expect(load({ environment }).config.logging).toMatchObject({
      level: 'warn',
      targetLevels: { db: 'trace', 'http.server': 'debug' },
    });
    expect(load({ environment, flags: { logLevel: 'info' } }).config.logging.level).toBe('info');
    expect(problemsOf({ environment: { LATCHKEY_LOG: 'loud' } })).toEqual([
      'expected "level" or "level,target=level,...", got "loud" (LATCHKEY_LOG)',
    ]);
  });

  test.each([
    [{ NO_COLOR: '1' }, 'never'],
    [{ NO_COLOR: '' }, 'auto'],
    [{}, 'auto'],
    [{ NO_COLOR: '1', LATCHKEY__LOGGING__COLOR: 'always' }, 'always'],
  ])(
    'NO_COLOR turns colors off, unless logging.color demands them: %o',
    (environment: Record<string, string>, expected) => {
      expect(load({ environment }).config.logging.color).toBe(expected);
    },
  );

  test('lists of a later file replace earlier ones', () => {
    const { config } = load({
      files: {
        'a.yaml': 'http: {trusted_proxies: [10.0.0.0/8]}\n',
        'b.yaml': 'http: {trusted_proxies: [192.0.2.1]}\n',
      },
      named,
    });
    expect(config.http.trustedProxies).toEqual([{ address: '192.0.2.1', prefixLength: 32, family: 'ipv4' }]);
  });

  test.each([
    ['http: {hsts: true}', {}, 'localhost', 8080],
    ['http: {public_base: "http://localhost:41250"}', {}, 'localhost', 41250],
    ['http: {public_base: "http://auth.localhost:41250"}', {}, 'localhost', 41250],
    ['http: {public_base: "http://127.0.0.1:41250"}', {}, '127.0.0.1', 41250],
    ['http: {public_base: "http://[::1]:41250"}', {}, '::1', 41250],
    ['http: {public_base: "http://localhost"}', {}, 'localhost', 80],
    ['http: {public_base: "https://localhost"}', {}, 'localhost', 8080],
    ['http: {public_base: "https://auth.example.org"}', {}, undefined, 8080],
    ['http: {public_base: "http://localhost:41250"}', { LATCHKEY_HOST: '::', PORT: '8080' }, '::', 8080],
  ])('without listeners, %s and %j: host %s, port %i', (yaml, environment, host, port) => {
    const { config } = load({ files: { 'latchkey.yaml': `${yaml}\n` }, environment });
    expect(config.http.listeners.map(({ binds }) => binds)).toEqual([[{ host, port }]]);
  });

  test('unknown LATCHKEY variables are reported', () => {
    const environment = { LATCHKEY_PUBLIC_BASE: 'x', LATCHKEY_HTTP_PUBLIC_BASE: 'y', LATCHKEY_LOG: 'warn', OTHER: 'z' };
    expect(load({ environment }).warnings).toEqual([
      expect.stringMatching(/^LATCHKEY_HTTP_PUBLIC_BASE is ignored: .* LATCHKEY__HTTP__PUBLIC_BASE$/),
      expect.stringMatching(/^LATCHKEY_PUBLIC_BASE is ignored: /),
    ]);
  });

  test('a key of another program is reported with its equivalent here', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': 'http: {port: 80}\n' } }).join()).toContain(
      'http.port: unknown key; set the port in "http.listeners[].binds[]", or in an "http.public_base"',
    );
  });

  test('trial mode writes emails to files and enables recovery; with a file both are off', () => {
    const trial = load().config;
    expect(trial.email.transport).toEqual({ kind: 'file', directory: `${trial.dataDir}/outbox` });
    expect(trial.account).toMatchObject({ passwordRecoveryEnabled: true, passwordRegistrationEmailRequired: false });
    const { account, email } = load({ files: { 'latchkey.yaml': 'http: {hsts: true}\n' } }).config;
    expect([email.transport.kind, account.passwordRecoveryEnabled]).toEqual(['blackhole', false]);
  });

  test('trusts only local proxies; with "private", or for Matrix, also those of private networks', () => {
    const networksOf = (yaml: string) =>
      load({ files: { 'latchkey.yaml': yaml } }).config.http.trustedProxies.map(
        ({ address, prefixLength }) => `${address}/${prefixLength}`,
      );
    const loopback = ['127.0.0.0/8', '::1/128'];
    const all = [...loopback, '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fd00::/8'];
    expect(networksOf('http: {hsts: true}\n')).toEqual(loopback);
    expect(networksOf('http: {trusted_proxies: [private, 192.0.2.1]}\n')).toEqual([...all, '192.0.2.1/32']);
    expect(networksOf('protocol_name: matrix\n')).toEqual(all);
    expect(networksOf('matrix: {kind: none}\n')).toEqual(all);
    expect(networksOf('protocol_name: matrix\nhttp: {trusted_proxies: []}\n')).toEqual([]);
  });

  test('null in a later file unsets an earlier value', () => {
    const { config } = load({
      files: {
        'a.yaml': 'oauth: {id_token_ttl: 100}\nlogging: {level: error}\n',
        'b.yaml': 'oauth: {id_token_ttl: null}\nlogging:\n',
      },
      named,
    });
    expect(config.oauth.idTokenTtlSeconds).toBe(3600);
    expect(config.logging.level).toBe('info');
  });

  test('generated secrets apply only where no source sets any', () => {
    const generated = (directory: string) => ({ encryptionKey: 'ab'.repeat(32), keysDir: join(directory, 'keys') });
    const keyFiles = { 'keys/b.pem': '-----BEGIN B', 'keys/a.pem': '-----BEGIN A' };
    const made = load({ files: keyFiles, generated }).config.secrets;
    expect(made.encryption?.reveal()).toBe('ab'.repeat(32));
    expect(made.keys.map(({ key }) => key.reveal())).toEqual(['-----BEGIN A', '-----BEGIN B']);
    const yaml = `secrets: {encryption: ${'cd'.repeat(32)}, keys: [{key: C}]}\n`;
    const own = load({ files: { ...keyFiles, 'latchkey.yaml': yaml }, generated }).config.secrets;
    expect(own.encryption?.reveal()).toBe('cd'.repeat(32));
    expect(own.keys.map(({ key }) => key.reveal())).toEqual(['C']);
  });
});

describe('configuration files', () => {
  test('come from the command line, otherwise LATCHKEY_CONFIG, otherwise the first default path, otherwise none', () => {
    const files = {
      'latchkey.yaml': 'protocol_name: usual\n',
      'config.yaml': 'protocol_name: second\n',
      'named.yaml': 'protocol_name: named\n',
      'x.yaml': 'protocol_name: x\n',
      'y.yaml': 'protocol_name: y\n',
    };
    const environment = { LATCHKEY_CONFIG: 'x.yaml:y.yaml' };
    expect(load({ files, named: ['named.yaml'], environment })).toMatchObject({
      config: { protocolName: 'named' },
      files: ['named.yaml'],
    });
    expect(load({ files, environment })).toMatchObject({ config: { protocolName: 'y' }, files: ['x.yaml', 'y.yaml'] });
    expect(load({ files })).toMatchObject({ config: { protocolName: 'usual' }, files: ['latchkey.yaml'] });
    const { 'latchkey.yaml': _, ...others } = files;
    expect(load({ files: others })).toMatchObject({ config: { protocolName: 'second' }, files: ['config.yaml'] });
  });

  test('that are named and cannot be read are reported with their name', () => {
    expect(problemsOf({ named: ['gone.yaml'] })).toEqual([
      'cannot read the configuration file: no such file (gone.yaml)',
    ]);
    expect(problemsOf({ files: { 'd/x': '' }, environment: { LATCHKEY_CONFIG: 'd' } })).toEqual([
      'cannot read the configuration file: is a directory (d)',
    ]);
  });

  test('over 4 MiB or not in UTF-8 are rejected', () => {
    expect(problemsOfYaml(`# ${'x'.repeat(4 * 1024 * 1024)}\n`)).toEqual([
      'the file is larger than 4 MiB (latchkey.yaml)',
    ]);
    const latin1 = Buffer.from('protocol_name: caf\u00e9\n', 'latin1');
    expect(problemsOf({ files: { 'latchkey.yaml': latin1 } })).toEqual(['the file is not UTF-8 (latchkey.yaml)']);
  });
});

describe('trial mode', () => {
  test('is on without a file and without a public base in the environment', () => {
    expect(load().trial).toBe(true);
    expect(load({ files: { 'latchkey.yaml': '' } }).trial).toBe(false);
    expect(load({ environment: { LATCHKEY__HTTP__PUBLIC_BASE: 'https://example.org/' } }).trial).toBe(false);
  });

  test('exposes the default listener to this machine only, unless LATCHKEY_HOST is set', () => {
    expect(load().config.http.listeners[0]?.binds).toEqual([{ host: 'localhost', port: 8080 }]);
    const environment = { LATCHKEY_HOST: '::', PORT: '9000' };
    const { http } = load({ environment }).config;
    expect(http.listeners[0]?.binds).toEqual([{ host: '::', port: 9000 }]);
    expect(http.publicBase).toBe('http://localhost:9000/');
  });

  test("allows registration; otherwise only the operator's setting does", () => {
    expect(load().config.account.passwordRegistrationEnabled).toBe(true);
    expect(loadYaml('protocol_name: chat').account.passwordRegistrationEnabled).toBe(false);
    const environment = { LATCHKEY__ACCOUNT__PASSWORD_REGISTRATION_ENABLED: 'false' };
    expect(load({ environment }).config.account.passwordRegistrationEnabled).toBe(false);
  });

  test('a file without an address exposes no more than this machine either', () => {
    const { http } = loadYaml('');
    expect(http.listeners[0]?.binds).toEqual([{ host: 'localhost', port: 8080 }]);
    expect(http.publicBase).toBe('http://localhost:8080/');
  });
});

describe('the error report', () => {
  test('lists all problems of all files in text order', () => {
    const problems = problemsOf({
      files: {
        'a.yaml':
          'http:\n  listeners:\n    - resources: [human]\n      binds:\n        - port: 80a\n  hsts: 1\nfoo: 1\n',
        'b.yaml': 'passwords:\n  schema: []\n  enabled: maybe\n',
      },
      named: ['a.yaml', 'b.yaml'],
      environment: { LATCHKEY__LOGGING__LEVEL: 'loud', LATCHKEY__I18N__LANGUAGE: 'en' },
    });
    expect(problems).toEqual([
      'http.listeners[0].binds[0].port: expected an integer from 0 to 65535, got "80a" (a.yaml:5:17)',
      'http.hsts: expected true or false, got 1 (a.yaml:6:9)',
      'foo: unknown key (a.yaml:7:1)',
      'passwords.schema: unknown key; did you mean "passwords.schemes"? (b.yaml:2:3)',
      'passwords.enabled: expected true or false, got "maybe" (b.yaml:3:12)',
      'i18n.language: unknown key; did you mean "i18n.default_language"? (LATCHKEY__I18N__LANGUAGE)',
      'logging.level: expected one of "error", "warn", "info", "debug", "trace", got "loud" (LATCHKEY__LOGGING__LEVEL)',
    ]);
  });

  test('starts with the number of problems and exits with 78', () => {
    const workdir = workingDirectory({ 'latchkey.yaml': 'foo: 1\n' });
    const attempt = () => loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: workdir });
    expect(attempt).toThrow(
      expect.objectContaining({
        exitCode: 78,
        message: 'configuration is not valid (1 problem)\n  foo: unknown key (latchkey.yaml:1:1)',
      }),
    );
  });

  test('never shows a value that is or could contain a secret', () => {
    const secrets = ['hunter2-a', 'hunter2-b', 'hunter2-c', 'hunter2-d', 'hunter2-e', 'hunter2-f'];
    const problems = problemsOf({
      files: {
        'latchkey.yaml': [
          `database: {uri: "mysql://u:${secrets[0]}@h/d", password: {x: ${secrets[1]}}}`,
          `secrets: {encryption: ${secrets[2]}, keys: ${secrets[3]}}`,
          `clients: [{client_id: ${ULID}, client_auth_method: none, client_secret: ${secrets[4]}}]`,
          '',
        ].join('\n'),
      },
      environment: { LATCHKEY__SECRETS__ENCRYPTION_PREVIOUS: `["${secrets[5]}"` },
    }).join('\n');
    expect(problems.match(/^/gm)).toHaveLength(6);
    for (const secret of secrets) expect(problems).not.toContain(secret);
    expect(problems).toContain('secrets.encryption: expected 64 hexadecimal characters, got [secret]');
  });

  test('suggests the position of a misplaced known key', () => {
    expect(problemsOfYaml('public_base: https://example.org/\n')).toEqual([
      'public_base: unknown key; did you mean "http.public_base"? (latchkey.yaml:1:1)',
    ]);
    expect(problemsOfYaml('clients: [{client_id: 1, cleint_name: x}]\n')).toContain(
      'clients[0].cleint_name: unknown key; did you mean "clients[0].client_name"? (latchkey.yaml:1:26)',
    );
  });
});

describe('paths', () => {
  test('are relative to the file that names them, otherwise to the working directory', () => {
    const inFile = load({
      files: { 'sub/c.yaml': 'data_dir: ./d\nlogging: {output: x.log}\n' },
      named: ['sub/c.yaml'],
    });
    expect(inFile.config.dataDir).toBe(join(inFile.directory, 'sub/d'));
    expect(inFile.config.logging.output).toEqual({ path: join(inFile.directory, 'sub/x.log') });
    const inVariable = load({ environment: { LATCHKEY__DATA_DIR: 'd', LATCHKEY__LOGGING__OUTPUT: 'stdout' } });
    expect(inVariable.config.dataDir).toBe(join(inVariable.directory, 'd'));
    expect(inVariable.config.logging.output).toBe('stdout');
  });

  test('the data directory defaults to LATCHKEY_DATA_DIR, then STATE_DIRECTORY', () => {
    const STATE_DIRECTORY = '/var/lib/latchkey:/var/lib/other';
    expect(load({ environment: { STATE_DIRECTORY } }).config.dataDir).toBe('/var/lib/latchkey');
    expect(load({ environment: { STATE_DIRECTORY, LATCHKEY_DATA_DIR: '/data' } }).config.dataDir).toBe('/data');
    const files = { 'latchkey.yaml': 'data_dir: /own\n' };
    expect(load({ files, environment: { LATCHKEY_DATA_DIR: '/data' } }).config.dataDir).toBe('/own');
  });
});

describe('aliases', () => {
  test('matrix is an alias of homeserver and changes the default of the protocol name', () => {
    const { homeserver, protocolName } = loadYaml('matrix: {kind: none, server_name: example.org}\n');
    expect(homeserver.homeserver).toBe('example.org');
    expect(protocolName).toBe('matrix');
    expect(loadYaml('protocol_name: chat\nmatrix: {kind: none}\n').protocolName).toBe('chat');
    const environment = { LATCHKEY__MATRIX__KIND: 'none', LATCHKEY__MATRIX__SERVER_NAME: 'example.org' };
    expect(load({ environment }).config).toMatchObject({
      protocolName: 'matrix',
      homeserver: { homeserver: 'example.org' },
    });
  });

  test('both names in one file are a problem', () => {
    expect(problemsOfYaml('homeserver: {kind: none}\nmatrix: {kind: none}\n')).toEqual([
      'matrix: another name of "homeserver"; set only one of the two (latchkey.yaml:2:1)',
    ]);
  });
});

describe('warnings', () => {
  test('http redirects to another machine and a short homeserver secret', () => {
    const { warnings } = load({
      files: {
        'latchkey.yaml': [
          'matrix: {endpoint: "http://chat.example:8008", secret: short}',
          `clients: [{client_id: ${ULID}, client_auth_method: none,`,
          '  redirect_uris: ["http://localhost:1/", "http://app.example/", "https://app.example/"]}]',
        ].join('\n'),
      },
    });
    expect(warnings).toEqual([
      'clients[0].redirect_uris[1]: http to another machine: authorization codes are sent unencrypted',
      'homeserver.secret: at least 16 characters are recommended',
      'homeserver.endpoint: http to another machine: the secret is sent unencrypted',
    ]);
  });

  test.each([
    [
      'http: {public_base: "https://auth.example.org"}\nmatrix: {secret_file: s}',
      'homeserver.homeserver: "localhost:8008" becomes part of user IDs; set it to server_name of the homeserver',
    ],
    [
      'homeserver: {homeserver: example.org, secret_file: s}',
      'protocol_name: Synapse and its clients require "matrix", not "chat"; it cannot be changed after the first start',
    ],
    [
      'http: {public_base: "https://example.org/auth/"}\nmatrix: {server_name: example.org, endpoint: "https://example.org/auth", secret_file: s}',
      'homeserver.endpoint: same as http.public_base, so this service would send requests to itself',
    ],
    [
      'http: {listeners: [{resources: [human, oauth, discovery], binds: [{port: 8080}]}]}\nmatrix: {server_name: example.org, secret_file: s}',
      'http.listeners: none serves "compat", so chat clients without OpenID Connect support cannot sign in',
    ],
  ])('about a homeserver that could not work: %s', (yaml, warning) => {
    const { warnings } = load({ files: { 'latchkey.yaml': yaml, s: 'shared-with-the-homeserver' } });
    expect(warnings).toEqual([warning]);
  });

  test('none about a homeserver below a path of the same host, nor without one', () => {
    const chat = [
      'http: {public_base: "https://example.org/auth/"}',
      'matrix: {server_name: "example.org:8448", endpoint: "https://example.org/", secret_file: s}',
    ];
    expect(load({ files: { 'latchkey.yaml': chat.join('\n'), s: 'shared-with-the-homeserver' } })).toMatchObject({
      warnings: [],
      config: { protocolName: 'matrix', homeserver: { kind: 'synapse', homeserver: 'example.org:8448' } },
    });
    expect(load({ files: { 'latchkey.yaml': 'http: {public_base: "https://auth.example.org"}' } }).warnings).toEqual(
      [],
    );
  });

  test('the PROXY protocol accepted from any peer on an exposed port', () => {
    const warningsOf = (bind: string, protocol: string) =>
      load({
        files: {
          'a.yaml': `http: {listeners: [{resources: [human], binds: [${bind}], proxy_protocol: ${protocol}}]}`,
        },
        named: ['a.yaml'],
      }).warnings;
    expect(warningsOf('{port: 8080}', 'true')).toEqual([
      'http.listeners[0].proxy_protocol: true trusts every client that connects; use {from: [...]} to list the load balancers',
    ]);
    expect(warningsOf('{port: 8080}', '{from: [10.0.0.7]}')).toEqual([]);
    expect(warningsOf('{address: "127.0.0.1:8080"}, {socket: /run/x.sock}', 'true')).toEqual([]);
  });

  test('a malformed .env line', () => {
    expect(load({ files: { '.env': 'PORT=9001\nwhat is this\n' } })).toMatchObject({
      config: { http: { publicBase: 'http://localhost:9001/' } },
      warnings: ['.env:2 is ignored: expected NAME=value'],
    });
  });

  test('a secret file that other users can read', () => {
    const directory = workingDirectory({ 'latchkey.yaml': 'homeserver: {kind: none, secret_file: s}\n' });
    writeFileSync(join(directory, 's'), 'x'.repeat(20));
    chmodSync(join(directory, 's'), 0o644);
    const sources = { files: [], environment: {}, flags: {}, workingDirectory: directory };
    expect(loadConfig(sources).warnings).toEqual([
      `homeserver.secret_file: ${join(directory, 's')} has mode 0644: every system user can read it; run chmod o-r on it`,
    ]);
    chmodSync(join(directory, 's'), 0o640);
    expect(loadConfig(sources).warnings).toEqual([]);
  });
});
