import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configShape } from '#config/config.ts';
import { workingDirectory } from '#config/fixture.test-support.ts';
import { type ConfigSources, loadConfig } from '#config/load.ts';
import { readSigningKeys } from '#domain/keys/read-signing-keys.ts';
import type { Shape } from '#platform/config/shape.ts';
import { checkConfig, configManual, configSchema, dumpConfig, generateClient, generateConfig } from './config.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SCHEMA = { schemaPath: '/usr/share/latchkey/config.schema.json' };

function sources(directory: string, ...files: string[]): ConfigSources {
  return { files, environment: {}, flags: {}, workingDirectory: directory };
}

class Output {
  out = '';
  err = '';
  readonly stdout = (text: string) => {
    this.out += text;
  };
  readonly stderr = (text: string) => {
    this.err += text;
  };
}

describe('config check', () => {
  test('lists the files of a valid configuration, with warnings on stderr', async () => {
    const directory = workingDirectory({ 'a.yaml': 'homeserver: {kind: none, secret: short}\n', 'b.yaml': '' });
    const output = new Output();
    await checkConfig(sources(directory, 'a.yaml', 'b.yaml'), false, output);
    expect(output.out).toBe('Configuration is valid: a.yaml, b.yaml\n');
    expect(output.err).toBe('latchkey: warning: homeserver.secret: at least 16 characters are recommended\n');
  });

  test('as JSON: files and warnings, or every problem with its position, and still exit code 78', async () => {
    const directory = workingDirectory({
      'good.yaml': 'homeserver: {kind: none, secret: short}\n',
      'bad.yaml': 'bogus: 1\nsecrets: {encryption: "00"}\n',
    });
    const good = new Output();
    await checkConfig(sources(directory, 'good.yaml'), true, good);
    expect(JSON.parse(good.out)).toEqual({
      ...{ valid: true, files: ['good.yaml'], problems: [] },
      warnings: ['homeserver.secret: at least 16 characters are recommended'],
    });
    const bad = new Output();
    await expect(checkConfig(sources(directory, 'bad.yaml'), true, bad)).rejects.toMatchObject({ exitCode: 78 });
    expect(JSON.parse(bad.out)).toEqual({
      valid: false,
      problems: [
        'bogus: unknown key (bad.yaml:1:1)',
        'secrets.encryption: expected 64 hexadecimal characters, got [secret] (bad.yaml:2:23)',
      ],
    });
  });

  test('fails with 78 for an invalid signing key', async () => {
    const directory = workingDirectory({ 'latchkey.yaml': 'secrets: {keys: [{key: nonsense}]}\n' });
    await expect(checkConfig(sources(directory), false, new Output())).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('secrets.keys[0]'),
    });
  });

  test('fails with 78 for an invalid policy module, with path and reason', async () => {
    const files = { 'latchkey.yaml': 'policy: {module: rules.mjs}\n' };
    for (const [text, reason] of [
      [undefined, 'cannot be read: no such file'],
      ['export const registration = () => [];', 'unknown export "registration"'],
    ] as const) {
      const directory = workingDirectory(text === undefined ? files : { ...files, 'rules.mjs': text });
      await expect(checkConfig(sources(directory), false, new Output())).rejects.toMatchObject({
        exitCode: 78,
        message: expect.stringMatching(new RegExp(`policy\\.module: .*/rules\\.mjs: ${reason}.*latchkey\\.yaml:1:`)),
      });
    }
    const directory = workingDirectory({ ...files, 'rules.mjs': 'export const email = () => [];' });
    const output = new Output();
    await checkConfig(sources(directory), false, output);
    expect(output.out).toContain('Configuration is valid');
  });
});

