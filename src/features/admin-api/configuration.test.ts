/** The configuration in force (administration A-26, security S-206). */
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { sharedSettingsDigest } from '#config/shared-settings.ts';
import { RegisteredProcess } from '#platform/jobs/registered-processes.ts';
import type { AdminClient } from '#test/support/admin-client.ts';
import { chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { CLIENT, startAdministeredService } from './administered-service.test-support.ts';

const CONFIGURATION = z.object({
  data: z.object({
    process: z.string(),
    read_at: z.string(),
    files: z.array(z.string()),
    restart_required: z.array(z.string()),
    processes: z.array(z.object({ name: z.string(), same_configuration: z.boolean() })),
    settings: z.array(
      z.object({
        key: z.string(),
        name: z.string(),
        value: z.unknown(),
        source: z.object({ kind: z.string(), name: z.string().nullable(), line: z.number().nullable() }),
        differs: z.boolean(),
      }),
    ),
    sections: z.array(
      z.object({
        name: z.string(),
        documentation: z.string(),
        keys: z.array(z.object({ name: z.string(), secret: z.boolean() })),
      }),
    ),
  }),
});

const PLANTED = 'plantedsecret';
let plants = 0;
const planted = (): string => {
  plants += 1;
  return `${PLANTED}${plants}0123456789abcdefghij`;
};
const hex = (): string => 'c0ffee'.repeat(11).slice(0, 64);

const SETTINGS = {
  database: { host: 'db.example', password: planted(), ssl_mode: 'require' },
  secrets: { encryption: hex(), encryption_previous: [hex()], keys: [{ key: planted(), password: planted() }] },
  clients: [
    chatClientSettings(CLIENT, { grant_types: ['client_credentials'] }),
    {
      client_id: '01JD3Q5Z8W2N4K6M7P9R0S1T7X',
      client_auth_method: 'client_secret_basic',
      client_secret: planted(),
      redirect_uris: ['https://app.example/cb'],
    },
  ],
  email: { transport: 'smtp', hostname: 'smtp.example', mode: 'tls', username: 'mailer', password: planted() },
  captcha: { service: 'recaptcha_v2', site_key: 'visible', secret_key: planted() },
  oauth: { dynamic_registration: { initial_access_token: planted() } },
  telemetry: { sentry: { dsn: `https://${planted()}@sentry.example/1` } },
  upstream_oauth2: {
    providers: [
      {
        id: '01JD3Q5Z8W2N4K6M7P9R0S1T6X',
        issuer: 'https://login.example',
        human_name: 'Harbour',
        client_id: 'latchkey',
        client_secret: planted(),
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
  },
};

let admin: AdminClient;

const administered = await sharedByTests(startAdministeredService(SETTINGS));

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
});

async function read() {
  const response = await admin.get('effective-configuration');
  expect(response.status).toBe(200);
  return { text: JSON.stringify(response.body), ...CONFIGURATION.parse(response.body).data };
}

test('shows each value with its source, and the process that responds', async () => {
  const { service, clock } = administered;
  const { process, read_at, files, restart_required: restart, settings, sections } = await read();
  expect({ process, read_at, restart }).toEqual({
    process: 'test:1',
    read_at: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    restart: [],
  });
  const [file] = files;
  const at = (key: string) => settings.find((one) => one.key === key);
  expect(at('http.public_base')).toMatchObject({
    value: service.publicBase.slice(0, -1),
    source: { kind: 'file', name: file, line: 1 },
    differs: true,
  });
  expect(at('oauth.id_token_ttl')).toMatchObject({ value: '1h', source: { kind: 'default', name: null, line: null } });
  expect(at('branding.imprint')).toMatchObject({ value: null, differs: false });
  expect(at('upstream_oauth2.providers[0].client_id')).toMatchObject({
    name: 'upstream_oauth2.providers[].client_id',
    value: 'latchkey',
  });
  expect(sections.find(({ name }) => name === 'http')?.documentation).toBe('docs/reference/configuration.md#http');
});

test('names the processes, and whether they have the same settings', async () => {
  const { service, clock } = administered;
  const { database, core } = service;
  const digests = { 'one:1': sharedSettingsDigest(core.config, core.keyRing), 'other:2': Buffer.alloc(32) };
  for (const [name, configDigest] of Object.entries(digests)) {
    const more = { version: '1.2.3', works: true, rootKeys: () => [], untrustedProxies: () => [] };
    await new RegisteredProcess({ database, clock, log: core.log, name, configDigest, ...more }).beat();
  }
  const { processes } = await read();
  expect(processes.map(({ name, same_configuration: same }) => [name, same]).toSorted()).toEqual([
    ['one:1', true],
    ['other:2', false],
  ]);
});

test('security S-206: no secret of the configuration is in the response or in the log', async () => {
  const { text, settings, sections } = await read();
  expect(text).toContain('"value":"visible"');
  const secrets = new Set(sections.flatMap(({ keys }) => keys.filter(({ secret }) => secret).map(({ name }) => name)));
  const masked = settings.filter(({ name, value }) => secrets.has(name) && value !== null);
  expect(masked.map(({ key }) => key)).toEqual([
    'database.password',
    'secrets.encryption',
    'secrets.encryption_previous',
    'secrets.keys[0].key',
    'secrets.keys[0].password',
    'clients[0].client_secret',
    'clients[1].client_secret',
    'homeserver.secret',
    'email.password',
    'upstream_oauth2.providers[0].client_secret',
    'captcha.secret_key',
    'oauth.dynamic_registration.initial_access_token',
    'telemetry.sentry.dsn',
  ]);
  const log = administered.service.logLines().join('\n');
  for (const shown of [text, log]) {
    expect(shown).not.toContain(PLANTED);
    expect(shown).not.toContain('c0ffee');
    expect(shown).not.toContain('shared-secret');
  }
});
