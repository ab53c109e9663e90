import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { pepperOf } from '#platform/password-hash/schemes.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { load, problemsOf, type Situation } from '../fixture.test-support.ts';
import { parseClient } from '../sections/clients.ts';
import { CHART, CHART_FILES, GENERATED, MANUAL, MATRIX, SECRETS, SMALLEST, ULID } from './documents.test-support.ts';

function situation(document: object, more: Situation = {}): Situation {
  return { named: ['mas.yaml'], ...more, files: { 'mas.yaml': stringify(document), ...more.files } };
}

function loadMas(document: object, more: Situation = {}) {
  return load(situation(document, more));
}

/** Warnings without the one that tells that the file is of MAS. */
function warningsOf(document: object, more: Situation = {}): readonly string[] {
  return loadMas(document, more).warnings.filter((line) => !line.includes('read as a configuration of'));
}

const PUBLIC = { client_id: ULID, client_auth_method: 'none' };
const WITH_NAME = { ...SMALLEST, protocol_name: 'matrix' };

describe('recognition', () => {
  test.each([
    ['matrix and secrets', SMALLEST],
    ['as generated', GENERATED],
    ['as in the manual', MANUAL],
    ['as the chart renders it', CHART],
    ['with a key that neither has', { ...SMALLEST, unknown: 1 }],
  ])('a file with the sections of MAS is one of MAS: %s', (_, document) => {
    const { masNotes, warnings, config } = loadMas(document, { files: CHART_FILES });
    expect(masNotes).toBeDefined();
    expect(warnings.join()).toContain('mas.yaml: read as a configuration of Matrix Authentication Service');
    expect(config.protocolName).toBe('matrix');
  });

  test.each([
    ['protocol_name', WITH_NAME],
    ['homeserver', { homeserver: MATRIX, secrets: SECRETS }],
    ['no secrets', { matrix: MATRIX }],
    ['a section of Latchkey', { ...SMALLEST, logging: { level: 'debug' } }],
    ['a key of Latchkey', { ...SMALLEST, matrix: { ...MATRIX, timeout: '10s' } }],
    [
      'a key of Latchkey in a list',
      { ...SMALLEST, secrets: { ...SECRETS, keys: [{ ...SECRETS.keys[0], alg: 'RS256' }] } },
    ],
    ['a value of Latchkey', { ...SMALLEST, http: { trusted_proxies: ['private'] } }],
    ['an embedded database', { ...SMALLEST, database: { uri: 'embedded:' } }],
    [
      'the admin area',
      { ...SMALLEST, http: { listeners: [{ binds: [{ port: 1 }], resources: ['adminarea', 'adminapi'] }] } },
    ],
    ['mail to files', { ...SMALLEST, email: { transport: 'file' } }],
    ['no homeserver', { ...SMALLEST, matrix: { kind: 'none' } }],
  ])('a file of Latchkey keeps its meaning: %s', (_, document) => {
    const { masNotes, config } = loadMas(document);
    expect(masNotes).toBeUndefined();
    expect(config.graphql.hasPlayground).toBe(true);
  });

  test('MAS_CONFIG names files of MAS, which may also have keys of Latchkey', () => {
    const files = { 'a.yaml': stringify({ ...SMALLEST, logging: { format: 'json' } }) };
    const { config, masNotes } = load({ files, environment: { MAS_CONFIG: 'a.yaml' } });
    expect([masNotes !== undefined, config.logging.format, config.graphql.hasPlayground]).toEqual([
      true,
      'json',
      false,
    ]);
  });

  test('MAS_CONFIG may name a converted file', () => {
    const files = { 'a.yaml': stringify(WITH_NAME) };
    expect(load({ files, environment: { MAS_CONFIG: 'a.yaml' } }).masNotes).toBeUndefined();
  });

  test('a mixture of both is explained', () => {
    const document = { ...SMALLEST, policy: { wasm_module: './share/policy.wasm' }, logging: { level: 'debug' } };
    expect(problemsOf(situation(document))[0]).toMatch(
      /^policy\.wasm_module: a key of Matrix .* beside "logging", a setting of Latchkey\. .* \(mas\.yaml:\d+:3\)$/,
    );
  });

  const OVERRULING: readonly (readonly [Situation, string])[] = [
    [{ named: ['own.yaml'] }, '--config'],
    [{ environment: { LATCHKEY_CONFIG: 'own.yaml' } }, 'LATCHKEY_CONFIG'],
  ];
  test.each(OVERRULING)(
    'MAS_CONFIG that is not read is a problem, unless the protocol is Matrix',
    ({ named = [], environment }, by) => {
      const read = (text: string) =>
        problemsOf({ files: { 'own.yaml': text }, named, environment: { MAS_CONFIG: 'x.yaml', ...environment } });
      expect(read('branding: {service_name: A}')).toEqual([
        `names x.yaml, which is not read because ${by} names other files. Unset MAS_CONFIG, or unset ${by} to run with the configuration of Matrix Authentication Service (MAS_CONFIG)`,
      ]);
      expect(read('protocol_name: matrix')).toEqual([]);
    },
  );
});

