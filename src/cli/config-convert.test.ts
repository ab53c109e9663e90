import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { workingDirectory } from '#config/fixture.test-support.ts';
import { loadConfig } from '#config/load.ts';
import {
  CHART,
  CHART_FILES,
  GENERATED,
  HEX,
  MANUAL,
  MATRIX,
  SECRETS,
  SMALLEST,
} from '#config/mas/documents.test-support.ts';
import { Secret } from '#platform/base/secret.ts';
import { runCommand } from './run-command.test-support.ts';

const PEPPER = Buffer.from([0xff, 0x70, 0x0a]);

/** Everything that a conversion has to move or to keep. */
const PARTS = {
  http: { public_base: 'https://Account.Example.ORG/auth', listeners: CHART.http.listeners },
  passwords: {
    schemes: [
      { version: 1, algorithm: 'bcrypt', cost: 10, secret_file: 'secrets/pepper' },
      { version: 2, algorithm: 'argon2id', cost: 4 },
    ],
  },
  email: { transport: 'smtp', mode: 'tls', hostname: 'mail.example.org', command: '/usr/sbin/sendmail' },
  telemetry: { metrics: { exporter: 'none' }, tracing: { exporter: 'otlp' } },
  experimental: { access_token_ttl: 30, inactive_session_expiration: { ttl: 60 } },
};

function filesOf(documents: Readonly<Record<string, object>>) {
  const texts = Object.entries(documents).map(([name, document]) => [name, stringify(document)] as const);
  return workingDirectory({ ...CHART_FILES, 'secrets/pepper': PEPPER, ...Object.fromEntries(texts) });
}

async function convert(directory: string, names: readonly string[], environment: Record<string, string> = {}) {
  const words = names.flatMap((name) => ['--mas-config', name]);
  return await runCommand(['config', 'convert', ...words, '-o', join(directory, 'own/latchkey.yaml'), '--force'], {
    workingDirectory: directory,
    environment,
  });
}

/** Loads a configuration from a directory. */
function configOf(directory: string, names: readonly string[], environment: Record<string, string>, isMas: boolean) {
  const { config } = loadConfig({ files: names, environment, flags: {}, workingDirectory: directory, isMas });
  // Compiled templates contain functions.
  return JSON.parse(JSON.stringify(config, revealed));
}

function revealed(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
  return original instanceof Secret ? original.reveal() : value;
}

describe('config convert', () => {
  test.each([
    ['the smallest', { 'mas.yaml': SMALLEST }, {}],
    ['as generated', { 'mas.yaml': GENERATED }, {}],
    ['as in the manual', { 'mas.yaml': MANUAL }, {}],
    ['as the chart renders it', { 'mas.yaml': CHART }, {}],
    ['moved and renamed keys', { 'mas.yaml': { ...SMALLEST, ...PARTS } }, {}],
    ['several files', { 'a.yaml': CHART, 'b.yaml': { clients: MANUAL.clients }, 'c.yaml': { clients: [] } }, {}],
    ['variables', { 'mas.yaml': { matrix: MATRIX } }, { MAS_SECRETS_ENCRYPTION: HEX, MAS_SECRETS_KEYS: '[{key="x"}]' }],
  ])('has the effect of the MAS files: %s', async (_, documents: Record<string, object>, environment) => {
    const directory = filesOf({ ...documents, 'own/empty.yaml': {} });
    const names = Object.keys(documents);
    const { exitCode, err } = await convert(directory, names, environment);
    expect([exitCode, err.includes('internal')]).toEqual([0, false]);
    const own = ['own/latchkey.yaml'];
    expect(configOf(directory, own, {}, false)).toEqual(configOf(directory, names, environment, true));
  });

  test('explains each change with its place, and its output passes config check', async () => {
    const directory = filesOf({ 'mas.yaml': { ...SMALLEST, ...PARTS, unknown: 1 }, 'own/empty.yaml': {} });
    const { exitCode, err } = await convert(directory, ['mas.yaml']);
    const path = join(directory, 'own/latchkey.yaml');
    const text = readFileSync(path, 'utf8');
    expect([exitCode, statSync(path).mode & 0o777]).toEqual([0, 0o600]);
    expect(text).toMatch(
      /^# - http\.public_base: written as "https:\/\/account\.example\.org\/auth", which is what MAS publishes \(mas\.yaml:\d+:\d+\)$/m,
    );
    expect(text).toMatch(
      /^# - http\.listeners\[0\]\.resources\[5\]\.undocumented_oauth2_access: is "graphql\.oauth2_access"/m,
    );
    expect(text).toMatch(
      /^# - rate_limiting\.login\.per_account: set to \{"burst":1800,"per_second":0\.5\}: MAS permits/m,
    );
    expect(err).toMatch(/^latchkey: warning: unknown: ignored: neither .* \(mas\.yaml:\d+:1\)$/m);
    expect(err).toMatch(
      /^latchkey: warning: experimental\.access_token_ttl: 30 s is outside of 60 to 86400 s; 60 s is used/m,
    );
    const { passwords, protocol_name: protocolName } = parse(text);
    expect(protocolName).toBe('matrix');
    expect(passwords.schemes).toEqual([
      { version: 1, algorithm: 'bcrypt', cost: 10, secret_bytes_file: join(directory, 'secrets/pepper') },
      { version: 2, algorithm: 'argon2id' },
    ]);
    const check = await runCommand(['config', 'check', '-c', path], { workingDirectory: directory });
    expect(check).toMatchObject({ exitCode: 0, out: `Configuration is valid: ${path}\n` });
  });

  test('explanations contain no secret', async () => {
    const document = {
      ...MANUAL,
      secrets: { ...SECRETS, encryption: HEX },
      database: { password: 'hush-hush', port: 1 },
    };
    const directory = filesOf({ 'mas.yaml': document, 'own/empty.yaml': {} });
    const { err } = await convert(directory, ['mas.yaml']);
    const comments = readFileSync(join(directory, 'own/latchkey.yaml'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('#'));
    for (const secret of ['hush-hush', HEX, MATRIX.secret, 'twelve.chars', 'PRIVATE KEY']) {
      expect([comments.join('\n').includes(secret), err.includes(secret)]).toEqual([false, false]);
    }
  });

  test('refuses what it cannot convert: a missing file, a file of Latchkey, a file that exists', async () => {
    const directory = filesOf({ 'mas.yaml': SMALLEST, 'own.yaml': { protocol_name: 'matrix' } });
    const run = async (...words: string[]) =>
      await runCommand(['config', 'convert', ...words], { workingDirectory: directory });
    expect(await run('--mas-config', 'absent.yaml')).toMatchObject({
      exitCode: 1,
      err: 'latchkey: cannot read absent.yaml: no such file\n',
    });
    expect(await run('--mas-config', 'own.yaml')).toMatchObject({ exitCode: 1, out: '' });
    expect(await run('--mas-config', 'mas.yaml', '-o', join(directory, 'own.yaml'))).toMatchObject({ exitCode: 73 });
    expect((await run()).exitCode).toBe(2);
  });
});