describe('config generate', () => {
  test('writes a file that is valid, complete and unique', async () => {
    const directory = workingDirectory();
    const file = join(directory, 'latchkey.yaml');
    await generateConfig({ output: file, force: false, json: false, ...SCHEMA }, new Output());
    await checkConfig(sources(directory), false, new Output());

    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=/usr/share/latchkey/config.schema.json');
    const { config } = loadConfig(sources(directory));
    expect(config.secrets.encryption?.reveal()).toMatch(/^[0-9a-f]{64}$/);
    expect(config.homeserver.secret?.reveal()).toMatch(/^\w{32}$/);
    const { secrets } = config;
    for (const { key } of secrets.keys) expect(key.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const pems = secrets.keys.map(({ key, ...rest }) => ({
      ...rest,
      key: Buffer.from(key.reveal()),
      password: undefined,
    }));
    const algorithms = readSigningKeys(pems)
      .list()
      .map(({ algorithm, isSigning }) => isSigning && algorithm);
    expect(algorithms).toEqual(['RS256', 'ES256', 'ES384', 'EdDSA', 'ES256K']);
    expect(text).toMatch(/^ +# ES256K: remove it if an application cannot read the key set/m);

    const other = new Output();
    await generateConfig({ force: false, json: false, ...SCHEMA }, other);
    expect(parse(other.out).secrets).not.toEqual(parse(text).secrets);
  });

  test('shows every setting with its default: uncommented, the file is equivalent', async () => {
    const output = new Output();
    await generateConfig({ force: false, json: false, ...SCHEMA }, output);
    const uncommented = output.out.replace(/^(\s*)#([a-z_0-9]+:(?: \S.*)?)$/gm, '$1$2');
    expect(uncommented).not.toBe(output.out);
    const directory = workingDirectory({ 'a.yaml': output.out, 'b.yaml': uncommented });
    const commented = loadConfig(sources(directory, 'a.yaml')).config;
    expect(loadConfig(sources(directory, 'b.yaml')).config).toEqual(commented);
  });

  test('overwrites a file only with --force', async () => {
    const directory = workingDirectory({ 'latchkey.yaml': 'old: 1\n' });
    const output = join(directory, 'latchkey.yaml');
    await expect(generateConfig({ output, force: false, json: false, ...SCHEMA }, new Output())).rejects.toMatchObject({
      exitCode: 73,
      message: `${output} already exists; use --force to overwrite it`,
    });
    expect(readFileSync(output, 'utf8')).toBe('old: 1\n');
    await generateConfig({ output, force: true, json: false, ...SCHEMA }, new Output());
    await checkConfig(sources(directory), false, new Output());
  });
});

/**
 * Keys whose default is absent from the dump: alternatives to the embedded server, values generated at startup, keys of
 * another transport, exporter or homeserver, and values derived from the service name and colors.
 */
const DEFAULTS_ELSEWHERE = [
  ...['database.host', 'database.port', 'database.username', 'database.database', 'database.ssl_mode'],
  ...['database.embedded', 'secrets.keys', 'homeserver.homeserver', 'email.from', 'email.port', 'email.ehlo_name'],
  ...['email.command', 'branding.accent_color', 'branding.accent_color_dark', 'templates', 'index'],
  ...['telemetry.metrics.endpoint', 'telemetry.tracing.endpoint'],
];

/** Returns the keys with a default that the value lacks. */
function keysWithDefault(shape: Shape, value: unknown, path: string): string[] {
  const keys = shape.kind === 'mapping' ? [...shape.keys] : [];
  return keys.flatMap(([name, child]) => {
    const key = path === '' ? name : `${path}.${name}`;
    const below: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    if (below !== undefined) return keysWithDefault(child, below, key);
    const hasDefault = child.defaultValue !== undefined || child.hints.defaultText !== undefined;
    return hasDefault && child.hints.secret !== true ? [key] : [];
  });
}

describe('config dump', () => {
  const yaml = [
    'x-note: gone',
    'oauth: {id_token_ttl: 1h}',
    'database: {uri: "postgres://u:hunter2@h/d"}',
    `secrets: {encryption: ${'ab'.repeat(32)}, encryption_previous: [{file: old}], keys: [{kid: one, key: hunter3}]}`,
    `clients: [{client_id: ${ULID}, client_auth_method: client_secret_post, client_secret_file: shared}]`,
    '',
  ].join('\n');
  const files = { 'latchkey.yaml': yaml, old: 'cd'.repeat(32), shared: 'hunter4 hunter4 hunter4' };

  async function dump(
    directory: string,
    options: { defaults: boolean; showSecrets: boolean; output?: string; json?: boolean },
  ) {
    const output = new Output();
    await dumpConfig(sources(directory), { json: false, ...options }, output);
    return output.out;
  }

  test('with defaults: prints every key that has one', async () => {
    const dumped: unknown = parse(await dump(workingDirectory({}), { defaults: true, showSecrets: false }));
    expect(keysWithDefault(configShape(), dumped, '')).toEqual(DEFAULTS_ELSEWHERE);
  });

  test('prints the values of the sources without any secret', async () => {
    const directory = workingDirectory(files);
    const text = await dump(directory, { defaults: false, showSecrets: false });
    expect(parse(text)).toEqual({
      database: { uri: '<redacted>' },
      secrets: {
        encryption: '<redacted>',
        encryption_previous: [{ file: join(directory, 'old') }],
        keys: [{ kid: 'one', key: '<redacted>' }],
      },
      clients: [
        { client_id: ULID, client_auth_method: 'client_secret_post', client_secret_file: join(directory, 'shared') },
      ],
      oauth: { id_token_ttl: '1h' },
    });
    const withDefaults = await dump(directory, { defaults: true, showSecrets: false });
    const asJson = await dump(directory, { defaults: true, showSecrets: false, json: true });
    expect(JSON.parse(asJson)).toEqual(parse(withDefaults));
    for (const secret of ['hunter2', 'hunter3', 'hunter4', 'abab', 'cdcd']) {
      expect(text).not.toContain(secret);
      expect(withDefaults).not.toContain(secret);
    }
  });

  test('shows secrets on request, in a file readable by the owner only', async () => {
    const directory = workingDirectory(files);
    const output = join(directory, 'dump.yaml');
    expect(await dump(directory, { defaults: false, showSecrets: true, output })).toBe('');
    expect(readFileSync(output, 'utf8')).toContain('hunter2');
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  test('with secrets and defaults prints an equivalent configuration', async () => {
    const directory = workingDirectory(files);
    const output = join(directory, 'dump.yaml');
    await dump(directory, { defaults: true, showSecrets: true, output });
    expect(loadConfig(sources(directory, 'dump.yaml')).config).toEqual(loadConfig(sources(directory)).config);
    const dumped = parse(readFileSync(output, 'utf8'));
    expect(dumped).toMatchObject({
      protocol_name: 'chat',
      http: { public_base: 'http://localhost:8080/', hsts: true },
      clients: [
        {
          first_party: false,
          grant_types: [
            'authorization_code',
            'refresh_token',
            'client_credentials',
            'urn:ietf:params:oauth:grant-type:device_code',
          ],
        },
      ],
      limits: { max_body: { form: '64KiB' } },
    });
  });

  test('of an empty configuration prints only the defaults', async () => {
    const directory = workingDirectory();
    expect(parse(await dump(directory, { defaults: false, showSecrets: false }))).toEqual({});
    const text = await dump(directory, { defaults: true, showSecrets: false });
    const again = workingDirectory({ 'latchkey.yaml': text.replace('<redacted>', 'embedded:') });
    expect(loadConfig(sources(again)).config).toEqual(loadConfig(sources(directory)).config);
  });
});

test('config schema and the manual are printed as shipped', async () => {
  const schema = new Output();
  await configSchema(schema);
  expect(schema.out).toBe(readFileSync('share/config.schema.json', 'utf8'));
  const manual = new Output();
  await configManual(manual);
  expect(manual.out).toBe(readFileSync('docs/reference/configuration.md', 'utf8'));
});

test('config generate --json prints one document that a configuration accepts unchanged, as does an entry', async () => {
  const [whole, entry] = [new Output(), new Output()];
  await generateConfig({ force: false, json: true, ...SCHEMA }, whole);
  const written = JSON.parse(whole.out);
  expect(written).toMatchObject({ database: { uri: 'embedded:' }, secrets: { keys: expect.any(Array) } });
  expect(loadConfig(sources(workingDirectory({ 'latchkey.yaml': whole.out }))).config.secrets.keys).toHaveLength(
    written.secrets.keys.length,
  );
  await generateClient({ force: false, json: true, redirectUris: ['https://app.example/a'] }, entry);
  expect(JSON.parse(entry.out)).toMatchObject({ clients: [{ redirect_uris: ['https://app.example/a'] }] });
});

describe('config generate --client', () => {
  test('prints an entry with a new ID and secret that a configuration accepts unchanged', async () => {
    const [first, other] = [new Output(), new Output()];
    for (const output of [first, other]) await generateClient({ force: false, json: false, redirectUris: [] }, output);
    const directory = workingDirectory({ 'latchkey.yaml': first.out });
    const [client] = loadConfig(sources(directory)).config.clients;
    expect(client).toMatchObject({ clientAuthMethod: 'client_secret_basic', redirectUris: [expect.any(String)] });
    expect(client?.clientSecret?.reveal()).toMatch(/^[A-Za-z0-9]{43}$/);
    const [again] = parse(other.out).clients;
    expect(again.client_id).not.toBe(client?.clientId);
    expect(again.client_secret).not.toBe(client?.clientSecret?.reveal());
  });

  test("accepts the application's redirect URIs and rejects invalid ones (exit code 2)", async () => {
    const output = new Output();
    const redirectUris = ['https://app.example/a', 'http://localhost:3000/b'];
    await generateClient({ force: false, json: false, redirectUris }, output);
    expect(parse(output.out).clients[0].redirect_uris).toEqual(redirectUris);
    const refused = generateClient({ force: false, json: false, redirectUris: ['https://app.example/#x'] }, output);
    await expect(refused).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('--redirect-uri') });
  });
});
