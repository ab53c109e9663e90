import { createPrivateKey } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { usableProcessors } from '#platform/base/machine.ts';
import { Secret } from '#platform/base/secret.ts';
import { mappingOf, type Shape } from '#platform/config/shape.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { configShape } from './config.ts';
import { load, loadYaml, problemsOfYaml } from './fixture.test-support.ts';
import { CLAIM_VARIABLES } from './sections/claim-template.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const HEX = 'ab'.repeat(32);
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA'],
];

/** The public key coordinates of RFC 7517 A.1. */
const POINT = { x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4', y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM' };

const STATEMENT_KEYS = JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', ...POINT }] });

interface Row {
  /** A valid value, as YAML. */
  readonly good: string;
  /** The resulting value in the configuration. */
  readonly reads: unknown;
  /** The property path, if it differs from the key. */
  readonly as?: string;
  readonly bad: string;
  /** The problem message after the key. */
  readonly problem: string;
}

/** A matching certificate and key for the files below. */
const PAIR = selfSigned(['auth.example']);
const ENCRYPTED_KEY = createPrivateKey(PAIR.key).export({
  ...{ type: 'pkcs8', format: 'pem' },
  ...{ cipher: 'aes-256-cbc', passphrase: 'hush' },
});

const URL_PROBLEM = 'expected an absolute http or https URL without user info or fragment, got';

function integer(good: number, range: string): Row {
  return { good: String(good), reads: good, bad: 'many', problem: `expected an integer ${range}, got "many"` };
}

function bool(reads: boolean): Row {
  return { good: String(reads), reads, bad: 'yes', problem: 'expected true or false, got "yes"' };
}

function duration(good: string, seconds: number | undefined, range: string): Row {
  const units = '(seconds, or a number with ms, s, m, h or d)';
  const problem = `expected a duration ${range} ${units}, got "5 min"`;
  return { good, reads: seconds, bad: '5 min', problem };
}

function size(range: string): Row {
  const problem = `expected a size ${range} (bytes, or a number with KiB or MiB), got "5kB"`;
  return { good: '32KiB', reads: 32_768, bad: '5kB', problem };
}

function choice(reads: string, ...accepted: string[]): Row {
  const list = accepted.map((value) => `"${value}"`).join(', ');
  const problem = `expected ${accepted.length > 1 ? 'one of ' : ''}${list}, got "neither"`;
  return { good: reads, reads, bad: 'neither', problem };
}

function template(as: string): Row {
  return {
    good: '"{{ user.id }}"',
    reads: expect.objectContaining({ source: '{{ user.id }}' }),
    as,
    bad: '"{{ usr.id }}"',
    problem: `expected a template (line 1, column 4: unknown variable "usr"; available: ${CLAIM_VARIABLES.join(', ')}), got "{{ usr.id }}"`,
  };
}

function claimAction(): Row {
  return choice('force', 'ignore', 'suggest', 'force', 'require');
}

function text(maximum: number): Row {
  return { good: 'words', reads: 'words', bad: '7', problem: `expected a string of 1 to ${maximum} characters, got 7` };
}

function url(): Row {
  const good = 'https://example.org/x?y=1';
  return { good, reads: good, bad: 'ftp://example.org/', problem: `${URL_PROBLEM} "ftp://example.org/"` };
}

function color(): Row {
  const problem = 'expected a color in quotes: "#" and six hexadecimal digits, got "teal"';
  return { good: '"#0B5FA5"', reads: '#0b5fa5', bad: 'teal', problem };
}

function path(as?: string): Row {
  const row = { good: '/srv/somewhere', reads: '/srv/somewhere', bad: '[]', problem: 'expected a path, got a list' };
  return as === undefined ? row : { ...row, as };
}

function secret(as?: string): Row {
  const problem = 'expected a non-empty string, got [secret]';
  const row = { good: 'hush', reads: 'hush', bad: '[hush]', problem };
  return as === undefined ? row : { ...row, as };
}

function portion(): Row {
  return { good: '0.25', reads: 0.25, bad: '1.5', problem: 'expected a number from 0 to 1, got 1.5' };
}

function limiterRate(): Row {
  return { good: '0.5', reads: 0.5, bad: '0', problem: 'expected a number greater than 0, got 0' };
}

function mailbox(good: string, reads: unknown): Row {
  const expected = 'expected an email address, or a name and an address as in "Name <name@example.org>"';
  return { good: `'${good}'`, reads, bad: 'club.example', problem: `${expected}, got "club.example"` };
}

/** Rows for the lists of a name matcher. */
function names(matcher: string): Record<string, Row> {
  const list = { good: '[eve]', reads: ['eve'], bad: 'eve', problem: 'expected a list, got "eve"' };
  const lists = ['literals', 'prefixes', 'suffixes', 'substrings'].map((name) => `${matcher}.${name}`);
  return Object.fromEntries(
    lists.flatMap((key): [string, Row][] => [
      [key, list],
      [`${key}[]`, text(255)],
    ]),
  );
}

/** The same rows plus the regular expressions. */
function matcher(key: string): Record<string, Row> {
  return {
    ...names(key),
    [`${key}.regexes`]: { good: '["^a+$"]', reads: ['^a+$'], bad: '^a', problem: 'expected a list, got "^a"' },
    [`${key}.regexes[]`]: {
      good: '"^mod[0-9]+$"',
      reads: '^mod[0-9]+$',
      bad: '"(?=a)b"',
      problem: 'expected a regular expression in RE2 syntax (invalid or unsupported Perl syntax: `(?=`), got "(?=a)b"',
    },
  };
}

function domains(name: string, as: string): Record<string, Row> {
  const problem = 'expected a domain such as "example.org" or "*.example.org", got "example..org"';
  return {
    [`policy.data.${name}`]: {
      good: '[example.org]',
      reads: ['example.org'],
      as,
      bad: 'x',
      problem: 'expected a list, got "x"',
    },
    [`policy.data.${name}[]`]: {
      good: '"*.BÜCHER.example"',
      reads: '*.xn--bcher-kva.example',
      as: `${as}[]`,
      bad: 'example..org',
      problem,
    },
  };
}

const NO_NAMES = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };

const DEFAULT_RESOURCES = [
  'discovery',
  'human',
  'oauth',
  'compat',
  'graphql',
  'assets',
  'adminapi',
  'adminarea',
  'health',
];
const RESOURCES = [...DEFAULT_RESOURCES, 'prometheus', 'connection-info'];
const LISTENER = {
  name: '0',
  resources: [{ name: 'human' }],
  binds: [{ host: undefined, port: 1 }],
  prefix: undefined,
  cleartextHttp2: false,
};
const POSTGRES = {
  good: 'postgres://role:pass@db.example/name',
  reads: 'db.example',
  bad: 'mysql://role:pass@db/name',
};
const HEX_PROBLEM = 'expected 64 hexadecimal characters, got [secret]';

