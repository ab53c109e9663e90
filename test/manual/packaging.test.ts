import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { type LoadedConfig, loadConfig } from '#config/load.ts';

const FOLDER = 'packaging/compose';
const SERVICE = z.object({
  image: z.string(),
  environment: z.record(z.string(), z.string()).default({}),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  secrets: z.array(z.union([z.string(), z.object({ source: z.string() })])).default([]),
  volumes: z.array(z.string()).default([]),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
});
const COMPOSE = z.object({
  services: z.record(z.string(), SERVICE),
  secrets: z.record(z.string(), z.object({ file: z.string() })).default({}),
  volumes: z.record(z.string(), z.object({})).default({}),
});
const IMAGE = '${' + 'LATCHKEY_IMAGE:-latchkey}';
/** Seconds that a process may need besides the two timeouts of its settings. */
const MARGIN_SECONDS = 5;

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));

describe.each(files)('packaging/compose/%s', (file) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const { services, secrets, volumes } = COMPOSE.parse(parse(text, { merge: true }));
  const instances = Object.entries(services).filter(([, { image }]) => image === IMAGE);

  test('refers to secrets, volumes and files that exist, and says how to create the secrets', () => {
    for (const service of Object.values(services)) {
      for (const secret of service.secrets) {
        expect(Object.keys(secrets)).toContain(typeof secret === 'string' ? secret : secret.source);
      }
      for (const volume of service.volumes) {
        const [source = ''] = volume.split(':');
        if (!source.startsWith('.')) expect(Object.keys(volumes)).toContain(source);
        else if (!source.startsWith('./secrets/')) expect(readFileSync(join(FOLDER, source), 'utf8')).not.toBe('');
      }
    }
    for (const secret of Object.values(secrets)) expect(text).toContain(secret.file.replace('./', ''));
  });

  test.each(instances)('%s has a valid configuration and only the rights that it needs', (_name, service) => {
    expect([service.read_only, service.cap_drop]).toEqual([true, ['ALL']]);
    const { config } = loadedFor(service);
    expect(config.http.publicBase).toBe('https://auth.example.org/');
    expect(config.http.trustedProxies.map(({ address }) => address)).toEqual(['172.30.0.0']);
    const { drainDelaySeconds, shutdownTimeoutSeconds } = config.limits;
    const grace = Number.parseInt(service.stop_grace_period ?? '', 10);
    expect(grace).toBeGreaterThanOrEqual(drainDelaySeconds + shutdownTimeoutSeconds + MARGIN_SECONDS);
  });
});

test('the homeserver of packaging/compose/matrix.yaml, its clients and Latchkey use the same names', () => {
  const read = (name: string): unknown => parse(readFileSync(join(FOLDER, 'matrix', name), 'utf8'));
  const synapse = z.looseObject({
    server_name: z.string(),
    public_baseurl: z.string(),
    matrix_authentication_service: z.object({ endpoint: z.string(), secret_path: z.string(), enabled: z.boolean() }),
  });
  const element = z.looseObject({
    default_server_config: z.object({ 'm.homeserver': z.object({ base_url: z.string(), server_name: z.string() }) }),
  });
  const latchkey = z.looseObject({ homeserver: z.record(z.string(), z.string()) });
  const homeserver = synapse.parse(read('homeserver.yaml'));
  expect(latchkey.parse(read('latchkey.yaml')).homeserver).toEqual({
    homeserver: homeserver.server_name,
    endpoint: 'http://synapse:8008/',
    secret_file: homeserver.matrix_authentication_service.secret_path,
  });
  expect(element.parse(read('element.json')).default_server_config['m.homeserver']).toEqual({
    base_url: homeserver.public_baseurl.replace(/\/$/, ''),
    server_name: homeserver.server_name,
  });
});

/** Loads the configuration of a service as in its container, with files of secrets in a temporary directory. */
function loadedFor(service: z.output<typeof SERVICE>): LoadedConfig {
  const place = mkdtempSync(join(tmpdir(), 'latchkey-packaging-'));
  try {
    const inPlace = (text: string) => text.replaceAll(/\/(?:run\/secrets|keys|config|data)(?=\/|$)/g, `${place}$&`);
    for (const folder of ['run/secrets', 'keys', 'config', 'data']) mkdirSync(join(place, folder), { recursive: true });
    for (const [name, secret] of Object.entries({
      encryption: '0'.repeat(64),
      homeserver: 's',
      'database-password': 'p',
    })) {
      writeFileSync(join(place, 'run/secrets', name), secret, { mode: 0o600 });
    }
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(place, 'keys/rsa.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const variables = Object.entries(service.environment).map(([name, value]) => [name, inPlace(value)]);
    const files = (Array.isArray(service.command) ? service.command : []).filter((word) => word.endsWith('.yaml'));
    for (const path of files) {
      const source = service.volumes.find((volume) => volume.includes(path))?.split(':')[0] ?? '';
      writeFileSync(inPlace(path), inPlace(readFileSync(join(FOLDER, source), 'utf8')), { mode: 0o600 });
    }
    return loadConfig({
      files: files.map(inPlace),
      environment: { LATCHKEY_DATA_DIR: join(place, 'data'), ...Object.fromEntries(variables) },
      flags: {},
      workingDirectory: join(place, 'data'),
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
