import { describe, expect, test } from 'vitest';
import { selfSigned } from '#test/support/self-signed.ts';
import { loadYaml, problemsOfYaml } from './fixture.test-support.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';

/** Returns the problems of a file without their locations. */
function problemsIn(yaml: string): string[] {
  return problemsOfYaml(yaml).map((problem) => problem.replace(/ \([^()]*\)$/, ''));
}

describe('http', () => {
  const listener = (...entries: string[]) => `http: {listeners: [${entries.join(', ')}]}`;

  test('a bind is an address, a port with an optional host, or a Unix socket with optional permissions', () => {
    const binds = (entry: string) => listener(`{resources: [human], binds: [${entry}]}`);
    expect(problemsIn(binds('{address: "127.0.0.1:1", port: 2}'))).toEqual([
      'http.listeners[0].binds[0]: use one of "address", "host" and "port", "socket", or "fd"',
    ]);
    for (const entry of ['{}', '{host: localhost}']) {
      expect(problemsIn(binds(entry))).toEqual([
        'http.listeners[0].binds[0]: needs "address", "port", "socket" or "fd"',
      ]);
    }
    expect(problemsIn(binds('{port: 1, mode: "600"}'))).toEqual([
      'http.listeners[0].binds[0].mode: goes with "socket" only',
    ]);
    expect(problemsIn(binds('{fd: 1, fd_name: web}'))).toEqual([
      'http.listeners[0].binds[0].fd_name: not allowed together with "fd"',
    ]);
    expect(loadYaml(binds('{fd: 1}, {fd_name: web}, {kind: unix}')).http.listeners[0]?.binds).toEqual([
      { inherited: 1, kind: 'tcp' },
      { inherited: 'web', kind: 'tcp' },
      { inherited: 0, kind: 'unix' },
    ]);
    expect(loadYaml(binds('{socket: /run/x.sock, mode: "660"}')).http.listeners[0]?.binds).toEqual([
      { socket: '/run/x.sock', mode: 0o660 },
    ]);
    expect(loadYaml(binds('{address: "127.0.0.1:1"}, {port: 2}')).http.listeners[0]?.binds).toEqual([
      { host: '127.0.0.1', port: 1 },
      { host: undefined, port: 2 },
    ]);
  });

  test('HTTP/2 without TLS is for listeners without TLS', () => {
    const { cert, key } = selfSigned(['auth.example']);
    const tls = `{certificate: ${JSON.stringify(cert)}, key: ${JSON.stringify(key)}}`;
    const entry = (members: string) => listener(`{resources: [human], binds: [{port: 1}], ${members}}`);
    expect(problemsIn(entry(`tls: ${tls}, cleartext_http2: true`))).toEqual([
      'http.listeners[0].cleartext_http2: not allowed together with "tls"',
    ]);
    expect(loadYaml(entry('cleartext_http2: true')).http.listeners[0]).toMatchObject({ cleartextHttp2: true });
    expect(loadYaml(entry(`tls: ${tls}`)).http.listeners[0]).toMatchObject({ cleartextHttp2: false });
  });

  test('the admin area is on the listener of its API', () => {
    const listeners = (resources: string) => `http: {listeners: [{resources: [${resources}], binds: [{port: 1}]}]}`;
    expect(problemsIn(listeners('human, adminarea'))).toEqual([
      'http.listeners[0].resources[1]: "adminarea" requires "adminapi" on the same listener',
    ]);
    expect(problemsIn(listeners('human, adminarea, adminapi'))).toEqual([]);
  });

  test('a client cannot pass for the admin area (S-196)', () => {
    const client = (members: string) =>
      `http: {public_base: "https://auth.example/base"}\nclients: [{client_id: ${ULID}, client_auth_method: none, ${members}}]`;
    expect(problemsIn(client('redirect_uris: ["https://AUTH.example:443/base/%61dmin/x"]'))).toEqual([
      'clients[0].redirect_uris[0]: is a URL of the admin area',
    ]);
    expect(problemsIn(client('redirect_uris: ["https://auth.example/base/administer"]'))).toEqual([]);
    expect(problemsIn(client('client_name: "L\u0430tchkey  Administrati\u043en"'))).toEqual([
      'clients[0].client_name: is the name of the admin area',
    ]);
    expect(problemsIn(client('client_name: Latchkey'))).toEqual([]);
  });

  test('the admin area cannot require a second factor that nobody can have', () => {
    const settings = (factor: string) =>
      `account: {second_factor: ${factor}}\nadmin_area: {require_second_factor: true}`;
    expect(problemsIn(settings('"off"'))).toEqual([
      'admin_area.require_second_factor: requires account.second_factor "optional" or "required"',
    ]);
    expect(problemsIn(settings('optional'))).toEqual([]);
  });

  test('no client of the configuration has the ID of the admin area', () => {
    const yaml = 'clients: [{client_id: 00ADM1NAREA000000000000000, client_auth_method: none, redirect_uris: []}]';
    expect(problemsIn(yaml)).toContain('clients[0].client_id: is the id of the admin area');
  });

  test('names of listeners and resources within a listener are unique', () => {
    const yaml = listener(
      '{resources: [oauth, human, {name: oauth}], binds: [{port: 1}]}',
      '{name: "0", resources: [health], binds: [{port: 2}]}',
    );
    expect(problemsIn(yaml)).toEqual([
      'http.listeners[0].resources[2]: "oauth" is listed twice',
      'http.listeners[1].name: "0" is also the name of listener 0',
    ]);
  });

  test('the threshold above which sessions are not limited is at least the limit', () => {
    const yaml = 'experimental: {session_limit: {soft_limit: 5, max_session_threshold: 4}}';
    expect(problemsIn(yaml)).toEqual([
      'experimental.session_limit.max_session_threshold: must not be less than a limit, which would then never apply',
    ]);
  });

  test('the hard limit of sessions is at least the soft one, and needs room for eviction', () => {
    const limit = (members: string) => problemsIn(`experimental: {session_limit: {${members}}}`);
    expect(limit('soft_limit: 5, hard_limit: 4')).toEqual([
      'experimental.session_limit.hard_limit: must not be less than soft_limit',
    ]);
    expect(limit('hard_limit: 1, dangerous_hard_limit_eviction: true')).toEqual([
      'experimental.session_limit.dangerous_hard_limit_eviction: needs a hard_limit of 2 or more',
    ]);
    expect(limit('max_session_threshold: 1')).toEqual([
      'experimental.session_limit.max_session_threshold: has no effect without soft_limit or hard_limit',
    ]);
    expect(limit('hard_limit: 2, dangerous_hard_limit_eviction: true, max_session_threshold: 2')).toEqual([]);
  });

  test('resource servers differ by more than a trailing slash', () => {
    const yaml = `oauth:\n  resources:\n    - identifier: https://a.example\n    - identifier: https://a.example/\n`;
    expect(problemsIn(yaml)).toEqual(['oauth.resources[1].identifier: the same resource server as resources[0]']);
  });

  test('listeners that serve pages share one prefix; a lone slash means none', () => {
    const entry = (resource: string, prefix: string) =>
      `{resources: [${resource}], binds: [{port: 1}], prefix: ${prefix}}`;
    expect(problemsIn(listener(entry('human', '/a/'), entry('human', '/b')))).toEqual([
      'http.listeners[1].prefix: listeners that serve "human" must have the same prefix; another one has "/a"',
    ]);
    const accepted = loadYaml(listener(entry('human', '/a/'), entry('human', '/a'), entry('health', '/')));
    expect(accepted.http.listeners.map(({ prefix }) => prefix)).toEqual(['/a', '/a', undefined]);
  });

  test('the public base follows the first socket that serves pages', () => {
    const yaml = listener(
      '{resources: [health], binds: [{port: 1}]}',
      '{resources: [human], prefix: /auth, binds: [{address: "[::]:9000"}]}',
    );
    expect(loadYaml(yaml).http.publicBase).toBe('http://localhost:9000/auth/');
  });

  test.each([
    ['https://example.org', 'https://example.org/'],
    ['https://example.org/', 'https://example.org/'],
    ['https://Example.org/auth', 'https://example.org/auth/'],
    ['https://example.org/auth/', 'https://example.org/auth/'],
  ])('without an issuer, the issuer is the public base %s as typed', (typed, publicBase) => {
    expect(loadYaml(`http: {public_base: "${typed}"}`).http).toMatchObject({ publicBase, issuer: typed });
  });

  test('by default the issuer has no trailing slash', () => {
    expect(loadYaml('').http.issuer).toBe('http://localhost:8080');
    const yaml = listener('{resources: [human], prefix: /auth, binds: [{address: "127.0.0.1:9000"}]}');
    expect(loadYaml(yaml).http.issuer).toBe('http://127.0.0.1:9000/auth');
  });

  test('an issuer is published as written, a public base with a trailing slash', () => {
    const { http } = loadYaml('http: {public_base: "https://example.org/auth", issuer: "https://example.org"}');
    expect(http).toMatchObject({ publicBase: 'https://example.org/auth/', issuer: 'https://example.org' });
  });
});