const ROWS: Readonly<Record<string, Row>> = {
  data_dir: path(),
  protocol_name: {
    good: 'matrix',
    reads: 'matrix',
    bad: 'Matrix',
    problem: 'expected a lowercase word of at most 32 letters and digits, got "Matrix"',
  },
  'http.public_base': {
    good: 'https://example.org/auth',
    reads: 'https://example.org/auth/',
    bad: 'https://example.org/?a=b',
    problem:
      'expected an absolute http or https URL without user info, query or fragment, got "https://example.org/?a=b"',
  },
  'http.issuer': {
    good: 'https://example.org',
    reads: 'https://example.org',
    bad: 'https://user@example.org/',
    problem: 'expected an absolute http or https URL without user info, query or fragment, got',
  },
  'http.trusted_proxies': {
    good: '["2001:db8::1"]',
    reads: [{ address: '2001:db8::1', prefixLength: 128, family: 'ipv6' }],
    bad: '10.0.0.0/8',
    problem: 'expected a list, got "10.0.0.0/8"',
  },
  'http.trusted_proxies[]': {
    good: '192.0.2.0/24',
    reads: { address: '192.0.2.0', prefixLength: 24, family: 'ipv4' },
    bad: '192.0.2.1/24',
    problem: 'expected an IP address, a network (IP/prefix, no host bits set) or "private", got "192.0.2.1/24"',
  },
  'http.client_ip_header': choice('forwarded', 'x-forwarded-for', 'forwarded', 'none'),
  'http.hsts': bool(false),
  'http.workers': {
    good: '3',
    reads: 3,
    bad: 'many',
    problem: 'expected an integer from 1 to 64 or "auto", got "many"',
  },
  'http.listeners': {
    good: '[{resources: [human], binds: [{port: 1}]}]',
    reads: [LISTENER],
    bad: '[]',
    problem: 'expected a non-empty list, got [secret]',
  },
  'http.listeners[].name': text(64),
  'http.listeners[].resources': {
    good: '[oauth, {name: human}]',
    reads: [{ name: 'oauth' }, { name: 'human' }],
    bad: '[]',
    problem: 'expected a non-empty list, got a list',
  },
  'http.listeners[].resources[]': {
    good: 'health',
    reads: { name: 'health' },
    bad: 'everything',
    problem:
      'expected a resource: discovery, human, oauth, compat, graphql, assets, adminapi, adminarea, health, prometheus, connection-info, got "everything"',
  },
  'http.listeners[].resources[].name': choice('assets', ...RESOURCES),
  'http.listeners[].binds': {
    good: '[{host: localhost, port: 1}]',
    reads: [{ host: 'localhost', port: 1 }],
    bad: '1',
    problem: 'expected a non-empty list, got 1',
  },
  'http.listeners[].binds[].address': {
    good: '"[::1]:0"',
    reads: { host: '::1', port: 0 },
    as: 'http.listeners.0.binds.0',
    bad: 'localhost:80',
    problem: 'expected "host:port" or "[host]:port" with an IP address and a port from 0 to 65535, got "localhost:80"',
  },
  'http.listeners[].binds[].host': {
    good: 'localhost',
    reads: 'localhost',
    bad: 'a b',
    problem: 'expected a host name or an IP address, got "a b"',
  },
  'http.listeners[].binds[].port': integer(0, 'from 0 to 65535'),
  'http.listeners[].binds[].socket': path(),
  'http.listeners[].binds[].mode': {
    good: '"660"',
    reads: 0o660,
    bad: '"rw"',
    problem: 'expected octal permissions in quotes, such as "660", got "rw"',
  },
  'http.listeners[].binds[].fd': { ...integer(1, 'from 0 to 1000'), as: 'http.listeners.0.binds.0.inherited' },
  'http.listeners[].binds[].fd_name': {
    good: 'web',
    reads: 'web',
    as: 'http.listeners.0.binds.0.inherited',
    bad: 'a:b',
    problem: 'expected a name without spaces or ":", got "a:b"',
  },
  'http.listeners[].binds[].kind': choice('unix', 'tcp', 'unix'),
  'http.listeners[].prefix': {
    good: '/auth/',
    reads: '/auth',
    bad: 'auth',
    problem: 'expected a path that starts with "/", got "auth"',
  },
  'http.listeners[].proxy_protocol': {
    good: 'true',
    reads: { from: undefined },
    bad: '1',
    problem: 'expected true, false or {from: [network]}, got 1',
  },
  'http.listeners[].proxy_protocol.from': {
    good: '[192.0.2.1]',
    reads: [{ address: '192.0.2.1', prefixLength: 32, family: 'ipv4' }],
    bad: '[]',
    problem: 'expected a non-empty list, got a list',
  },
  'http.listeners[].cleartext_http2': bool(true),
  'http.listeners[].tls.certificate': { ...secret(), good: JSON.stringify(PAIR.cert), reads: PAIR.cert },
  'http.listeners[].tls.key': { ...secret(), good: JSON.stringify(PAIR.key), reads: PAIR.key },
  'http.listeners[].tls.password': { ...secret(), good: 'hush', reads: 'hush' },
  'http.listeners[].tls.min_version': choice('TLSv1.3', 'TLSv1.2', 'TLSv1.3'),
  'database.uri': { ...POSTGRES, as: 'database.server.servers.0.host', problem: 'expected "embedded:", "embedded:///' },
  'database.host': {
    good: 'db.example',
    reads: 'db.example',
    as: 'database.server.servers.0.host',
    bad: 'a b',
    problem: 'expected a host name or an IP address, got "a b"',
  },
  'database.port': { ...integer(5433, 'from 1 to 65535'), as: 'database.server.servers.0.port' },
  'database.socket': path('database.server.servers.0.host'),
  'database.username': { ...text(63), as: 'database.server.user' },
  'database.password': secret('database.server.password'),
  'database.database': { ...text(63), as: 'database.server.database' },
  'database.ssl_mode': {
    ...choice('verify-full', 'disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'),
    as: 'database.server.sslMode',
  },
  'database.ssl_ca': secret('database.server.sslCa'),
  'database.ssl_certificate': secret('database.server.sslCertificate'),
  'database.ssl_key': secret('database.server.sslKey'),
  'database.max_connections': integer(1000, 'from 1 to 1000'),
  'database.min_connections': integer(5, 'from 0 to 1000'),
  'database.connect_timeout': duration('1m', 60, 'of 1s or more'),
  'database.acquire_timeout': duration('250ms', 0.25, 'of 1ms or more'),
  'database.idle_timeout': duration('null', undefined, 'of 1s or more'),
  'database.max_lifetime': duration('1h', 3600, 'of 1s or more'),
  'database.statement_timeout': duration('500ms', 0.5, 'of 1ms or more'),
  'database.slow_statement': duration('2', 2, 'of 1ms or more'),
  'database.pooler': choice('session', 'none', 'session', 'transaction'),
  'database.migration_uri': {
    ...POSTGRES,
    as: 'database.migrationServer.servers.0.host',
    problem: 'expected "postgres://',
  },
  'database.embedded.user': {
    good: 'postgres',
    reads: 'postgres',
    as: 'database.server.user',
    bad: '"70"',
    problem: 'expected the name of an account, got "70"',
  },
  'database.embedded.bin_dir': path('database.server.binDir'),
  'secrets.encryption': { good: HEX, reads: HEX, bad: 'abc', problem: HEX_PROBLEM },
  'secrets.encryption_previous': { good: `[${HEX}]`, reads: [HEX], bad: HEX, problem: 'expected a list, got [secret]' },
  'secrets.encryption_previous[]': { good: HEX, reads: HEX, bad: 'abc', problem: 'expected 64 hexadecimal characters' },
  'secrets.keys': { good: '[]', reads: [], bad: 'PEM', problem: 'expected a list, got [secret]' },
  'secrets.keys[].kid': text(255),
  'secrets.keys[].key': secret(),
  'secrets.keys[].password': secret(),
  'secrets.keys[].alg': choice('PS256', ...ALGORITHMS),
  'secrets.keys[].use_for_signing': bool(false),
  clients: { good: '[]', reads: [], bad: 'none', problem: 'expected a list, got [secret]' },
  'clients[].client_id': {
    good: ULID,
    reads: ULID,
    bad: 'app',
    problem: 'expected a ULID: 26 uppercase characters in Crockford base32, the first one 0 to 7 (here is a new one: ',
  },
  'clients[].client_auth_method': choice(
    ...['none', 'none', 'client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'],
  ),
  'clients[].client_secret': {
    good: 'sixteen characters',
    reads: 'sixteen characters',
    bad: 'short',
    problem: 'expected at least 16 characters, got [secret]',
  },
  'clients[].jwks': {
    good: JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', ...POINT, kid: 'one', x5t: 'x' }] }),
    reads: { keys: [{ kty: 'EC', crv: 'P-256', ...POINT, kid: 'one', x5t: 'x' }] },
    bad: JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', ...POINT, d: 'private' }] }),
    problem: 'not a JSON Web Key Set of public keys: it is invalid: keys[0] is a private key',
  },
  'clients[].jwks_uri': {
    good: 'https://app.example/keys',
    reads: 'https://app.example/keys',
    bad: 'http://app.example/keys',
    problem: 'expected an https URL, got "http://app.example/keys"',
  },
  'clients[].token_endpoint_auth_signing_alg': choice('PS384', 'HS256', 'HS384', 'HS512', ...ALGORITHMS, 'Ed25519'),
  'clients[].application_type': choice('native', 'web', 'native'),
  'clients[].backchannel_logout_uri': url(),
  'clients[].post_logout_redirect_uris': { good: '[]', reads: [], bad: 'x', problem: 'expected a list, got "x"' },
  'clients[].redirect_uris': { good: '[]', reads: [], bad: 'x', problem: 'expected a list, got "x"' },
  'clients[].redirect_uris[]': {
    good: 'com.example:/callback',
    reads: 'com.example:/callback',
    bad: 'https://example.org/#here',
    problem: 'expected a redirect URI: must not have a fragment, got "https://example.org/#here"',
  },
  'clients[].client_name': text(255),
  'clients[].client_uri': url(),
  'clients[].policy_uri': url(),
  'clients[].logo_uri': url(),
  'clients[].tos_uri': url(),
  'clients[].grant_types': {
    good: '[refresh_token]',
    reads: ['refresh_token'],
    bad: '[]',
    problem: 'expected a non-empty list, got a list',
  },
  'clients[].grant_types[]': choice(
    'authorization_code',
    ...['authorization_code', 'refresh_token', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'],
  ),
  'clients[].scope': {
    good: 'openid profile',
    reads: ['openid', 'profile'],
    bad: '"openid  profile"',
    problem: 'expected scope names separated by single spaces, got "openid  profile"',
  },
  'clients[].first_party': bool(true),
  'clients[].allowed_groups': { good: '[staff]', reads: ['staff'], bad: 'x', problem: 'expected a list, got "x"' },
  'clients[].allowed_groups[]': {
    good: 'staff',
    reads: 'staff',
    bad: '" staff"',
    problem:
      'expected the name of a group: 1 to 255 characters, without control characters or leading or trailing whitespace, got " staff"',
  },
  'clients[].token_exchange.subjects': {
    good: '["*"]',
    reads: ['*'],
    bad: '[]',
    problem: 'expected a non-empty list, got a list',
  },
  'clients[].token_exchange.subjects[]': {
    good: '"*"',
    reads: '*',
    bad: 'app',
    problem: 'expected the id of a client, or "*", got "app"',
  },
  'clients[].token_exchange.scopes': {
    good: '[openid]',
    reads: ['openid'],
    bad: 'x',
    problem: 'expected a list, got "x"',
  },
  'clients[].token_exchange.scopes[]': {
    good: 'openid',
    reads: 'openid',
    bad: 'urn:latchkey:admin',
    problem:
      'expected a scope other than those for administrators, accounts, chat clients and offline_access, got "urn:latchkey:admin"',
  },
  'clients[].token_exchange.audiences': { good: '[]', reads: [], bad: 'x', problem: 'expected a list, got "x"' },
  'clients[].token_exchange.audiences[]': url(),
  'clients[].token_exchange.impersonation': bool(true),
  'clients[].default_max_age': integer(0, 'of 0 or more'),
  'clients[].require_auth_time': bool(true),
  'clients[].require_pushed_authorization_requests': bool(true),
  'clients[].require_signed_request_object': bool(true),
  'clients[].request_object_signing_alg': choice('PS384', ...ALGORITHMS, 'Ed25519'),
  'clients[].default_acr_values': { good: '[a]', reads: ['a'], bad: 'x', problem: 'expected a list, got "x"' },
  'clients[].default_acr_values[]': text(255),
  'clients[].backchannel_logout_session_required': bool(true),
  'clients[].id_token_claims': bool(false),
  'clients[].claims': {
    good: '{tenant: acme, levels: [1, {a: null}]}',
    reads: { tenant: 'acme', levels: [1, { a: null }] },
    bad: 'x',
    problem: 'expected an object, got "x"',
  },
  'clients[].strict_auth_method': bool(true),
  'clients[].subject_type': choice('public', 'public', 'pairwise'),
  'clients[].sector_identifier_uri': url(),
  'clients[].dpop_bound_access_tokens': bool(true),
  'clients[].id_token_signed_response_alg': choice('EdDSA', ...ALGORITHMS),
  'clients[].userinfo_signed_response_alg': choice('ES256', ...ALGORITHMS),
  'clients[].introspection_signed_response_alg': choice('PS512', ...ALGORITHMS),
  'clients[].authorization_signed_response_alg': choice('PS512', ...ALGORITHMS),
  'clients[].profile': choice('fapi2', 'fapi2'),
  'homeserver.kind': choice(
    'synapse_legacy',
    ...['synapse', 'synapse_modern', 'synapse_legacy', 'synapse_read_only', 'none'],
  ),
  'homeserver.homeserver': {
    good: 'example.org:8448',
    reads: 'example.org:8448',
    bad: 'https://example.org',
    problem: 'expected a server name, host[:port], got "https://example.org"',
  },
  'homeserver.endpoint': {
    good: 'https://chat.example.org/inside',
    reads: 'https://chat.example.org/inside/',
    bad: 'chat.example.org:8008',
    problem: 'expected an absolute http or https URL without user info, query or fragment, got "chat.example.org:8008"',
  },
  'homeserver.secret': secret(),
  'homeserver.timeout': duration('1m', 60, 'from 1s to 5m'),
  'homeserver.connect_timeout': duration('2s', 2, 'from 1s to 1m'),
  'homeserver.max_concurrent': integer(8, 'from 1 to 500'),
  'compat.enabled': bool(false),
  'compat.password_login': bool(false),
  'compat.login_token_ttl': duration('1m', 60, 'from 10s to 2m'),
  'compat.advertise_upstream_providers': { ...bool(true), as: 'compat.advertises_upstream_providers' },
  'compat.sso_login_ttl': duration('10m', 600, 'from 5m to 1h'),
  'compat.sso_allowed_redirects': {
    good: '["https://app.example/"]',
    reads: ['https://app.example/'],
    bad: 'https://app.example/',
    problem: 'expected a list, got "https://app.example/"',
  },
  'compat.sso_allowed_redirects[]': {
    good: 'app.example:/signed-in',
    reads: 'app.example:/signed-in',
    bad: 'javascript:alert(1)',
    problem: 'expected an absolute URL, got "javascript:alert(1)"',
  },
  'compat.logout_all': choice('compat_only', 'all', 'compat_only'),
  'passwords.enabled': bool(false),
  'passwords.minimum_complexity': integer(4, 'from 0 to 4'),
  'passwords.minimum_length': integer(12, 'from 1 to 64'),
  'passwords.breach_check': { ...bool(true), as: 'passwords.hasBreachCheck' },
  'passwords.maximum_length': integer(4096, 'from 64 to 4096'),
  'passwords.schemes': {
    good: '[{version: 2, algorithm: bcrypt}]',
    reads: [{ version: 2, algorithm: 'bcrypt', cost: 12, unicodeNormalization: false, secret: undefined }],
    bad: '[]',
    problem: 'expected a non-empty list, got [secret]',
  },
  'passwords.schemes[].version': integer(65_535, 'from 1 to 65535'),
  'passwords.schemes[].algorithm': choice('argon2id', 'argon2id', 'bcrypt', 'pbkdf2'),
  'passwords.schemes[].cost': integer(10, 'from 4 to 31'),
  'passwords.schemes[].memory_kib': integer(65_536, 'from 8 to 1048576'),
  'passwords.schemes[].iterations': integer(3, 'from 1 to 1000'),
  'passwords.schemes[].parallelism': integer(4, 'from 1 to 255'),
  'passwords.schemes[].rounds': integer(700_000, 'from 100000 to 10000000'),
  'passwords.schemes[].unicode_normalization': bool(true),
  'passwords.schemes[].secret': secret(),
  'passwords.schemes[].secret_bytes': {
    good: 'base64:/wo=',
    reads: '/wo=',
    as: 'passwords.schemes[].secret',
    bad: '/wo=',
    problem: 'expected "base64:" and bytes in base64, got [secret]',
  },
  'account.login_with_email_allowed': bool(true),
  'account.reauth_max_age': duration('null', undefined, 'from 1m to 24h'),
  'account.second_factor': choice('required', 'off', 'optional', 'required'),
  'account.second_factor_after_upstream': choice('if_enrolled', 'never', 'if_enrolled'),
  'account.second_factor_on_reauth': bool(false),
  'account.second_factor_trust_days': integer(30, 'from 0 to 90'),
  'account.password_registration_enabled': bool(true),
  'account.password_registration_token_required': bool(true),
  'account.password_registration_email_required': bool(true),
  'account.password_change_allowed': bool(false),
  'account.email_change_allowed': bool(false),
  'account.keep_one_email': { ...bool(false), as: 'account.keeps_one_email' },
  'account.account_deactivation_allowed': { ...bool(false), as: 'account.deactivation_allowed' },
  'account.data_export_enabled': bool(false),
  'account.totp_enabled': bool(false),
  'account.passkeys_enabled': bool(false),
  'account.passkey_offer': bool(false),
  'account.displayname_change_allowed': { ...bool(false), as: 'account.display_name_change_allowed' },
  'account.profile_change_allowed': bool(false),
  'account.password_recovery_enabled': bool(true),
  'account.recovery_ticket_ttl': duration('20m', 1200, 'from 5m to 60m'),
  'account.recovery_session_ttl': duration('24h', 86_400, 'from 10m to 24h'),
  'account.recovery_sets_first_password': bool(true),
  'account.recovery_signs_out_devices': bool(true),
  'account.activity_retention': { ...duration('30d', 2_592_000, 'from 30d to 1095d'), as: 'retention.activity' },
  'account.client_logos': choice('proxy', 'initials', 'proxy'),
  'account.registration_ttl': duration('24h', 86_400, 'from 10m to 24h'),
  'admin_area.enabled': bool(false),
  'admin_area.max_age': { ...duration('5m', 300, 'from 5m to 12h'), as: 'admin_area.max_age' },
  'admin_area.require_second_factor': { ...bool(true), as: 'admin_area.requires_second_factor' },
  'email.transport': { ...choice('sendmail', 'blackhole', 'smtp', 'sendmail', 'file'), as: 'email.transport.kind' },
  'email.from': mailbox('"Club, \\"Würzburg\\"" <noreply@club.example>', {
    name: 'Club, "Würzburg"',
    address: 'noreply@club.example',
  }),
  'email.reply_to': mailbox('help@club.example', { address: 'help@club.example' }),
  'email.hostname': {
    good: 'mail.example',
    reads: 'mail.example',
    as: 'email.transport.hostname',
    bad: 'smtp://mail.example',
    problem: 'expected a host name or an IP address, got "smtp://mail.example"',
  },
  'email.ehlo_name': {
    good: 'mail.example',
    reads: 'mail.example',
    as: 'email.transport.ehloName',
    bad: '"[300"',
    problem: 'expected a host name, or an IP address in brackets, got "[300"',
  },
  'email.port': { ...integer(2525, 'from 1 to 65535'), as: 'email.transport.port' },
  'email.mode': { ...choice('tls', 'plain', 'starttls', 'tls'), as: 'email.transport.mode' },
  'email.username': { ...text(255), as: 'email.transport.credentials.username' },
  'email.password': secret('email.transport.credentials.password'),
  'email.command': path('email.transport.command'),
  'email.timeout': { ...duration('10s', 10, 'from 1s to 10m'), as: 'email.transport.timeout' },
  'email.max_connections': integer(5, 'from 1 to 50'),
  'email.max_per_minute': integer(100, 'from 1 to 100000'),
  'email.security_notices': bool(false),
  'email.notify_unknown_recovery': bool(true),
  'email.code_ttl': duration('60m', 3600, 'from 1m to 60m'),
  'email.allow_single_label_domains': {
    good: '[localhost]',
    reads: ['localhost'],
    bad: 'localhost',
    problem: 'expected a list, got "localhost"',
  },
  'email.allow_single_label_domains[]': {
    good: 'localhost',
    reads: 'localhost',
    bad: 'example.org',
    problem: 'expected a host name without dots, in lowercase letters, got "example.org"',
  },
  'rate_limiting.second_factor.per_account.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.second_factor.per_account.per_second': limiterRate(),
  'rate_limiting.login.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.login.per_ip.per_second': limiterRate(),
  'rate_limiting.login.per_account.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.login.per_account.per_second': limiterRate(),
  'rate_limiting.login.per_known_browser.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.login.per_known_browser.per_second': limiterRate(),
  'rate_limiting.registration.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.registration.per_second': limiterRate(),
  'rate_limiting.registration_check.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.registration_check.per_second': limiterRate(),
  'rate_limiting.email_authentication.attempt_per_session.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.email_authentication.attempt_per_session.per_second': limiterRate(),
  'rate_limiting.email_authentication.emails_per_session.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.email_authentication.emails_per_session.per_second': limiterRate(),
  'rate_limiting.email_authentication.per_address.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.email_authentication.per_address.per_second': limiterRate(),
  'rate_limiting.email_authentication.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.email_authentication.per_ip.per_second': limiterRate(),
  'rate_limiting.account_recovery.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.account_recovery.per_ip.per_second': limiterRate(),
  'rate_limiting.account_recovery.per_address.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.account_recovery.per_address.per_second': limiterRate(),
  'rate_limiting.registration_token.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.registration_token.per_second': limiterRate(),
  'rate_limiting.graphql.authenticated.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.graphql.authenticated.per_second': limiterRate(),
  'rate_limiting.graphql.anonymous.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.graphql.anonymous.per_second': limiterRate(),
  'rate_limiting.admin_token.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.admin_token.per_ip.per_second': limiterRate(),
  'rate_limiting.client_registration.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.client_registration.per_ip.per_second': limiterRate(),
  'rate_limiting.client_authentication.per_client.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.client_authentication.per_client.per_second': limiterRate(),
  'rate_limiting.device_code.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.device_code.per_ip.per_second': limiterRate(),
  'rate_limiting.device_code.global.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.device_code.global.per_second': limiterRate(),
  'rate_limiting.par.per_client.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.par.per_client.per_second': limiterRate(),
  'rate_limiting.device_authorization.per_client.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.device_authorization.per_client.per_second': limiterRate(),
  'rate_limiting.passkey.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.passkey.per_ip.per_second': limiterRate(),
  'rate_limiting.upstream.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.upstream.per_ip.per_second': limiterRate(),
  'rate_limiting.sso_redirect.per_ip.burst': integer(5, 'from 1 to 1000000'),
  'rate_limiting.sso_redirect.per_ip.per_second': limiterRate(),
  'upstream_oauth2.providers': { good: '[]', reads: [], bad: 'none', problem: 'expected a list, got [secret]' },
  'upstream_oauth2.providers[].id': {
    good: ULID,
    reads: ULID,
    bad: 'google',
    problem: 'expected a ULID: 26 uppercase characters in Crockford base32, the first one 0 to 7 (here is a new one: ',
  },
  'upstream_oauth2.providers[].enabled': { ...bool(false), as: 'upstream_oauth2.providers[].is_enabled' },
  'upstream_oauth2.providers[].issuer': {
    good: 'https://id.example/realm',
    reads: 'https://id.example/realm',
    bad: 'https://id.example/?realm',
    problem: 'expected an absolute http or https URL without user info, query or fragment, got',
  },
  'upstream_oauth2.providers[].human_name': text(100),
  'upstream_oauth2.providers[].brand_name': {
    good: 'github',
    reads: 'github',
    bad: 'Git Hub',
    problem: 'expected a lowercase word of at most 32 characters, got "Git Hub"',
  },
  'upstream_oauth2.providers[].client_id': text(2048),
  'upstream_oauth2.providers[].client_secret': secret(),
  'upstream_oauth2.providers[].token_endpoint_auth_method': {
    ...choice(
      ...['none', 'none', 'client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'],
      'sign_in_with_apple',
    ),
    as: 'upstream_oauth2.providers[].auth_method',
  },
  'upstream_oauth2.providers[].token_endpoint_auth_signing_alg': {
    ...choice('PS384', ...ALGORITHMS, 'HS256', 'HS384', 'HS512'),
    as: 'upstream_oauth2.providers[].auth_signing_alg',
  },
  'upstream_oauth2.providers[].id_token_signed_response_alg': {
    ...choice('ES256', ...ALGORITHMS, 'Ed25519', 'HS256', 'HS384', 'HS512'),
    as: 'upstream_oauth2.providers[].id_token_alg',
  },
  'upstream_oauth2.providers[].scope': {
    good: 'openid email',
    reads: 'openid email',
    bad: '"openid  email"',
    problem: 'expected scope names separated by single spaces, got "openid  email"',
  },
  'upstream_oauth2.providers[].discovery_mode': choice('insecure', 'oidc', 'insecure', 'disabled'),
  'upstream_oauth2.providers[].pkce_method': choice('never', 'auto', 'always', 'never'),
  'upstream_oauth2.providers[].fetch_userinfo': { ...bool(true), as: 'upstream_oauth2.providers[].fetches_userinfo' },
  'upstream_oauth2.providers[].userinfo_signed_response_alg': {
    ...choice('ES256', ...ALGORITHMS, 'Ed25519', 'HS256', 'HS384', 'HS512'),
    as: 'upstream_oauth2.providers[].userinfo_alg',
  },
  'upstream_oauth2.providers[].authorization_endpoint': url(),
  'upstream_oauth2.providers[].token_endpoint': url(),
  'upstream_oauth2.providers[].userinfo_endpoint': url(),
  'upstream_oauth2.providers[].jwks_uri': url(),
  'upstream_oauth2.providers[].response_mode': choice('form_post', 'query', 'form_post'),
  'upstream_oauth2.providers[].registration_enabled': {
    ...bool(false),
    as: 'upstream_oauth2.providers[].is_registration_enabled',
  },
  'upstream_oauth2.providers[].registration_token_required': {
    ...bool(true),
    as: 'upstream_oauth2.providers[].is_registration_token_required',
  },
  'upstream_oauth2.providers[].linking_enabled': {
    ...bool(false),
    as: 'upstream_oauth2.providers[].is_linking_enabled',
  },
  'upstream_oauth2.providers[].allow_unlink': {
    ...bool(false),
    as: 'upstream_oauth2.providers[].is_unlink_allowed',
  },
  'upstream_oauth2.providers[].on_backchannel_logout': {
    ...choice('logout_all', 'do_nothing', 'logout_browser_only', 'logout_all'),
  },
  'upstream_oauth2.providers[].trust_amr': { ...bool(true), as: 'upstream_oauth2.providers[].trusts_amr' },
  'upstream_oauth2.providers[].nonce': {
    ...choice('optional', 'required', 'optional'),
    reads: true,
    as: 'upstream_oauth2.providers[].is_nonce_optional',
  },
  'upstream_oauth2.providers[].reauthentication': choice('prompt', 'auth_time', 'prompt'),
  'upstream_oauth2.providers[].synapse_idp_id': {
    good: 'oidc-google',
    reads: 'oidc-google',
    bad: 'oidc/google',
    problem: 'expected the name of the provider in Synapse, for example oidc-google',
  },
  'upstream_oauth2.providers[].additional_authorization_parameters': {
    good: '{login_hint: "{{ params.login_hint }}", domain: example}',
    reads: [
      { name: 'login_hint', template: expect.objectContaining({ source: '{{ params.login_hint }}' }) },
      { name: 'domain', template: expect.objectContaining({ source: 'example' }) },
    ],
    as: 'upstream_oauth2.providers[].additional_parameters',
    bad: '[login_hint]',
    problem: 'expected a mapping of parameter names to templates, got',
  },
  'upstream_oauth2.providers[].forward_login_hint': {
    ...bool(true),
    reads: [{ name: 'login_hint', template: expect.objectContaining({ source: '{{ params.login_hint }}' }) }],
    as: 'upstream_oauth2.providers[].additional_parameters',
  },
  'upstream_oauth2.providers[].claims_imports.subject.template': template(
    'upstream_oauth2.providers[].subject_template',
  ),
  'upstream_oauth2.providers[].claims_imports.account_name.template': template(
    'upstream_oauth2.providers[].account_name_template',
  ),
  'upstream_oauth2.providers[].claims_imports.localpart.action': claimAction(),
  'upstream_oauth2.providers[].claims_imports.localpart.template': template(
    'upstream_oauth2.providers[].claims_imports.localpart.template',
  ),
  'upstream_oauth2.providers[].claims_imports.localpart.on_conflict': choice('set', 'fail', 'add', 'replace', 'set'),
  'upstream_oauth2.providers[].claims_imports.localpart.trust_provider': {
    ...bool(true),
    as: 'upstream_oauth2.providers[].claims_imports.localpart.trusts_provider',
  },
  'upstream_oauth2.providers[].claims_imports.displayname.action': {
    ...claimAction(),
    as: 'upstream_oauth2.providers[].claims_imports.display_name.action',
  },
  'upstream_oauth2.providers[].claims_imports.displayname.template': template(
    'upstream_oauth2.providers[].claims_imports.display_name.template',
  ),
  'upstream_oauth2.providers[].claims_imports.email.action': claimAction(),
  'upstream_oauth2.providers[].claims_imports.email.template': template(
    'upstream_oauth2.providers[].claims_imports.email.template',
  ),
  'upstream_oauth2.providers[].claims_imports.email.set_email_verification': choice(
    'never',
    'import',
    'always',
    'never',
  ),
  'upstream_oauth2.providers[].claims_imports.groups.action': choice('force', 'ignore', 'force'),
  'upstream_oauth2.providers[].claims_imports.groups.template': template(
    'upstream_oauth2.providers[].claims_imports.groups.template',
  ),
  'upstream_oauth2.providers[].claims_imports.skip_confirmation': {
    ...bool(true),
    as: 'upstream_oauth2.providers[].claims_imports.skips_confirmation',
  },
  'oauth.authorization_code_ttl': duration('10', 10, 'from 10s to 600s'),
  'oauth.authorization_grant_ttl': duration('5m', 300, 'from 5m to 24h'),
  'oauth.device_code_grant_enabled': bool(false),
  'oauth.device_code_ttl': duration('60', 60, 'from 60s to 3600s'),
  'oauth.device_code_user_code_auto_fill_enabled': bool(false),
  'oauth.require_pushed_authorization_requests': bool(true),
  'oauth.dpop_require_nonce': bool(true),
  'oauth.id_token_ttl': duration('1d', 86_400, 'from 60s to 86400s'),
  'oauth.refresh_grace': duration('0', 0, 'from 0s to 300s'),
  'oauth.session_max_lifetime': duration('730d', 63_072_000, 'from 1h to 730d'),
  'oauth.resources': {
    good: '[{identifier: "https://api.example", access_token_ttl: 10m}]',
    reads: [{ identifier: 'https://api.example', scopes: [], resourceTokenTtlSeconds: 600, tokenAlgorithm: undefined }],
    bad: 'https://api.example',
    problem: 'expected a list, got "https://api.example"',
  },
  'oauth.resources[].identifier': {
    good: 'urn:example:api',
    reads: 'urn:example:api',
    bad: 'https://api.example/#part',
    problem: 'expected an absolute URI without fragment, got "https://api.example/#part"',
  },
  'oauth.resources[].scopes': { good: '[read]', reads: ['read'], bad: 'read', problem: 'expected a list, got "read"' },
  'oauth.resources[].scopes[]': {
    good: 'read',
    reads: 'read',
    bad: 'openid',
    problem: 'expected a scope of the resource server, not one of this service, got "openid"',
  },
  'oauth.resources[].access_token_ttl': {
    ...duration('60', 60, 'from 60s to 86400s'),
    as: 'oauth.resources.0.resourceTokenTtlSeconds',
  },
  'oauth.resources[].token_format': {
    ...choice('jwt', 'opaque', 'jwt'),
    reads: 'RS256',
    as: 'oauth.resources.0.tokenAlgorithm',
  },
  'oauth.resources[].signing_alg': {
    ...choice('ES256', ...ALGORITHMS),
    as: 'oauth.resources.0.tokenAlgorithm',
  },
  'assets.source_maps': { ...bool(true), as: 'assets.hasSourceMaps' },
  'oauth.remember_consent': bool(false),
  'oauth.introspection_callers': choice('own', 'confidential', 'static', 'own'),
  'oauth.dynamic_registration.enabled': bool(false),
  'oauth.client_id_metadata_documents.enabled': bool(true),
  'oauth.client_id_metadata_documents.allowed_hosts': {
    good: '[apps.example.org, "*.example.com"]',
    reads: ['apps.example.org', '*.example.com'],
    bad: 'apps.example.org',
    problem: 'expected a list, got "apps.example.org"',
  },
  'oauth.dynamic_registration.initial_access_token': {
    good: 'a-token-for-registering',
    reads: 'a-token-for-registering',
    bad: 'short',
    problem: 'expected at least 16 printable characters, got [secret]',
  },
  'oauth.dynamic_registration.software_statement_issuers': {
    good: `[{issuer: "https://federation.example", jwks: ${STATEMENT_KEYS}}]`,
    reads: [{ issuer: 'https://federation.example', jwks: JSON.parse(STATEMENT_KEYS) }],
    bad: 'https://federation.example',
    problem: 'expected a list, got "https://federation.example"',
  },
  'oauth.dynamic_registration.software_statement_issuers[].issuer': {
    good: 'urn:federation',
    reads: 'urn:federation',
    bad: '""',
    problem: 'expected the value of `iss`, got ""',
  },
  'oauth.dynamic_registration.software_statement_issuers[].jwks': {
    good: STATEMENT_KEYS,
    reads: JSON.parse(STATEMENT_KEYS),
    bad: '{}',
    problem: 'not a JSON Web Key Set of public keys: it',
  },
  'oauth.dynamic_registration.unused_client_ttl': {
    ...duration('2d', 172_800, 'from 1d to 365d'),
    as: 'retention.unusedClientsSeconds',
  },
  'oauth.service_documentation': url(),
  'policy.module': path('policy.modulePath'),
  'policy.data.admin_users': {
    good: '[alice]',
    reads: ['alice'],
    bad: 'alice',
    problem: 'expected a list, got "alice"',
  },
  'policy.data.admin_users[]': text(255),
  'policy.data.admin_clients': { good: `[${ULID}]`, reads: [ULID], bad: 'app', problem: 'expected a list, got "app"' },
  'policy.data.admin_clients[]': { good: ULID, reads: ULID, bad: 'app', problem: 'expected a ULID' },
  'policy.data.client_registration.allow_host_mismatch': bool(true),
  'policy.data.client_registration.allow_insecure_uris': bool(true),
  'policy.data.client_registration.allow_missing_client_uri': bool(true),
  'policy.data.client_registration.allow_private_use_schemes': bool(true),
  'policy.data.client_registration.preset': {
    good: 'mcp',
    reads: 'mcp',
    bad: 'agents',
    problem: 'expected "mcp", got "agents"',
  },
  ...matcher('policy.data.registration.allowed_usernames'),
  ...matcher('policy.data.registration.banned_usernames'),
  ...domains('allowed_domains', 'policy.data.emails.allowedDomains'),
  ...domains('banned_domains', 'policy.data.emails.bannedDomains'),
  ...matcher('policy.data.emails.allowed_addresses'),
  ...matcher('policy.data.emails.banned_addresses'),
  'policy.data.requester.banned_ips': {
    good: '["192.0.2.1"]',
    reads: [{ address: '192.0.2.1', prefixLength: 32, family: 'ipv4' }],
    bad: '192.0.2.1',
    problem: 'expected a list, got "192.0.2.1"',
  },
  'policy.data.requester.banned_ips[]': {
    good: '192.0.2.0/24',
    reads: { address: '192.0.2.0', prefixLength: 24, family: 'ipv4' },
    bad: '192.0.2.1/24',
    problem: 'expected an IP address or network (IP/prefix, no host bits set), got "192.0.2.1/24"',
  },
  ...matcher('policy.data.requester.banned_user_agents'),
  'captcha.service': choice('hcaptcha', 'recaptcha_v2', 'cloudflare_turnstile', 'hcaptcha'),
  'captcha.site_key': text(255),
  'captcha.secret_key': secret(),
  'captcha.on': {
    good: '[login]',
    reads: ['login'],
    as: 'captcha.forms',
    bad: 'login',
    problem: 'expected a non-empty list, got "login"',
  },
  'captcha.on[]': { ...choice('recover', 'register', 'recover', 'login'), as: 'captcha.forms[]' },
  'branding.service_name': text(100),
  'branding.policy_uri': url(),
  'branding.tos_uri': url(),
  'branding.imprint': text(500),
  'branding.login_message': text(500),
  'branding.contact': {
    good: 'mailto:help@example.org',
    reads: 'mailto:help@example.org',
    bad: 'tel:+4930123',
    problem: 'expected a URI that starts with "https://" or "mailto:", got "tel:+4930123"',
  },
  'branding.security_contact': {
    good: 'mailto:security@example.org',
    reads: 'mailto:security@example.org',
    bad: 'security@example.org',
    problem: 'expected a URI that starts with "https://", "mailto:" or "tel:", got "security@example.org"',
  },
  'branding.show_technical_info': bool(false),
  'branding.accent_color': color(),
  'branding.accent_color_dark': { ...color(), good: '"#8DB4FF"', reads: '#8db4ff' },
  'index.redirect': url(),
  'i18n.default_language': { ...choice('de', ...BUNDLED_LANGUAGES), good: 'de' },
  'telemetry.sentry.dsn': {
    good: 'https://key@sentry.example/in/42',
    reads: 'https://sentry.example/in/api/42/envelope/',
    as: 'telemetry.sentry.project.url',
    bad: 'https://sentry.example/42',
    problem: 'expected the DSN of a Sentry project, https://KEY@HOST/PROJECT, got [secret]',
  },
  'telemetry.sentry.environment': text(64),
  'telemetry.sentry.sample_rate': portion(),
  'telemetry.sentry.traces_sample_rate': portion(),
  'telemetry.tracing.exporter': choice('otlp', 'none', 'stdout', 'otlp'),
  'telemetry.tracing.endpoint': {
    good: 'https://collector.example/custom/traces',
    reads: 'https://collector.example/custom/traces',
    bad: 'collector.example:4318',
    problem:
      'expected an absolute http or https URL without user info, query or fragment, got "collector.example:4318"',
  },
  'telemetry.tracing.propagators': { good: '[]', reads: [], bad: 'jaeger', problem: 'expected a list, got "jaeger"' },
  'telemetry.tracing.accept_parent': choice('everyone', 'trusted_proxies', 'everyone'),
  'telemetry.tracing.propagators[]': choice('jaeger', 'tracecontext', 'baggage', 'jaeger'),
  'telemetry.tracing.sample_rate': portion(),
  'logging.level': choice('trace', 'error', 'warn', 'info', 'debug', 'trace'),
  'logging.format': choice('json', 'text', 'json'),
  'logging.output': path('logging.output.path'),
  'logging.color': choice('never', 'auto', 'always', 'never'),
  'logging.pad_level': bool(true),
  'retention.revoked_tokens': duration('5m', 300, 'from 5m to 1095d'),
  'retention.expired_tokens': duration('1h', 3600, 'from 1h to 1095d'),
  'retention.finished_sessions': duration('1d', 86_400, 'from 1d to 1095d'),
  'retention.inactive_ips': duration('1d', 86_400, 'from 1d to 1095d'),
  'retention.pending_flows': duration('1d', 86_400, 'from 1h to 1095d'),
  'retention.registrations': duration('1d', 86_400, 'from 1d to 1095d'),
  'retention.registration_tokens': duration('1d', 86_400, 'from 1d to 1095d'),
  'retention.upstream_sessions': duration('1d', 86_400, 'from 1d to 1095d'),
  'retention.audit_events': duration('200d', 17_280_000, 'from 1d to 1095d'),
  'retention.jobs': { ...duration('1d', 86_400, 'from 1d to 1095d'), as: 'retention.failedJobs' },
  'jobs.concurrency': integer(5, 'from 1 to 100'),
  'jobs.poll_interval': duration('2s', 2, 'from 100ms to 1m'),
  'jobs.max_attempts': { ...integer(5, 'from 1 to 20'), as: 'jobs.maxRetries' },
  'telemetry.metrics.exporter': choice('prometheus', 'none', 'stdout', 'otlp', 'prometheus'),
  'telemetry.metrics.names': choice('mas', 'latchkey', 'mas'),
  'telemetry.metrics.endpoint': {
    good: 'https://collector.example/custom/metrics',
    reads: 'https://collector.example/custom/metrics',
    bad: 'collector.example:4318',
    problem:
      'expected an absolute http or https URL without user info, query or fragment, got "collector.example:4318"',
  },
  'limits.max_connections': integer(5, 'from 1 to 1000000'),
  'limits.max_connections_per_address': integer(5, 'from 1 to 1000000'),
  'limits.handshake_timeout': duration('1s', 1, 'from 1s to 1m'),
  'limits.headers_timeout': duration('1s', 1, 'from 1s to 10m'),
  'limits.request_timeout': duration('1h', 3600, 'from 1s to 1h'),
  'limits.handler_timeout': duration('1m', 60, 'from 1s to 10m'),
  'limits.keep_alive_timeout': duration('1m', 60, 'from 1s to 1h'),
  'limits.max_requests_per_connection': integer(5, 'from 1 to 1000000'),
  'limits.max_concurrent_streams': integer(5, 'from 1 to 1000'),
  'limits.max_request_line': size('from 1KiB to 64KiB'),
  'limits.max_headers': size('from 1KiB to 64KiB'),
  'graphql.playground': { ...bool(false), as: 'graphql.has_playground' },
  'graphql.discovery': { ...bool(false), as: 'graphql.is_in_discovery' },
  'graphql.introspection': { ...bool(false), as: 'graphql.has_introspection' },
  'graphql.oauth2_access': { ...bool(true), as: 'graphql.accepts_access_tokens' },
  'graphql.max_body_bytes': size('from 1KiB to 16MiB'),
  'graphql.max_document_bytes': size('from 1KiB to 1MiB'),
  'graphql.max_tokens': integer(8, 'from 1 to 100000'),
  'graphql.max_depth': integer(8, 'from 1 to 100'),
  'graphql.max_complexity': integer(8, 'from 1 to 1000000'),
  'graphql.max_aliases': integer(8, 'from 0 to 10000'),
  'graphql.timeout': duration('10s', 10, 'from 1s to 5m'),
  'limits.max_body.json': size('from 1KiB to 16MiB'),
  'limits.max_body.admin': size('from 1KiB to 16MiB'),
  'limits.max_body.form': size('from 1KiB to 16MiB'),
  'limits.password_hash_concurrency': integer(8, 'from 1 to 64'),
  'limits.password_hash_queue': integer(8, 'from 1 to 10000'),
  'limits.max_in_flight': integer(8, 'from 1 to 1000000'),
  'limits.work.per_address.burst': { ...duration('5s', 5000, 'from 0s to 1h'), as: 'limits.work.perAddress.burstMs' },
  'limits.work.per_address.per_second': {
    ...duration('50ms', 50, 'from 1ms to 1s'),
    as: 'limits.work.perAddress.perSecondMs',
  },
  'limits.work.per_account.burst': { ...duration('5s', 5000, 'from 0s to 1h'), as: 'limits.work.perAccount.burstMs' },
  'limits.work.per_account.per_second': {
    ...duration('50ms', 50, 'from 1ms to 1s'),
    as: 'limits.work.perAccount.perSecondMs',
  },
  'limits.work.per_client.burst': { ...duration('5s', 5000, 'from 0s to 1h'), as: 'limits.work.perClient.burstMs' },
  'limits.work.per_client.per_second': {
    ...duration('50ms', 50, 'from 1ms to 1s'),
    as: 'limits.work.perClient.perSecondMs',
  },
  'limits.max_db_waiters': integer(8, 'from 1 to 1000000'),
  'limits.drain_delay': duration('10s', 10, 'from 0s to 10m'),
  'limits.shutdown_timeout': duration('10s', 10, 'from 1s to 1h'),
  'outbound.allowed_networks': {
    good: '["10.1.0.0/16"]',
    reads: [{ address: '10.1.0.0', prefixLength: 16, family: 'ipv4' }],
    bad: '10.1.0.0/16',
    problem: 'expected a list, got "10.1.0.0/16"',
  },
  'outbound.allowed_networks[]': {
    good: '10.1.0.0/16',
    reads: { address: '10.1.0.0', prefixLength: 16, family: 'ipv4' },
    bad: '10.1.0.1/16',
    problem: 'expected an IP address or network (IP/prefix, no host bits set), got "10.1.0.1/16"',
  },
  'outbound.allowed_ports': { good: '[9443]', reads: [9443], bad: '9443', problem: 'expected a list, got 9443' },
  'outbound.allowed_ports[]': integer(9443, 'from 1 to 65535'),
  'experimental.access_token_ttl': duration('86400', 86_400, 'from 60s to 86400s'),
  'experimental.compat_token_ttl': duration('86400', 86_400, 'from 60s to 86400s'),
  'experimental.inactive_session_expiration.ttl': {
    ...duration('10m', 600, 'from 10m to 90d'),
    as: 'retention.unused_o_auth2_sessions',
  },
  'experimental.inactive_session_expiration.expire_compat_sessions': {
    ...bool(false),
    reads: undefined,
    as: 'retention.unused_compat_sessions',
  },
  'experimental.inactive_session_expiration.expire_oauth_sessions': {
    ...bool(false),
    reads: undefined,
    as: 'retention.unused_o_auth2_sessions',
  },
  'experimental.inactive_session_expiration.expire_user_sessions': {
    ...bool(false),
    reads: undefined,
    as: 'retention.unused_browser_sessions',
  },
  'experimental.plan_management_iframe_uri': url(),
  'experimental.session_limit.soft_limit': integer(3, 'of 1 or more'),
  'experimental.session_limit.hard_limit': integer(4, 'of 1 or more'),
  'experimental.session_limit.dangerous_hard_limit_eviction': {
    ...bool(true),
    as: 'experimental.session_limit.evicts_at_hard_limit',
  },
  'experimental.session_limit.max_session_threshold': integer(9, 'of 1 or more'),
};

const UPSTREAM_PROVIDER = [
  `id: ${ULID}`,
  'issuer: https://id.example',
  'client_id: latchkey',
  'token_endpoint_auth_method: none',
];
const without = (name: string) => UPSTREAM_PROVIDER.filter((line) => !line.startsWith(`${name}:`));

/** Other keys that a key requires, so that it can be tested alone. */
const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  'http.listeners[]': ['resources: [human]', 'binds: [{port: 1}]'],
  'http.listeners[].binds[]': ['port: 1'],
  'http.listeners[].tls': [`certificate: ${JSON.stringify(PAIR.cert)}`, `key: ${JSON.stringify(PAIR.key)}`],
  'secrets.keys[]': ['key: PEM'],
  'clients[]': [`client_id: ${ULID}`, 'client_auth_method: none'],
  'clients[].token_exchange': ['subjects: ["*"]'],
  'oauth.resources[]': ['identifier: https://api.example'],
  'oauth.dynamic_registration.software_statement_issuers[]': [
    'issuer: https://federation.example',
    `jwks: ${STATEMENT_KEYS}`,
  ],
  'upstream_oauth2.providers[]': UPSTREAM_PROVIDER,
  homeserver: ['kind: none'],
  'passwords.schemes[]': ['version: 1', 'algorithm: argon2id'],
  'experimental.session_limit': ['soft_limit: 3', 'hard_limit: 9'],
  'experimental.inactive_session_expiration': ['ttl: 10m'],
};
const SIGNING_CLIENT = [`client_id: ${ULID}`, 'client_auth_method: none', 'jwks_uri: https://app.example/keys'];
const SMTP_SERVER = ['transport: smtp', 'hostname: mail.example', 'mode: starttls'];
const CAPTCHA = ['service: hcaptcha', 'site_key: k', 'secret_key: s'];
/** Replaces the usual neighbors of a key. */
const OWN_NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  'http.listeners[].binds[].address': [],
  'oauth.resources[].identifier': [],
  'oauth.resources[].signing_alg': ['identifier: https://api.example', 'token_format: jwt'],
  'http.listeners[].binds[].socket': [],
  'http.listeners[].binds[].fd': [],
  'http.listeners[].binds[].fd_name': [],
  'http.listeners[].binds[].kind': ['fd: 0'],
  'http.listeners[].binds[].mode': ['socket: /run/latchkey.sock'],
  'http.listeners[].tls.password': [
    `certificate: ${JSON.stringify(PAIR.cert)}`,
    `key: ${JSON.stringify(ENCRYPTED_KEY)}`,
  ],
  'clients[].client_secret': [`client_id: ${ULID}`, 'client_auth_method: client_secret_basic'],
  'clients[].token_exchange': [
    `client_id: ${ULID}`,
    'client_auth_method: client_secret_basic',
    'client_secret: sixteen characters',
  ],
  'clients[].jwks': [`client_id: ${ULID}`, 'client_auth_method: private_key_jwt'],
  'clients[].jwks_uri': [`client_id: ${ULID}`, 'client_auth_method: private_key_jwt'],
  'clients[].profile': [
    `client_id: ${ULID}`,
    'client_auth_method: private_key_jwt',
    'jwks_uri: https://app.example/keys',
  ],
  'clients[].require_signed_request_object': SIGNING_CLIENT,
  'clients[].request_object_signing_alg': SIGNING_CLIENT,
  'clients[].token_endpoint_auth_signing_alg': [
    `client_id: ${ULID}`,
    'client_auth_method: private_key_jwt',
    `jwks: ${JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', ...POINT }] })}`,
  ],
  'email.hostname': SMTP_SERVER,
  'homeserver.kind': ['secret: shared-with-the-homeserver'],
  'captcha.service': ['site_key: k', 'secret_key: s'],
  'captcha.site_key': ['service: hcaptcha', 'secret_key: s'],
  'captcha.secret_key': ['service: hcaptcha', 'site_key: k'],
  'captcha.on': CAPTCHA,
  'captcha.on[]': CAPTCHA,
  'email.ehlo_name': SMTP_SERVER,
  'email.port': SMTP_SERVER,
  'email.mode': SMTP_SERVER,
  'email.username': [...SMTP_SERVER, 'password: hush'],
  'email.password': [...SMTP_SERVER, 'username: latchkey'],
  'email.command': ['transport: sendmail'],
  'email.timeout': SMTP_SERVER,
  'email.max_connections': SMTP_SERVER,
  'email.max_per_minute': SMTP_SERVER,
  'upstream_oauth2.providers[].client_secret': [
    ...without('token_endpoint_auth_method'),
    'token_endpoint_auth_method: client_secret_post',
  ],
  'upstream_oauth2.providers[].token_endpoint_auth_signing_alg': [
    ...without('token_endpoint_auth_method'),
    'token_endpoint_auth_method: private_key_jwt',
  ],
  'upstream_oauth2.providers[].userinfo_signed_response_alg': [...UPSTREAM_PROVIDER, 'fetch_userinfo: true'],
  'upstream_oauth2.providers[].claims_imports.localpart.on_conflict': ['action: force'],
  'upstream_oauth2.providers[].claims_imports.localpart.trust_provider': ['action: force', 'on_conflict: add'],
  'upstream_oauth2.providers[].claims_imports.skip_confirmation': ['localpart: {action: require}'],
  'passwords.schemes[].cost': ['version: 1', 'algorithm: bcrypt'],
  'passwords.schemes[].rounds': ['version: 1', 'algorithm: pbkdf2'],
  'database.ssl_mode': ['host: db.example'],
  'database.ssl_ca': ['host: db.example'],
  'database.ssl_certificate': ['host: db.example', 'ssl_key: PEM'],
  'database.ssl_key': ['host: db.example', 'ssl_certificate: PEM'],
};

