import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mappingOf, type Shape } from '#platform/config/shape.ts';
import { nodeOf } from '#platform/config/tree.ts';
import { configShape } from '../config.ts';
import { load, type Situation } from '../fixture.test-support.ts';
import { dumpedSettings } from './dump.ts';
import { describedSections, type EffectiveSetting, effectiveSettings } from './effective.ts';

const ULID = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';

function settings(situation: Situation = {}, restart: readonly string[] = []) {
  const all = effectiveSettings({ loaded: load(situation), restart });
  const at = (key: string) => all.find((setting) => setting.key === key);
  return { all, at };
}

const described = (): Set<string> => new Set(describedSections().flatMap(({ keys }) => keys.map(({ name }) => name)));

describe('effective settings', () => {
  test('without a configuration contain every key of the manual outside of lists, with its default', () => {
    const { all, at } = settings();
    const keys = new Set(all.map(({ name }) => name.replace(/\[\].*$/, '')));
    expect(keys).toEqual(new Set([...described()].map((name) => name.replace(/\[\].*$/, ''))));
    expect(at('http.hsts')).toEqual({
      ...{ key: 'http.hsts', name: 'http.hsts', value: true, differs: false, needsRestart: false },
      source: { kind: 'default', name: undefined, line: undefined },
    });
    expect(at('branding.imprint')).toMatchObject({ value: undefined, differs: false });
    expect(at('database.uri')?.value).toBe('embedded:');
    expect(at('http.listeners[0].resources')?.value).toContain('adminapi');
    expect(all.filter(({ differs }) => differs)).toEqual([]);
  });

  test('name the source of each value: file and line, variable, flag, or the data directory', () => {
    const { at } = settings({
      files: {
        'latchkey.yaml': `http:\n  hsts: false\n  public_base: https://auth.example/\nbranding: {service_name: One}\n`,
        'more.yaml': `branding: {service_name: Two}\n`,
        old: 'cd'.repeat(32),
      },
      named: ['latchkey.yaml', 'more.yaml'],
      environment: { LATCHKEY__OAUTH__ID_TOKEN_TTL: '30m', LATCHKEY_DATA_DIR: '/srv/latchkey' },
      flags: { logLevel: 'warn' },
      generated: () => ({ encryptionKey: 'ab'.repeat(32), encryptionPrevious: ['ef'.repeat(32)] }),
    });
    const source = (key: string) => {
      const { kind, name, line } = at(key)?.source ?? expect.fail(key);
      return [kind, name, line];
    };
    expect(source('http.hsts')).toEqual(['file', 'latchkey.yaml', 2]);
    expect(source('branding.service_name')).toEqual(['file', 'more.yaml', 1]);
    expect(source('oauth.id_token_ttl')).toEqual(['environment', 'LATCHKEY__OAUTH__ID_TOKEN_TTL', undefined]);
    expect(source('logging.level')).toEqual(['flag', '--log-level', undefined]);
    expect(source('secrets.encryption')).toEqual(['generated', 'data directory', undefined]);
    expect(source('data_dir')).toEqual(['environment', 'LATCHKEY_DATA_DIR', undefined]);
    expect(at('data_dir')).toMatchObject({ value: '/srv/latchkey', differs: true });
    expect(at('secrets.encryption')).toMatchObject({ value: '<redacted>', differs: true });
  });

  test('differ from the default by their meaning, not by their notation', () => {
    const { at } = settings({
      files: {
        'latchkey.yaml': `oauth: {id_token_ttl: 3600}\nhttp: {hsts: true}\nlimits: {max_body: {form: 65536}}\njobs: {}\n`,
      },
    });
    expect(at('oauth.id_token_ttl')).toMatchObject({ value: 3600, differs: false, source: { kind: 'file' } });
    expect(at('http.hsts')).toMatchObject({ differs: false, source: { kind: 'file' } });
    expect(at('limits.max_body.form')).toMatchObject({ differs: false });
  });

  test('show elements of lists with the keys that have a value, and a secret by the key that sets it', () => {
    const { all, at } = settings({
      files: {
        'latchkey.yaml': `clients:
  - client_id: ${ULID}
    client_auth_method: client_secret_post
    client_secret_file: shared
    redirect_uris: [https://app.example/cb]
`,
        shared: 'hunter2-hunter2-hunter2',
      },
      environment: { SENTRY_DSN: 'https://dsnkey@sentry.example/1', PGPASSWORD: 'unused' },
    });
    const client = all.filter(({ name }) => name.startsWith('clients[].'));
    expect(client.map(({ key }) => key)).toContain('clients[0].grant_types');
    expect(client.every(({ value }) => value !== undefined)).toBe(true);
    expect(at('clients[0].client_secret')).toBeUndefined();
    expect(at('clients[0].client_secret_file')).toMatchObject({
      name: 'clients[].client_secret',
      value: expect.stringMatching(/\/shared$/),
      source: { kind: 'file', line: 4 },
    });
    expect(at('telemetry.sentry.dsn')).toMatchObject({
      value: '<redacted>',
      source: { kind: 'environment', name: 'SENTRY_DSN' },
    });
    // The embedded server does not use the variables of PostgreSQL.
    expect(at('database.password')).toMatchObject({ value: undefined, source: { kind: 'default' } });
  });

  test('all have an entry in the manual', () => {
    const names = described();
    expect(settings().all.filter(({ name }) => !names.has(name))).toEqual([]);
  });

  test('mark what only a restart applies', () => {
    const { all } = settings({}, ['http.workers', 'database.uri', 'http.listeners[0].binds[0].port']);
    const marked = all.filter(({ needsRestart }) => needsRestart).map(({ key }) => key);
    expect(marked).toEqual(['http.workers', 'http.listeners[0].binds[0].port', 'database.uri']);
  });
});