describe('the documents of MAS', () => {
  test('as generated', () => {
    const { config } = loadMas(GENERATED);
    expect(warningsOf(GENERATED)).toEqual([
      expect.stringMatching(/^matrix\.homeserver: "localhost:8008" becomes part/),
    ]);
    expect(config).toMatchObject({
      http: { publicBase: 'http://[::]:8080/', issuer: 'http://[::]:8080/' },
      homeserver: { kind: 'synapse', homeserver: 'localhost:8008' },
      database: { server: { kind: 'postgres' } },
      email: { transport: { kind: 'blackhole' } },
    });
    expect(config.http.listeners.map(({ resources }) => resources.map(({ name }) => name))).toEqual([
      ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets'],
      ['health'],
    ]);
    expect(config.http.trustedProxies).toContainEqual({ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' });
    expect(config.secrets.keys).toHaveLength(4);
  });

  test('as in the manual', () => {
    const { config, warnings } = loadMas(MANUAL);
    expect(config).toMatchObject({
      http: { publicBase: 'https://auth.example.com/', issuer: 'https://example.com/' },
      graphql: { hasPlayground: true },
      account: { passwordRegistrationTokenRequired: true },
    });
    expect(config.clients[0]?.redirectUris).toEqual(['https://app.example.com', 'https://app.example.com/']);
    expect(config.clients[0]?.clientSecret?.reveal()).toBe('twelve.chars');
    expect(config.upstreamOauth2.providers[0]?.isRegistrationTokenRequired).toBe(true);
    expect(warnings.join('\n')).toContain('clients[0].client_secret: shorter than 16 characters');
    expect(warnings.join('\n')).toMatch(/policy\.data\.passwords: ignored: neither .* \(mas\.yaml:\d+:\d+\)/);
    expect(warnings.join('\n')).not.toContain('twelve.chars');
  });

  test('as the chart renders it', () => {
    const { config } = loadMas(CHART, { files: CHART_FILES });
    expect(config).toMatchObject({
      http: { publicBase: 'https://account.example.org/', issuer: 'https://account.example.org/' },
      graphql: { acceptsAccessTokens: true, hasPlayground: false },
      homeserver: { kind: 'synapse' },
      experimental: { sessionLimit: { softLimit: 50, hardLimit: 50 } },
    });
    expect(config.http.listeners[1]?.resources.map(({ name }) => name)).toContain('prometheus');
  });

  test('as the chart renders it, with fragments of its users in other files', () => {
    const fragments = {
      'conf/accounts.yaml': {
        account: { password_registration_enabled: true },
        policy: { data: { admin_users: ['alice'], admin_clients: [ULID] } },
      },
      'conf/clients.yaml': {
        clients: [{ client_id: ULID, client_auth_method: 'client_secret_basic', client_secret_file: 'secrets/client' }],
        experimental: { session_limit: { hard_limit: 100 } },
        policy: { data: { admin_users: ['bob'] } },
      },
      'conf/providers.yaml': {
        email: { from: 'accounts@example.org', transport: 'smtp', mode: 'tls', hostname: 'mail.example.org' },
        http: { trusted_proxies: ['10.9.8.7/16'] },
        upstream_oauth2: { providers: MANUAL.upstream_oauth2.providers },
      },
    };
    const files = { 'conf/mas-config.yaml': CHART, ...fragments };
    const { config, masNotes } = load({
      files: {
        ...CHART_FILES,
        'secrets/client': 'short\n',
        ...Object.fromEntries(Object.entries(files).map(([name, document]) => [name, stringify(document)])),
      },
      environment: { MAS_CONFIG: Object.keys(files).join(':') },
    });
    expect(config).toMatchObject({
      http: { publicBase: 'https://account.example.org/', trustedProxies: [{ address: '10.9.0.0', prefixLength: 16 }] },
      account: { passwordRegistrationEnabled: true },
      policy: { data: { adminUsers: ['alice', 'bob'], adminClients: [ULID] } },
      experimental: { sessionLimit: { softLimit: 50, hardLimit: 100 } },
      email: { transport: { kind: 'smtp', hostname: 'mail.example.org' } },
      upstreamOauth2: { providers: [{ id: ULID }] },
    });
    expect(config.clients[0]?.clientSecret?.reveal()).toBe('short');
    expect(config.http.listeners).toHaveLength(2);
    expect(masNotes?.filter(({ kind }) => kind === 'refusal')).toEqual([]);
  });

  test('with the defaults of MAS for what is not set', () => {
    const { config } = loadMas(SMALLEST);
    expect(config).toMatchObject({
      protocolName: 'matrix',
      http: { publicBase: 'http://[::]:8080/', issuer: 'http://[::]:8080/' },
      database: { server: { kind: 'postgres' } },
      account: { passwordRegistrationEmailRequired: true },
      graphql: { hasPlayground: false },
      oauth: { deviceCodeUserCodeAutoFillEnabled: false, introspectionCallers: 'confidential' },
      compat: { logoutAll: 'compat_only' },
      policy: { data: { registration: { bannedUsernames: { literals: [] } } } },
      rateLimiting: { login: { perAccount: { burst: 1800, perSecond: 0.5 } } },
    });
    expect(config.http.listeners.map(({ name, resources }) => [name, resources.map((one) => one.name)])).toEqual([
      ['web', ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets']],
      ['internal', ['health']],
    ]);
  });

  test('with the metric names of MAS, if metrics are exported', () => {
    const namesOf = (metrics: object) =>
      loadMas({ ...SMALLEST, telemetry: { metrics } }).config.telemetry.metrics.names;
    expect(namesOf({ exporter: 'otlp' })).toBe('mas');
    expect(namesOf({ exporter: 'none' })).toBe('latchkey');
    expect(load().config.telemetry.metrics.names).toBe('latchkey');
  });

  test('with HTTP/2 on listeners without TLS, unless they say otherwise', () => {
    const listener = (port: number, more: object) => ({ resources: ['human'], binds: [{ port }], ...more });
    const { cert, key } = selfSigned(['auth.example']);
    const tls = { certificate: cert, key };
    const listeners = [listener(1, {}), listener(2, { tls }), listener(3, { cleartext_http2: false })];
    const files = { 'a.yaml': stringify({ ...SMALLEST, http: { public_base: 'https://auth.example/', listeners } }) };
    const { config } = load({ files, environment: { MAS_CONFIG: 'a.yaml' } });
    expect(config.http.listeners.map(({ cleartextHttp2 }) => cleartextHttp2)).toEqual([true, false, false]);
    expect(loadMas(SMALLEST).config.http.listeners.map(({ cleartextHttp2 }) => cleartextHttp2)).toEqual([true, true]);
  });

  test('a pepper has the exact bytes of its file', () => {
    const schemes = [{ version: 1, algorithm: 'bcrypt', secret_file: 'pepper' }];
    const bytes = Buffer.from([0xff, 0x70, 0x0a]);
    const { config } = loadMas({ ...SMALLEST, passwords: { schemes } }, { files: { pepper: bytes } });
    expect(config.passwords.schemes.map(pepperOf)).toEqual([bytes]);
  });

  test('several files and variables are merged as MAS merges them, with paths from the working directory', () => {
    const files = {
      'conf/a.yaml': stringify({ ...SMALLEST, email: { from: 'a@example.org' }, clients: [PUBLIC] }),
      'conf/b.yaml': stringify({
        clients: [{ ...PUBLIC, client_id: '01HZX7T3Q8V3M5N6P7R8S9T0AC' }],
        branding: { imprint: 'I' },
      }),
      'keys/pepper': 'p',
    };
    const { config } = load({
      files: {
        ...files,
        'conf/c.yaml': stringify({
          passwords: { schemes: [{ version: 1, algorithm: 'argon2id', secret_file: 'keys/pepper' }] },
        }),
      },
      environment: {
        MAS_CONFIG: 'conf/a.yaml:conf/b.yaml:conf/c.yaml',
        ...{
          MAS_EMAIL_FROM: 'b@example.org',
          MAS_BRANDING_IMPRINT: 'E',
          MAS_MATRIX_KIND: 'synapse_legacy',
          RUST_LOG: 'debug,sqlx=warn',
        },
        LATCHKEY__BRANDING__IMPRINT: 'L',
      },
    });
    expect(config.clients).toHaveLength(2);
    expect(config.email.from.address).toBe('a@example.org');
    expect([config.homeserver.kind, config.branding.imprint, config.logging.level]).toEqual([
      'synapse_legacy',
      'L',
      'debug',
    ]);
  });

  test('without a database, the variables of libpq name the server and its certificates', () => {
    const { cert, key } = selfSigned(['db.example']);
    const environment = {
      ...{ PGHOST: 'db.example', PGPORT: '6432', PGUSER: 'mas', PGDATABASE: 'accounts', PGSSLMODE: 'verify-full' },
      ...{ PGSSLROOTCERT: 'ca.pem', PGSSLCERT: 'client.pem', PGSSLKEY: 'client.key', PGOPTIONS: '-c search_path=auth' },
      ...{ PGAPPNAME: 'accounts', PGPASSFILE: 'pgpass' },
    };
    const files = { 'ca.pem': cert, 'client.pem': cert, 'client.key': key };
    const { config, warnings } = loadMas(SMALLEST, { environment, files });
    expect(config.database.server).toMatchObject({
      servers: [{ host: 'db.example', port: 6432 }],
      ...{ user: 'mas', database: 'accounts', sslMode: 'verify-full' },
      session: { options: '-c search_path=auth', applicationName: 'accounts' },
    });
    const { server } = config.database;
    if (server.kind !== 'postgres') throw new Error('no server');
    expect([server.sslCa, server.sslCertificate, server.sslKey].map((one) => one?.reveal().trim())).toEqual(
      [cert, cert, key].map((text) => text.trim()),
    );
    expect(warnings).toContain('PGPASSFILE is ignored: set database.password_file, or PGPASSWORD');
    const named = { ...SMALLEST, database: { host: 'h', password: 'p', ssl_ca: key } };
    const other = loadMas(named, { environment, files });
    expect(other.config.database.server).toMatchObject({ servers: [{ host: 'h', port: 6432 }] });
    expect(other.warnings.join()).not.toContain('PGPASSFILE');
    expect(problemsOf(situation(SMALLEST, { environment }))).toEqual(
      ['certificate', 'key', 'ca'].map((name) =>
        expect.stringMatching(new RegExp(`^database\\.ssl_${name}_file: cannot read the file .* \\(PGSSL[A-Z]+\\)$`)),
      ),
    );
  });

  test('variables apply to a file of Latchkey for Matrix, below it', () => {
    const own = stringify({ protocol_name: 'matrix', branding: { imprint: 'own' } });
    const environment = { MAS_BRANDING_IMPRINT: 'E', MAS_EMAIL_FROM: 'a@example.org', RUST_LOG: 'error' };
    const { config } = load({ files: { 'latchkey.yaml': own }, environment });
    expect([config.branding.imprint, config.email.from.address, config.logging.level]).toEqual([
      'own',
      'a@example.org',
      'error',
    ]);
    const chat = load({ files: { 'latchkey.yaml': 'branding: {imprint: own}' }, environment }).config;
    expect([chat.email.from.address, chat.logging.level]).toEqual(['noreply@localhost', 'info']);
  });

  test('a file that MAS_CONFIG names and that does not exist is a warning', () => {
    const files = { 'a.yaml': stringify(SMALLEST) };
    expect(load({ files, environment: { MAS_CONFIG: 'a.yaml:b.yaml' } }).warnings).toContain(
      'b.yaml: the configuration file does not exist',
    );
  });

  test('what MAS requires is required', () => {
    const environment = { MAS_CONFIG: 'mas.yaml' };
    const read = (document: object) => problemsOf(situation(document, { named: [], environment }));
    expect(read({ http: {} }).map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'matrix: missing; MAS requires it',
      'secrets.encryption: missing; MAS requires it',
      'secrets.keys: missing; MAS requires it',
      'http.public_base: missing; MAS requires it',
    ]);
  });

  test('a client with a short secret of its own needs permission in a file of Latchkey', () => {
    const clients = [{ client_id: ULID, client_auth_method: 'client_secret_basic', client_secret: 'short' }];
    expect(problemsOf(situation({ clients }))).toEqual([
      expect.stringContaining('clients[0].client_secret: expected at least 16 characters, got [secret]'),
    ]);
    const permitted = { ...clients[0], allow_short_secret: true };
    expect(loadMas({ clients: [permitted] }).config.clients[0]?.clientSecret?.reveal()).toBe('short');
    // Administrators cannot permit it.
    expect(parseClient(permitted, 'https://auth.example/')).toMatchObject({ ok: false, path: ['allow_short_secret'] });
  });
});