describe('a string that YAML parses as another type', () => {
  test.each([
    [
      'clients: [{client_id: 01JD3Q5Z8W2N4K6M7P9R0S1TPR, client_auth_method: client_secret_basic, client_secret: 1234567890123456789}]',
      'clients[0].client_secret',
    ],
    ['secrets: {encryption: 1234567890123456789012345678901234567890123456789012345678901234}', 'secrets.encryption'],
    ['homeserver: {kind: synapse, secret: 0x1234567890abcdef}', 'homeserver.secret'],
    ['database: {host: h, password: 12345678}', 'database.password'],
    ['database: {host: h, username: 42}', 'database.username'],
    ['branding: {service_name: 2026}', 'branding.service_name'],
  ])('a number: %s needs quotes', (yaml, key) => {
    const found = problemsIn(yaml).find((one) => one.startsWith(`${key}: expected `));
    expect(found).toMatch(/; without quotes YAML reads a number: put the value in quotes$/);
    expect(found).not.toMatch(/12345678/);
  });

  test('true or false', () => {
    expect(problemsIn('branding: {service_name: true}')).toEqual([
      expect.stringMatching(/, got true; without quotes YAML reads true or false: put the value in quotes$/),
    ]);
  });
});

describe('database', () => {
  test('an invalid URL is rejected with the reason and never shown', () => {
    expect(problemsIn('database: {uri: "postgres://u:hu/sh@h/d"}')).toEqual([
      'database.uri: cannot be used: "/" at position 16 ends the host, and an "@" follows: within a password write it as %2F',
    ]);
    expect(problemsIn('database: {uri: "postgres://u:hush@h/d?wal=hush"}')).toEqual([
      'database.uri: cannot be used: the parameter "wal" is not supported',
    ]);
    expect(problemsIn('database: {migration_uri: "postgres://h/d?sslmode=hush"}')).toEqual([
      expect.stringContaining('database.migration_uri: cannot be used: the parameter "sslmode" has to be one of'),
    ]);
  });

  test('a URI and parts of a connection are mutually exclusive', () => {
    expect(problemsIn('database: {uri: "postgres://h/d", host: h, password: p}')).toEqual([
      'database.host: not allowed together with "database.uri"',
      'database.password: not allowed together with "database.uri"',
    ]);
    expect(problemsIn('database: {host: h, socket: /run/postgresql}')).toEqual([
      'database.socket: not allowed together with "database.host"',
    ]);
  });

  test('a transaction pooler requires a direct connection for migrations', () => {
    expect(problemsIn('database: {uri: "postgres://h/d", pooler: transaction}')).toEqual([
      'database.pooler: "transaction" needs "database.migration_uri", a direct connection for migrations',
    ]);
    const { database } = loadYaml(
      'database: {uri: "postgres://h/d", pooler: transaction, migration_uri: "postgres://direct:5433/d"}',
    );
    expect(database.migrationServer).toMatchObject({ servers: [{ host: 'direct', port: 5433 }], database: 'd' });
  });

  test('of multiple servers a writable one is used, unless the URL says otherwise', () => {
    const servers = [
      { host: 'a', port: 5432 },
      { host: 'b', port: 5433 },
    ];
    expect(loadYaml('database: {uri: "postgres://a,b:5433/d"}').database.server).toMatchObject({
      servers,
      sessionAttributes: 'read-write',
    });
    expect(loadYaml('database: {uri: "postgres://a,b:5433/d?target_session_attrs=any"}').database.server).toMatchObject(
      {
        servers,
        sessionAttributes: 'any',
      },
    );
    expect(loadYaml('database: {host: "a,b", port: 5433}').database.server).toMatchObject({
      servers: servers.map((server) => ({ ...server, port: 5433 })),
    });
  });

  test('certificate and key require each other, and the pool has room for its minimum', () => {
    expect(problemsIn('database: {ssl_key: x, min_connections: 11}')).toEqual([
      'database.ssl_key: needs "database.ssl_certificate" as well',
      'database.min_connections: is above "database.max_connections" (10)',
    ]);
  });

  test('the embedded server can store its files elsewhere', () => {
    const { database } = loadYaml('database: {uri: "embedded:///srv/db", embedded: {user: pg}}');
    expect(database.server).toEqual({ kind: 'embedded', directory: '/srv/db', user: 'pg', binDir: undefined });
  });
});