/** Returns a file that sets one key, and the location of the value in it. */
function fileWith(key: string, value: string): { yaml: string; line: number; column: number } {
  const parts = key.split('.');
  let yaml = '';
  let indent = '';
  let place = { line: 0, column: 0 };
  const after: string[] = [];
  for (const [depth, part] of parts.entries()) {
    const isLast = depth === parts.length - 1;
    const name = part.replace('[]', '');
    const parent = parts.slice(0, depth).join('.');
    const neighbours = OWN_NEIGHBOURS[parts.slice(0, depth + 1).join('.')] ?? NEIGHBOURS[parent] ?? [];
    const others = neighbours.filter((line) => !line.startsWith(`${name}:`)).map((line) => indent + line);
    after.unshift(...others);
    yaml += isLast && !part.endsWith('[]') ? `${name}: ` : `${name}:\n${indent}  ${part.endsWith('[]') ? '- ' : ''}`;
    indent += part.endsWith('[]') ? '    ' : '  ';
    if (isLast) place = { line: yaml.split('\n').length, column: (yaml.split('\n').at(-1)?.length ?? 0) + 1 };
  }
  return { yaml: `${[yaml + value, ...after].join('\n')}\n`, ...place };
}

function written(key: string): string {
  return key.replaceAll('[]', '[0]');
}

