/** Generates a configuration in the form that `mas-cli config generate` writes, for scripts that change values in it. */
import { stringify } from 'yaml';
import { randomAlphanumeric, randomBytes } from '#platform/base/random.ts';
import { generatePrivateKey } from '#protocol/jose/key-types.ts';

const SENDER = '"Authentication Service" <root@localhost>';
const PUBLIC_BASE = 'http://[::]:8080/';

export async function sampleMasConfig(): Promise<string> {
  const keys = await Promise.all((['rsa2048', 'p256', 'p384', 'k256'] as const).map(generatePrivateKey));
  const resources = ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets'];
  const document = {
    http: {
      listeners: [
        {
          name: 'web',
          resources: resources.map((name) => ({ name })),
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
      public_base: PUBLIC_BASE,
      issuer: PUBLIC_BASE,
    },
    database: {
      uri: 'postgresql://',
      ...{ max_connections: 10, min_connections: 0, connect_timeout: 30, idle_timeout: 600, max_lifetime: 1800 },
    },
    email: { from: SENDER, reply_to: SENDER, transport: 'blackhole' },
    secrets: { encryption: randomBytes(32).toString('hex'), keys: keys.map((key) => ({ key })) },
    passwords: { enabled: true, schemes: [{ version: 1, algorithm: 'argon2id' }], minimum_complexity: 3 },
    matrix: {
      kind: 'synapse',
      homeserver: 'localhost:8008',
      secret: randomAlphanumeric(32),
      endpoint: 'http://localhost:8008/',
    },
  };
  return stringify(document, { lineWidth: 0 });
}
