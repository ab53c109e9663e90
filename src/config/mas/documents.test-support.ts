/** Documents of Matrix Authentication Service (MAS), written from what is known about them. */
import { generateKeyPairSync } from 'node:crypto';

function pem(curve: string | undefined): string {
  const { privateKey } =
    curve === undefined
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: curve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** An RSA key, and keys on the curves P-256, P-384 and secp256k1. */
export const KEYS = [undefined, 'P-256', 'P-384', 'secp256k1'].map(pem);
export const HEX = 'ab'.repeat(32);
const SECRET = 'QmV0dGVyTm90VXNlVGhpc1NlY3JldCEh';
export const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';

export const SECRETS = { encryption: HEX, keys: KEYS.slice(0, 2).map((key) => ({ key })) };
export const MATRIX = { homeserver: 'example.org', secret: SECRET };

/** Only what MAS requires. */
export const SMALLEST = { matrix: MATRIX, secrets: SECRETS };

/** As `mas-cli config generate` writes it. */
export const GENERATED = {
  http: {
    listeners: [
      {
        name: 'web',
        resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets'].map((name) => ({ name })),
        binds: [{ address: '[::]:8080' }],
        proxy_protocol: false,
      },
      {
        name: 'internal',
        resources: [{ name: 'health' }],
        binds: [{ host: 'localhost', port: 8081 }],
        proxy_protocol: false,
      },
    ],
    trusted_proxies: ['192.168.0.0/16', '172.16.0.0/12', '10.0.0.0/10', '127.0.0.1/8', 'fd00::/8', '::1/128'],
    public_base: 'http://[::]:8080/',
    issuer: 'http://[::]:8080/',
  },
  database: {
    uri: 'postgresql://',
    ...{ max_connections: 10, min_connections: 0, connect_timeout: 30, idle_timeout: 600, max_lifetime: 1800 },
  },
  email: {
    from: '"Authentication Service" <root@localhost>',
    reply_to: '"Authentication Service" <root@localhost>',
    transport: 'blackhole',
  },
  secrets: { encryption: HEX, keys: KEYS.map((key) => ({ key })) },
  passwords: {
    enabled: true,
    schemes: [{ version: 1, algorithm: 'argon2id' }],
    minimum_complexity: 3,
  },
  matrix: { kind: 'synapse', homeserver: 'localhost:8008', secret: SECRET, endpoint: 'http://localhost:8008/' },
};

/** With the values of the examples in the manual. */
export const MANUAL = {
  http: {
    public_base: 'https://auth.example.com/',
    issuer: 'https://example.com/',
    trusted_proxies: ['192.168.0.0/16', '172.16.0.0/12', '10.0.0.0/10', '127.0.0.1/8'],
    listeners: [
      {
        name: 'web',
        prefix: '/',
        resources: [
          ...[{ name: 'discovery' }, { name: 'human' }, { name: 'oauth' }, { name: 'compat' }],
          ...[
            { name: 'graphql', playground: true },
            { name: 'assets', path: './share/assets/' },
          ],
          { name: 'adminapi' },
        ],
        binds: [{ host: '127.0.0.1', port: 8080 }, { address: '127.0.0.1:8082' }],
      },
      { name: 'internal', resources: [{ name: 'health' }], binds: [{ port: 8081 }] },
    ],
  },
  database: { uri: 'postgresql://user:password@hostname:5432/database?sslmode=require' },
  matrix: { kind: 'synapse', homeserver: 'example.com', secret: SECRET, endpoint: 'https://matrix.example.com' },
  templates: {
    path: './share/templates/',
    assets_manifest: './share/manifest.json',
    translations_path: '/usr/local/share/mas-cli/translations/',
  },
  clients: [
    {
      client_id: ULID,
      client_auth_method: 'client_secret_post',
      client_secret: 'twelve.chars',
      redirect_uris: ['https://app.example.com'],
    },
    { client_id: '01HZX7T3Q8V3M5N6P7R8S9T0AC', client_auth_method: 'none' },
  ],
  secrets: SECRETS,
  passwords: {
    enabled: true,
    minimum_complexity: 3,
    schemes: [
      { version: 1, algorithm: 'bcrypt', cost: 12, unicode_normalization: true, secret: 'pepper' },
      { version: 2, algorithm: 'argon2id' },
    ],
  },
  account: {
    password_registration_enabled: true,
    registration_token_required: true,
    password_registration_token_required: false,
  },
  captcha: { service: null },
  policy: {
    wasm_module: './share/policy.wasm',
    client_registration_entrypoint: 'client_registration/violation',
    register_entrypoint: 'register/violation',
    authorization_grant_entrypoint: 'authorization_grant/violation',
    compat_login_entrypoint: 'compat_login/violation',
    password_entrypoint: 'password/violation',
    email_entrypoint: 'email/violation',
    data: {
      admin_users: ['person1'],
      client_registration: { allow_host_mismatch: true },
      passwords: { min_length: 8 },
    },
  },
  rate_limiting: { login: { per_ip: { burst: 3, per_second: 0.05 } } },
  telemetry: { tracing: { exporter: 'none' }, metrics: { exporter: 'none' }, sentry: { dsn: null } },
  upstream_oauth2: {
    providers: [
      {
        id: ULID,
        issuer: 'https://sso.example.com/',
        token_endpoint_auth_method: 'client_secret_basic',
        client_id: 'mas',
        client_secret: 'shh',
        scope: 'openid email profile',
        claims_imports: {
          localpart: { action: 'require', template: '{{ user.preferred_username }}' },
          displayname: { action: 'suggest', template: '{{ user.name }}' },
          email: { action: 'suggest', template: '{{ user.email }}', set_email_verification: 'always' },
        },
      },
    ],
  },
};

/** As the chart of Element Server Suite renders it, and what its users add. Paths are relative. */
export const CHART = {
  http: {
    public_base: 'https://account.example.org',
    listeners: [
      {
        name: 'web',
        binds: [{ host: '0.0.0.0', port: 8080 }],
        resources: [
          ...[{ name: 'human' }, { name: 'discovery' }, { name: 'oauth' }, { name: 'compat' }, { name: 'assets' }],
          ...[{ name: 'graphql', undocumented_oauth2_access: true }, { name: 'adminapi' }],
        ],
      },
      {
        name: 'internal',
        binds: [{ host: '0.0.0.0', port: 8081 }],
        resources: [{ name: 'health' }, { name: 'prometheus' }, { name: 'connection-info' }],
      },
    ],
  },
  database: {
    ...{ host: 'postgres', port: 5432, username: 'mas', database: 'mas', ssl_mode: 'prefer' },
    password_file: 'secrets/database-password',
  },
  telemetry: { metrics: { exporter: 'prometheus' } },
  matrix: {
    homeserver: 'example.org',
    kind: 'synapse_modern',
    secret_file: 'secrets/homeserver',
    endpoint: 'http://synapse:8008',
  },
  secrets: {
    encryption_file: 'secrets/encryption',
    keys: [
      { kid: 'rsa', key_file: 'secrets/rsa' },
      { kid: 'prime256v1', key_file: 'secrets/ec' },
    ],
  },
  policy: {
    data: { admin_users: [], admin_clients: [], client_registration: { allow_host_mismatch: false } },
  },
  experimental: { session_limit: { soft_limit: 50, hard_limit: 50 } },
};

/** The files that `CHART` names. */
export const CHART_FILES: Readonly<Record<string, string>> = {
  'secrets/database-password': 'database password\n',
  'secrets/homeserver': `${SECRET}\n`,
  'secrets/encryption': HEX,
  'secrets/rsa': KEYS[0] ?? '',
  'secrets/ec': KEYS[1] ?? '',
};