/** Returns the value from the configuration. Secrets are revealed; the property name may include a unit. */
function readAt(config: object, key: string): unknown {
  const steps = key
    .replaceAll('[]', '.0')
    .split('.')
    .map((step) => step.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
  let value: unknown = config;
  for (const step of steps) {
    const names = [step, `${step}Seconds`, `${step}Bytes`];
    const holder: object = typeof value === 'object' && value !== null ? value : {};
    const name = names.find((candidate) => candidate in holder);
    if (name === undefined) return `no ${step} in the configuration`;
    value = Object.entries(holder).find(([candidate]) => candidate === name)?.[1];
  }
  return revealed(value);
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  return Array.isArray(value) ? value.map(revealed) : value;
}

describe.each(Object.entries(ROWS))('%s', (key, row) => {
  test(`accepts ${row.good.slice(0, 60)}`, () => {
    const config = loadYaml(fileWith(key, row.good).yaml);
    expect(readAt(config, row.as ?? key)).toEqual(row.reads);
  });

  test(`rejects ${row.bad} with file, line and column`, () => {
    const { yaml, line, column } = fileWith(key, row.bad);
    const problem = problemsOfYaml(yaml).find((candidate) => candidate.startsWith(`${written(key)}: `));
    expect(problem).toMatch(new RegExp(`\\(latchkey\\.yaml:${line}:${column}\\)$`));
    expect(problem?.slice(written(key).length + 2).startsWith(row.problem)).toBe(true);
  });

  test('is overridden by its environment variable', () => {
    const value: unknown = parse(row.good);
    const { config } = load({
      files: { 'latchkey.yaml': fileWith(key, row.bad).yaml },
      environment: { [variableOf(key)]: typeof value === 'string' ? value : JSON.stringify(value) },
    });
    expect(readAt(config, row.as ?? key)).toEqual(row.reads);
  });
});

describe('a secret and its file', () => {
  test.each(secretsOf(configShape(), ''))('%s is rejected together with %s_file, with its position', (key) => {
    // The Sign in with Apple key has no row; any value works here.
    const { yaml, line, column } = fileWith(key, ROWS[key]?.good ?? 'x');
    const name = key.split('.').at(-1) ?? '';
    const lines = yaml.split('\n');
    const indent = column - 1 - `${name}: `.length;
    lines.splice(line, 0, `${' '.repeat(indent)}${name}_file: /somewhere`);
    expect(problemsOfYaml(lines.join('\n'))).toContain(
      `${written(key)}: set together with "${written(key)}_file"; set only one of the two (latchkey.yaml:${line}:${indent + 1})`,
    );
  });
});

/** Returns the keys that have a `_file` twin. */
function secretsOf(shape: Shape, path: string): string[] {
  const element = shape.kind === 'list' ? shape.element : undefined;
  const keys = [...(mappingOf(element ?? shape)?.keys ?? [])];
  const prefix = [`${path}${element === undefined ? '' : '[]'}`].filter((part) => part !== '');
  return keys.flatMap(([name, child]) => [
    ...(child.hints.fileOf === undefined ? [] : [[...prefix, child.hints.fileOf].join('.')]),
    ...secretsOf(child, [...prefix, name].join('.')),
  ]);
}

/** `LATCHKEY__CLIENTS__0__CLIENT_NAME` */
function variableOf(key: string): string {
  return ['LATCHKEY', ...key.replaceAll('[]', '.0').split('.')].join('__').toUpperCase();
}

test('covers every key of the schema', () => {
  // Secret files, pictures and templates have separate tests.
  const files = [
    'assets.path',
    'branding.logo',
    'branding.logo_dark',
    'branding.favicon',
    'branding.theme_file',
    'templates.path',
    'templates.translations_path',
    'templates.assets_manifest',
  ];
  // So do the Sign in with Apple keys, which require one another: sections/upstream-oauth2.test.ts.
  const apple = ['private_key', 'team_id', 'key_id'].map((n) => `upstream_oauth2.providers[].sign_in_with_apple.${n}`);
  const tried = [...Object.keys(ROWS), ...files, ...apple, 'secrets.keys_dir', 'secrets.encryption_previous[].file'];
  // Only with a secret that is too short otherwise: mas/mas.test.ts.
  tried.push('clients[].allow_short_secret');
  expect(leavesOf(configShape(), '').filter((key) => !tried.includes(key))).toEqual([]);
});

function leavesOf(shape: Shape, path: string): string[] {
  if (shape.hints.fileOf !== undefined) return [];
  const element = shape.kind === 'list' ? shape.element : undefined;
  const below = [...(mappingOf(element ?? shape)?.keys ?? [])].flatMap(([name, child]) =>
    leavesOf(child, [`${path}${element === undefined ? '' : '[]'}`, name].filter((part) => part !== '').join('.')),
  );
  return shape.kind === 'mapping' ? below : [path, ...below];
}

test('without any source, the defaults match the manual', () => {
  const { config, directory, trial } = load();
  expect(trial).toBe(true);
  expect(config).toEqual({
    dataDir: `${directory}/data`,
    protocolName: 'chat',
    http: {
      publicBase: 'http://localhost:8080/',
      issuer: 'http://localhost:8080',
      trustedProxies: [
        { address: '127.0.0.0', prefixLength: 8, family: 'ipv4' },
        { address: '::1', prefixLength: 128, family: 'ipv6' },
      ],
      clientIpHeader: 'x-forwarded-for',
      hsts: true,
      workers: 1,
      listeners: [
        {
          name: 'web',
          resources: DEFAULT_RESOURCES.map((name) => ({ name })),
          binds: [{ host: 'localhost', port: 8080 }],
          prefix: undefined,
          cleartextHttp2: false,
        },
      ],
      listenVariables: {},
    },
    database: {
      server: { kind: 'embedded', directory: undefined, user: undefined, binDir: undefined },
      migrationServer: undefined,
      maxConnections: 10,
      minConnections: 0,
      connectTimeoutSeconds: 30,
      acquireTimeoutSeconds: 5,
      idleTimeoutSeconds: 600,
      maxLifetimeSeconds: 1800,
      statementTimeoutSeconds: 10,
      slowStatementSeconds: 1,
      pooler: 'none',
    },
    secrets: { encryption: undefined, encryptionPrevious: [], keys: [] },
    telemetry: {
      metrics: {
        exporter: 'none',
        names: 'latchkey',
        intervalMs: 60_000,
        endpoint: 'http://localhost:4318/v1/metrics',
        headers: {},
        timeoutMs: 10_000,
        resource: { 'service.name': 'latchkey' },
      },
      sentry: { project: undefined, environment: 'production', sampleRate: 1, tracesSampleRate: 0 },
      tracing: {
        exporter: 'none',
        propagators: ['tracecontext'],
        acceptParent: 'trusted_proxies',
        sampleRate: 1,
        endpoint: 'http://localhost:4318/v1/traces',
        headers: {},
        timeoutMs: 10_000,
        resource: { 'service.name': 'latchkey' },
      },
    },
    clients: [],
    homeserver: {
      kind: 'none',
      homeserver: 'localhost',
      endpoint: 'http://localhost:8008/',
      secret: undefined,
      timeoutSeconds: 30,
      connectTimeoutSeconds: 10,
      maxConcurrent: 50,
    },
    compat: {
      enabled: true,
      passwordLogin: true,
      loginTokenTtlSeconds: 30,
      ssoLoginTtlSeconds: 1800,
      ssoAllowedRedirects: undefined,
      advertisesUpstreamProviders: false,
      logoutAll: 'all',
    },
    passwords: {
      enabled: true,
      minimumComplexity: 3,
      minimumLength: 8,
      hasBreachCheck: false,
      maximumLength: 1024,
      schemes: [
        {
          version: 1,
          algorithm: 'argon2id',
          memoryKib: 19_456,
          iterations: 2,
          parallelism: 1,
          unicodeNormalization: false,
          secret: undefined,
        },
      ],
    },
    account: {
      loginWithEmailAllowed: false,
      reauthMaxAgeSeconds: 600,
      // Trial mode.
      passwordRegistrationEnabled: true,
      passwordRegistrationEmailRequired: false,
      passwordRegistrationTokenRequired: false,
      passwordChangeAllowed: true,
      emailChangeAllowed: true,
      keepsOneEmail: true,
      displayNameChangeAllowed: true,
      profileChangeAllowed: true,
      deactivationAllowed: true,
      dataExportEnabled: true,
      totpEnabled: true,
      passkeysEnabled: true,
      passkeyOffer: true,
      secondFactor: 'optional',
      secondFactorAfterUpstream: 'never',
      secondFactorOnReauth: true,
      secondFactorTrustDays: 0,
      clientLogos: 'initials',
      registrationTtlSeconds: 3600,
      passwordRecoveryEnabled: true,
      recoveryTicketTtlSeconds: 600,
      recoverySessionTtlSeconds: 3600,
      recoverySetsFirstPassword: false,
      recoverySignsOutDevices: false,
    },
    adminArea: { enabled: true, maxAgeSeconds: 1800, requiresSecondFactor: false },
    graphql: {
      isInDiscovery: true,
      hasIntrospection: true,
      hasPlayground: true,
      acceptsAccessTokens: false,
      maxBodyBytes: 262_144,
      maxDocumentBytes: 65_536,
      maxTokens: 4000,
      maxDepth: 12,
      maxComplexity: 1000,
      maxAliases: 30,
      timeoutSeconds: 10,
    },
    email: {
      transport: { kind: 'file', directory: `${directory}/data/outbox` },
      from: { name: 'localhost', address: 'noreply@localhost' },
      replyTo: undefined,
      maxConnections: 2,
      maxPerMinute: undefined,
      codeTtlSeconds: 300,
      allowSingleLabelDomains: [],
      notifyUnknownRecovery: false,
      securityNotices: true,
    },
    upstreamOauth2: { providers: [] },
    rateLimiting: {
      login: {
        perIp: { burst: 3, perSecond: 3 / 60 },
        perAccount: { burst: 100, perSecond: 100 / 3600 },
        perKnownBrowser: { burst: 10, perSecond: 10 / 3600 },
      },
      registration: { burst: 3, perSecond: 3 / 3600 },
      registrationCheck: { burst: 30, perSecond: 30 / 3600 },
      registrationToken: { burst: 10, perSecond: 10 / 3600 },
      secondFactor: { perAccount: { burst: 10, perSecond: 10 / 3600 } },
      emailAuthentication: {
        perIp: { burst: 5, perSecond: 1 / 60 },
        perAddress: { burst: 3, perSecond: 1 / 3600 },
        emailsPerSession: { burst: 2, perSecond: 12 / 3600 },
        attemptPerSession: { burst: 10, perSecond: 1 / 60 },
      },
      accountRecovery: {
        perIp: { burst: 3, perSecond: 3 / 3600 },
        perAddress: { burst: 3, perSecond: 1 / 3600 },
      },
      graphql: { authenticated: { burst: 60, perSecond: 2 }, anonymous: { burst: 30, perSecond: 1 } },
      adminToken: { perIp: { burst: 20, perSecond: 20 / 60 } },
      clientRegistration: { perIp: { burst: 10, perSecond: 30 / 3600 } },
      clientAuthentication: { perClient: { burst: 20, perSecond: 20 / 60 } },
      deviceCode: { perIp: { burst: 10, perSecond: 10 / 60 }, global: { burst: 600, perSecond: 10 } },
      par: { perClient: { burst: 100, perSecond: 10 } },
      upstream: { perIp: { burst: 30, perSecond: 1 } },
      passkey: { perIp: { burst: 60, perSecond: 1 } },
      ssoRedirect: { perIp: { burst: 30, perSecond: 1 } },
      deviceAuthorization: { perClient: { burst: 20, perSecond: 20 / 60 } },
    },
    oauth: {
      authorizationCodeTtlSeconds: 60,
      authorizationGrantTtlSeconds: 3600,
      deviceCodeGrantEnabled: true,
      deviceCodeTtlSeconds: 1200,
      deviceCodeUserCodeAutoFillEnabled: true,
      dpopRequireNonce: false,
      requirePushedAuthorizationRequests: false,
      idTokenTtlSeconds: 3600,
      refreshGraceSeconds: 30,
      sessionMaxLifetimeSeconds: undefined,
      rememberConsent: true,
      resources: [],
      introspectionCallers: 'static',
      dynamicRegistration: { enabled: true, initialAccessToken: undefined, softwareStatementIssuers: [] },
      clientIdMetadataDocuments: { enabled: false, allowedHosts: [] },
      serviceDocumentation: undefined,
    },
    policy: {
      modulePath: undefined,
      data: {
        adminUsers: [],
        adminClients: [],
        clientRegistration: {
          allowHostMismatch: false,
          allowInsecureUris: false,
          allowMissingClientUri: false,
          allowPrivateUseSchemes: false,
          preset: undefined,
        },
        registration: {
          allowedUsernames: NO_NAMES,
          bannedUsernames: {
            ...NO_NAMES,
            literals: [
              ...['admin', 'administrator', 'root', 'support', 'security', 'postmaster', 'hostmaster', 'webmaster'],
              ...['abuse', 'server', 'system'],
            ],
          },
        },
        emails: { allowedDomains: [], bannedDomains: [], allowedAddresses: NO_NAMES, bannedAddresses: NO_NAMES },
        requester: { bannedIps: [], bannedUserAgents: NO_NAMES },
      },
    },
    branding: {
      serviceName: 'localhost',
      policyUri: undefined,
      tosUri: undefined,
      imprint: undefined,
      loginMessage: undefined,
      showTechnicalInfo: true,
      logo: undefined,
      logoDark: undefined,
      favicon: undefined,
      accentColor: undefined,
      accentColorDark: undefined,
    },
    templates: { page: undefined, mails: {}, translations: {} },
    assets: { path: undefined, manifest: undefined, hasSourceMaps: false },
    index: { redirect: undefined },
    i18n: { defaultLanguage: 'en' },
    logging: { level: 'info', targetLevels: {}, format: 'text', output: 'stderr', color: 'auto', padLevel: false },
    retention: {
      revokedTokensSeconds: 3600,
      expiredTokensSeconds: 86_400,
      finishedSessionsSeconds: 2_592_000,
      inactiveIpsSeconds: 2_592_000,
      pendingFlowsSeconds: 604_800,
      registrationsSeconds: 2_592_000,
      registrationTokensSeconds: 7_776_000,
      upstreamSessionsSeconds: 2_592_000,
      failedJobsSeconds: 7_776_000,
      activitySeconds: 15_552_000,
      auditEventsSeconds: 31_536_000,
      unusedClientsSeconds: 2_592_000,
    },
    jobs: { concurrency: 10, pollIntervalSeconds: 1, maxRetries: 10 },
    limits: {
      maxConnections: 10_000,
      maxConnectionsPerAddress: 200,
      handshakeTimeoutSeconds: 5,
      headersTimeoutSeconds: 10,
      requestTimeoutSeconds: 30,
      handlerTimeoutSeconds: 15,
      keepAliveTimeoutSeconds: 75,
      maxRequestsPerConnection: 10_000,
      maxConcurrentStreams: 100,
      maxRequestLineBytes: 8192,
      maxHeadersBytes: 16_384,
      maxBody: { formBytes: 65_536, jsonBytes: 65_536, adminBytes: 1_048_576 },
      passwordHashConcurrency: Math.min(8, Math.max(2, usableProcessors())),
      passwordHashQueue: 64,
      maxInFlight: 1000,
      work: {
        perAddress: { burstMs: 30_000, perSecondMs: 50 },
        perAccount: { burstMs: 60_000, perSecondMs: 100 },
        perClient: { burstMs: 0, perSecondMs: 100 },
      },
      maxDbWaiters: 200,
      drainDelaySeconds: 0,
      shutdownTimeoutSeconds: 30,
    },
    outbound: { allowedNetworks: [], allowedPorts: [443, 8443] },
    experimental: { accessTokenTtlSeconds: 300, compatTokenTtlSeconds: 300 },
  });
});

test('a client and a PostgreSQL server get the defaults of the manual', () => {
  const { clients, database } = loadYaml(`
database: {host: db.example}
clients: [{client_id: ${ULID}, client_auth_method: none}]
`);
  expect(clients).toEqual([
    {
      clientId: ULID,
      allowedGroups: [],
      clientAuthMethod: 'none',
      clientSecret: undefined,
      redirectUris: [],
      postLogoutRedirectUris: [],
      clientName: undefined,
      clientUri: undefined,
      policyUri: undefined,
      logoUri: undefined,
      tosUri: undefined,
      grantTypes: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      scope: undefined,
      firstParty: false,
      defaultMaxAgeSeconds: undefined,
      requireAuthTime: false,
      requirePushedAuthorizationRequests: false,
      requireSignedRequestObject: false,
      requestObjectSigningAlg: undefined,
      defaultAcrValues: [],
      backchannelLogoutSessionRequired: false,
      idTokenClaims: true,
      claims: undefined,
      strictAuthMethod: false,
      subjectType: 'public',
      sectorIdentifierUri: undefined,
      dpopBoundAccessTokens: false,
      idTokenSignedResponseAlg: 'RS256',
      userinfoSignedResponseAlg: undefined,
      introspectionSignedResponseAlg: 'RS256',
      authorizationSignedResponseAlg: 'RS256',
      profile: undefined,
    },
  ]);
  const { username } = userInfo();
  expect(database.server).toEqual({
    kind: 'postgres',
    servers: [{ host: 'db.example', port: 5432 }],
    sessionAttributes: 'any',
    user: username,
    password: undefined,
    database: username,
    sslMode: 'prefer',
    ...{ session: {}, tls: {} },
    sslCa: undefined,
    sslCertificate: undefined,
    sslKey: undefined,
  });
});

test('the available languages are the bundled ones', () => {
  const bundled = readdirSync('locales').map((file) => file.replace('.json', ''));
  const found = problemsOfYaml('i18n: {default_language: xx}').join();
  expect(bundled.filter((language) => !found.includes(`"${language}"`))).toEqual([]);
});