test('documentation of each section is a heading of the manual', () => {
  const manual = readFileSync('docs/reference/configuration.md', 'utf8');
  const headings = [...manual.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
    title
      .replaceAll(/[^\w -]/g, '')
      .toLowerCase()
      .replaceAll(' ', '-'),
  );
  expect(describedSections().map(({ documentation }) => documentation)).toEqual(
    headings.map((anchor) => `docs/reference/configuration.md#${anchor}`),
  );
});

/** Sets every key of the schema to a text of its own, and each secret to one that can be recognized. */
class Planted {
  readonly secrets: string[] = [];
  #count = 0;

  value(shape: Shape, path: string): unknown {
    if (shape.kind === 'list') return [0, 1].map((index) => this.value(shape.element, `${path}[${index}]`));
    if (shape.hints.secret === true) {
      this.#count += 1;
      const secret = `${String(this.#count).padStart(4, '0')}-planted-${path}`;
      this.secrets.push(secret);
      return secret;
    }
    const mapping = mappingOf(shape);
    if (mapping === undefined) return 'visible';
    const keys = [...mapping.keys].filter(([, { hints }]) => hints.fileOf === undefined);
    return Object.fromEntries(keys.map(([key, below]) => [key, this.value(below, `${path}.${key}`)]));
  }
}

test('security S-206: contains no value of any key that the schema declares a secret', () => {
  const planted = new Planted();
  const { config } = load();
  const tree = nodeOf(planted.value(configShape(), ''), { rank: 1, source: 'latchkey.yaml', directory: '/' });
  expect(planted.secrets.length).toBeGreaterThan(25);
  const loaded = {
    config,
    tree: tree.kind === 'mapping' ? tree : expect.fail(),
    environment: {},
    files: ['latchkey.yaml'],
  };
  const all: readonly EffectiveSetting[] = effectiveSettings({ loaded, restart: [] });
  for (const text of [
    JSON.stringify(all),
    JSON.stringify(dumpedSettings(loaded, { defaults: true, showSecrets: false })),
  ]) {
    expect(text).toContain('visible');
    expect(text.match(/\d{4}-planted[^"]*/g)).toBeNull();
  }
  const secrets = all.filter(({ value }) => JSON.stringify(value)?.includes('<redacted>'));
  expect(secrets.length).toBeGreaterThan(25);
});