describe('clients', () => {
  const client = (...fields: string[]) => `clients: [{client_id: ${ULID}, ${fields.join(', ')}}]`;

  test('an invalid or missing ID is reported with a new one to copy, different for each client', () => {
    const problems = problemsIn('clients: [{client_id: app, client_auth_method: none}, {client_auth_method: none}]');
    const ids = problems.map((problem) => /here is a new one: ([0-9A-Z]{26})\)/.exec(problem)?.[1] ?? problem);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      expect(problemsIn(`clients: [{client_id: ${id}, client_auth_method: none}]`)).toEqual([]);
    }
  });

  test('secret methods require a secret, none forbids one', () => {
    expect(problemsIn(client('client_auth_method: client_secret_basic'))).toEqual([
      'clients[0]: "client_secret_basic" needs "client_secret" or "client_secret_file"',
    ]);
    expect(problemsIn(client('client_auth_method: none, client_secret: sixteen characters'))).toEqual([
      'clients[0].client_secret: not allowed with client_auth_method "none"',
    ]);
  });

  test('pairwise subjects require a sector: one host of all redirect URIs, or an identifier', () => {
    const pairwise = (...fields: string[]) => client('client_auth_method: none', 'subject_type: pairwise', ...fields);
    const problem =
      'clients[0].subject_type: "pairwise" needs "sector_identifier_uri", unless all redirect URIs have one host that is not loopback';
    for (const uris of ['', 'https://a.example/cb, https://b.example/cb', 'http://localhost/cb', 'com.example:/cb']) {
      expect(problemsIn(pairwise(`redirect_uris: [${uris}]`))).toEqual([problem]);
      const sector = 'sector_identifier_uri: https://a.example/apps.json';
      expect(problemsIn(pairwise(`redirect_uris: [${uris}]`, sector))).toEqual([]);
    }
    expect(problemsIn(pairwise('redirect_uris: [https://a.example/cb, https://a.example/other]'))).toEqual([]);
  });

  test('a secret that signs assertions has 32 bytes, counted as they are used for signing', () => {
    const jwt = (secret: string) =>
      problemsIn(client(`client_auth_method: client_secret_jwt, client_secret: ${secret}`));
    const problem = 'clients[0].client_secret: "client_secret_jwt" needs at least 32 bytes';
    expect(jwt('x'.repeat(31))).toEqual([problem]);
    expect(jwt('x'.repeat(32))).toEqual([]);
    expect(jwt('ü'.repeat(16))).toEqual([]);
  });

  test('private_key_jwt requires public keys, methods with a secret forbid them', () => {
    const [point, usable] = ['x: MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4', 'client_auth_method: private_key_jwt'];
    const key = `{kty: EC, crv: P-256, ${point}, y: 4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM`;
    expect(problemsIn(client(usable))).toEqual(['clients[0]: "private_key_jwt" needs "jwks" or "jwks_uri"']);
    expect(problemsIn(client(usable, `jwks: {keys: [${key}}]}`))).toEqual([]);
    expect(problemsIn(client(usable, 'jwks_uri: https://app.example/keys'))).toEqual([]);
    expect(problemsIn(client(usable, `jwks: {keys: [${key}}]}, jwks_uri: https://app.example/keys`))).toEqual([
      'clients[0]: "jwks" and "jwks_uri" exclude each other',
    ]);
    expect(problemsIn(client(usable, `jwks: {keys: [${key}}]}, client_secret: sixteen characters`))).toEqual([
      'clients[0].client_secret: not allowed with client_auth_method "private_key_jwt"',
    ]);
    const [basic, secret] = ['client_auth_method: client_secret_basic', 'client_secret: sixteen characters'];
    expect(problemsIn(client(basic, secret, `jwks: {keys: [${key}}]}`))).toEqual([
      'clients[0].jwks: not allowed with client_auth_method "client_secret_basic"',
    ]);
    const [shown, ...more] = problemsIn(client(usable, `jwks: {keys: [${key}, d: very-private}]}`));
    expect(more).toEqual([]);
    expect(shown).toContain('clients[0].jwks: not a JSON Web Key Set of public keys: it is invalid: keys[0] is');
    expect(shown).not.toContain('very-private');
  });

  test('a client without credentials may have keys, and needs suitable ones to sign its requests', () => {
    const point = 'x: MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4, y: 4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM';
    const keys = `jwks: {keys: [{kty: EC, crv: P-256, ${point}}]}`;
    const uri = 'jwks_uri: https://app.example/keys';
    const signing = (...more: readonly string[]) => problemsIn(client('client_auth_method: none', ...more));
    const needsKey = (name: string) => [
      `clients[0].request_object_signing_alg: needs a key in "jwks" that signs with ${name}, or "jwks_uri"`,
    ];
    const algorithm = 'request_object_signing_alg';
    expect(signing(keys)).toEqual([]);
    expect(signing(keys, uri)).toEqual(['clients[0]: "jwks" and "jwks_uri" exclude each other']);
    expect(signing(keys, `${algorithm}: ES256`)).toEqual([]);
    expect(signing(uri, `${algorithm}: PS256`, 'require_signed_request_object: true')).toEqual([]);
    expect(signing(keys, `${algorithm}: PS256`)).toEqual(needsKey('PS256'));
    expect(signing(`${algorithm}: ES256`)).toEqual(needsKey('ES256'));
    expect(signing('require_signed_request_object: true')).toEqual([
      'clients[0].require_signed_request_object: needs "jwks" or "jwks_uri"',
    ]);
    expect(signing(keys, 'require_signed_request_object: true')).toEqual([]);
  });

  test('an assertion algorithm must belong to the method', () => {
    const secret = `client_secret: ${'x'.repeat(32)}`;
    const algorithm = (method: string, name: string) =>
      problemsIn(client(`client_auth_method: ${method}`, secret, `token_endpoint_auth_signing_alg: ${name}`));
    const refused = (method: string) => [
      `clients[0].token_endpoint_auth_signing_alg: not allowed with client_auth_method "${method}"`,
    ];
    expect(algorithm('client_secret_jwt', 'HS512')).toEqual([]);
    expect(algorithm('client_secret_jwt', 'RS256')).toEqual(refused('client_secret_jwt'));
    expect(algorithm('client_secret_basic', 'HS256')).toEqual(refused('client_secret_basic'));
  });

  test('a client without credentials is not allowed client_credentials', () => {
    expect(problemsIn(client('client_auth_method: none', 'grant_types: [client_credentials]'))).toEqual([
      'clients[0].grant_types[0]: "client_credentials" is not allowed with client_auth_method "none"',
    ]);
    const { clients } = loadYaml(client('client_auth_method: client_secret_post', 'client_secret: sixteen characters'));
    expect(clients[0]?.grantTypes).toEqual([
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]);
  });

  test('IDs are unique, also next to an otherwise invalid client', () => {
    const entry = `{client_id: ${ULID}, client_auth_method: none}`;
    expect(problemsIn(`clients: [${entry}, {client_id: 1, client_auth_method: x}, ${entry}]`).slice(1)).toEqual([
      'clients[1].client_auth_method: expected one of "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", got "x"',
      `clients[2].client_id: "${ULID}" is also the id of clients[0]`,
    ]);
  });
});

describe('passwords', () => {
  test('parameters belong to their algorithm, versions are unique, argon2id has memory for its lanes', () => {
    const yaml = `
passwords:
  schemes:
    - {version: 1, algorithm: bcrypt, iterations: 3}
    - {version: 1, algorithm: argon2id, memory_kib: 8, parallelism: 2}
`;
    expect(problemsIn(yaml)).toEqual([
      'passwords.schemes[0].iterations: only used by algorithm "argon2id"',
      'passwords.schemes[1].version: version 1 is used twice',
      'passwords.schemes[1].memory_kib: argon2id needs 8 KiB per lane, here at least 16',
    ]);
  });

  test('the newest scheme comes first', () => {
    const yaml = 'passwords: {schemes: [{version: 1, algorithm: bcrypt}, {version: 2, algorithm: pbkdf2}]}';
    expect(loadYaml(yaml).passwords.schemes).toMatchObject([
      { version: 2, algorithm: 'pbkdf2', rounds: 600_000 },
      { version: 1, algorithm: 'bcrypt', cost: 12 },
    ]);
  });
});

describe('homeserver', () => {
  test('is a local Synapse when the section says nothing else', () => {
    expect(loadYaml('homeserver: {secret: shared-with-the-homeserver}').homeserver).toMatchObject({
      kind: 'synapse',
      homeserver: 'localhost:8008',
      endpoint: 'http://localhost:8008/',
    });
    expect(loadYaml('homeserver: {kind: none}').homeserver).toMatchObject({ kind: 'none', homeserver: 'localhost' });
    expect(loadYaml('{}').homeserver).toMatchObject({ kind: 'none', homeserver: 'localhost' });
  });

  test('synapse_modern is an alias of synapse', () => {
    const yaml = 'homeserver: {kind: synapse_modern, secret: shared-with-the-homeserver}';
    expect(loadYaml(yaml).homeserver.kind).toBe('synapse');
  });

  test.each(['synapse', 'synapse_modern', 'synapse_legacy', 'synapse_read_only'])(
    'of kind %s requires a secret',
    (kind) => {
      expect(problemsIn(`homeserver: {kind: ${kind}, homeserver: example.org}`)).toEqual([
        `homeserver.secret: missing; the kind "${kind}" needs it`,
      ]);
    },
  );
});

test.each(['example.org', 'example.org:8448', '192.0.2.1:1', '[2001:db8::1]:65535', 'localhost'])(
  '%s is a server name',
  (name) => {
    expect(problemsIn(`homeserver: {kind: none, homeserver: "${name}"}`)).toEqual([]);
  },
);

test.each([
  'https://example.org',
  'example.org/',
  'example.org:',
  'example.org:0',
  'example.org:65536',
  '@a:b',
  '-a',
  '',
])('%j is not a server name', (name) => {
  expect(problemsIn(`homeserver: {kind: none, homeserver: "${name}"}`)).toEqual([
    expect.stringMatching(/^homeserver\.homeserver: expected /),
  ]);
});

test('all rules of a section are reported together with its invalid values', () => {
  expect(problemsIn('database: {pooler: transaction, max_connections: 0, ssl_key: x}')).toEqual([
    'database.pooler: "transaction" needs "database.migration_uri", a direct connection for migrations',
    'database.max_connections: expected an integer from 1 to 1000, got 0',
    'database.ssl_key: needs "database.ssl_certificate" as well',
  ]);
});
