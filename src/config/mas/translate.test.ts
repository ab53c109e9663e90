import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { mappingNode, plain } from '#platform/config/tree.ts';
import { parseYaml } from '#platform/config/yaml.ts';
import { configShape } from '../config.ts';
import { SMALLEST } from './documents.test-support.ts';
import { masVariables, parseRustLog, parseValue } from './environment.ts';
import { MAS_KEYS } from './keys.ts';
import { mergedAsMas } from './merge.ts';
import { translateMas, translateMasKeys } from './translate.ts';

const AT = { rank: 1, source: 'mas.yaml', directory: '/srv' };

function mapping(document: object) {
  const { root } = parseYaml(stringify(document), AT);
  return root?.kind === 'mapping' ? root : expect.fail();
}

/** The settings of Latchkey and the notes, without the place and the defaults. */
function translated(yaml: string | object) {
  const { root, notes } = translateMasKeys(mapping(typeof yaml === 'string' ? parse(yaml) : yaml), configShape());
  return { settings: plain(root), notes: notes.map(({ kind, key, message }) => `${kind} ${key}: ${message}`) };
}

/** Returns a document with a value at a key. */
function documentWith(key: string, value: unknown): object {
  const steps = key.split('.');
  const nested = steps.reduceRight<unknown>((below, step) => {
    const [, name = step, lists = ''] = /^(.*?)((?:\[\])*)$/.exec(step) ?? [];
    const listed = lists === '' ? below : [below];
    return { [name]: listed };
  }, value);
  return typeof nested === 'object' && nested !== null ? nested : {};
}

describe('every key of MAS', () => {
  const isLeaf = (key: string) =>
    !MAS_KEYS.some((other) => other.key.startsWith(`${key}.`) || other.key === `${key}[]`);
  const leaves = MAS_KEYS.map(({ key }) => key).filter(isLeaf);

  test.each(leaves)('%s is known', (key) => {
    const { notes } = translated(documentWith(key, 'some value'));
    expect(notes.filter((note) => note.includes('neither'))).toEqual([]);
  });

  test.each(leaves)('%s that is null is absent', (key) => {
    const { settings, notes } = translated(documentWith(key, null));
    expect([JSON.stringify(settings).includes('null'), notes.filter((note) => note.startsWith('refusal'))]).toEqual([
      key.endsWith('[]'),
      [],
    ]);
  });
});

const PROVIDER = { id: 'x', token_endpoint_auth_method: 'sign_in_with_apple' };

describe('what changes', () => {
  test.each([
    ['https://Account.Example.org', 'https://account.example.org/'],
    ['https://example.org:443/auth', 'https://example.org/auth'],
    ['https://bücher.example/a/../b', 'https://xn--bcher-kva.example/b'],
    ['http://[::]:8080/', 'http://[::]:8080/'],
  ])('URLs are written as MAS writes them: %s', (given, expected) => {
    const { settings } = translated({ http: { public_base: given, issuer: given } });
    expect(settings).toEqual({ http: { public_base: expected, issuer: expected } });
  });

  test.each([
    ['127.0.0.1/8', '127.0.0.0/8'],
    ['10.1.2.3/255.255.0.0', '10.1.0.0/16'],
    ['fd00::1/8', 'fd00::/8'],
    ['192.0.2.1', '192.0.2.1'],
    ['10.0.0.0/33', '10.0.0.0/33'],
    ['10.0.0.0/255.0.255.0', '10.0.0.0/255.0.255.0'],
    ['proxy.example', 'proxy.example'],
  ])('networks lose their host bits, and anything else is left to the check: %s', (given, expected) => {
    expect(translated({ http: { trusted_proxies: [given] } }).settings).toEqual({
      http: { trusted_proxies: [expected] },
    });
  });

  test.each([
    ['{host: a, port: 1, address: "127.0.0.1:2"}', { host: 'a', port: 1 }],
    ['{address: "localhost:8080"}', { host: 'localhost', port: 8080 }],
    ['{address: "127.0.0.1:80", socket: /run/x}', { address: '127.0.0.1:80' }],
    ['{socket: /run/x, mode: "660", kind: tcp}', { socket: '/run/x', mode: '660' }],
    ['{}', { fd: 0 }],
    ['{fd: 2, kind: unix}', { fd: 2, kind: 'unix' }],
  ])('a bind keeps the form that MAS would use: %s', (bind, expected) => {
    const { settings } = translated(`http: {listeners: [{binds: [${bind}]}]}`);
    expect(settings).toEqual({ http: { listeners: [{ binds: [expected] }] } });
  });

  test('members of resources become settings, and prometheus needs an exporter', () => {
    const resources = '[{name: graphql, playground: true}, {name: assets, path: /usr/local/share/mas-cli/assets/}]';
    const { settings, notes } = translated(
      `http: {listeners: [{name: a, resources: ${resources}}, {name: a, resources: [{name: prometheus}]}, {name: a, resources: [{name: graphql, playground: false}, human, human]}]}`,
    );
    expect(settings).toEqual({
      graphql: { playground: true },
      http: {
        listeners: [
          { name: 'a', resources: [{ name: 'graphql' }, { name: 'assets' }] },
          { resources: [{ name: 'graphql' }, 'human'] },
        ],
      },
    });
    expect(notes.filter((note) => note.startsWith('warning'))).toEqual([
      'warning http.listeners[1].resources: "prometheus" is left out, because telemetry.metrics.exporter is not "prometheus"',
      'warning http.listeners: the listener "a" is left out, because it serves no resource',
    ]);
  });

  test.each([
    ['{registration_token_required: true}', true],
    ['{registration_token_required: true, password_registration_token_required: false}', true],
    ['{registration_token_required: false, password_registration_token_required: true}', true],
    ['{registration_token_required: false}', false],
  ])('either spelling of the registration token key counts: %s', (account, expected) => {
    expect(translated(`account: ${account}`).settings).toEqual({
      account: { password_registration_token_required: expected },
    });
  });

  test.each<[string, object, object, string]>([
    [
      'mail of another transport',
      { email: { transport: 'sendmail', hostname: 'x', command: '/bin/s' } },
      { email: { transport: 'sendmail', command: '/bin/s' } },
      'warning email: "hostname": ignored, because the transport does not use it',
    ],
    [
      'a CAPTCHA without a service',
      { captcha: { service: null, site_key: 'x' } },
      {},
      'change captcha: the keys are left out, because no "service" is set',
    ],
    [
      'both keys of Apple',
      {
        upstream_oauth2: {
          providers: [{ ...PROVIDER, sign_in_with_apple: { private_key: 'k', private_key_file: 'f' } }],
        },
      },
      { upstream_oauth2: { providers: [{ ...PROVIDER, sign_in_with_apple: { private_key: 'k' } }] } },
      'warning upstream_oauth2.providers[0].sign_in_with_apple: "private_key_file" is ignored, because "private_key" is set',
    ],
    [
      'signed userinfo that is not fetched',
      { upstream_oauth2: { providers: [{ id: 'x', userinfo_signed_response_alg: 'RS256' }] } },
      { upstream_oauth2: { providers: [{ id: 'x' }] } },
      'warning upstream_oauth2.providers[0]: "userinfo_signed_response_alg" is ignored without "fetch_userinfo"',
    ],
    [
      'the cost of argon2id',
      { passwords: { schemes: [{ version: 1, algorithm: 'argon2id', cost: 3 }] } },
      { passwords: { schemes: [{ version: 1, algorithm: 'argon2id' }] } },
      'warning passwords.schemes[0]: "cost" is ignored, because only "bcrypt" has one',
    ],
    [
      'a lifetime out of range',
      { experimental: { compat_token_ttl: 1_000_000 } },
      { experimental: { compat_token_ttl: 86_400 } },
      'warning experimental.compat_token_ttl: 1000000 s is outside of 60 to 86400 s; 86400 s is used',
    ],
    [
      'a frame that is not a web page',
      { experimental: { plan_management_iframe_uri: 'none' } },
      { experimental: {} },
      'warning experimental.plan_management_iframe_uri: ignored: Latchkey accepts an http or https URL only',
    ],
    [
      'a merge key of YAML',
      { '<<': { a: 1 }, oauth: {} },
      { oauth: {} },
      'warning <<: ignored: neither Matrix Authentication Service nor Latchkey has it',
    ],
    ['a key of Latchkey', { matrix: { timeout: '10s' } }, { homeserver: { timeout: '10s' } }, ''],
  ])('%s', (_, document, expected, note) => {
    const { settings, notes } = translated(document);
    expect(settings).toEqual(expected);
    expect(notes).toEqual(note === '' ? [] : [note]);
  });

  test.each([
    ['policy: {wasm_module: /etc/mas/policy.wasm}', 'policy.wasm_module', 'docs/guides/policy-module.md'],
    ['policy: {email_entrypoint: own/violation}', 'policy.email_entrypoint', 'docs/guides/policy-module.md'],
    ['templates: {path: /etc/mas/templates}', 'templates.path', 'docs/guides/appearance.md'],
    ['templates: {translations_path: ./own}', 'templates.translations_path', 'docs/guides/appearance.md'],
  ])('what Latchkey cannot use is refused with the page to read: %s', (yaml, key, page) => {
    expect(translated(yaml).notes).toEqual([expect.stringMatching(new RegExp(`^refusal ${key}: .*${page}`))]);
  });

  test('every note has the line and column of the file', () => {
    const { notes } = translateMas(
      mapping({ ...SMALLEST, unknown: 1, http: { public_base: 'https://a.example' } }),
      configShape(),
    );
    const places = notes.flatMap(({ key, at }) => (at.line === undefined ? [] : [`${key} ${at.source}:${at.column}`]));
    expect(places).toEqual(['unknown mas.yaml:1', 'http.public_base mas.yaml:16']);
  });
});

describe('merging', () => {
  test('lists are concatenated, mappings are merged, and other values are replaced', () => {
    const merged = mergedAsMas(
      mapping({ a: [1], b: { c: 1, d: 2 }, e: [1], f: 'x' }),
      mapping({ a: [2], b: { c: null }, e: 'text', f: ['y'] }),
    );
    expect(plain(merged)).toEqual({ a: [1, 2], b: { c: null, d: 2 }, e: 'text', f: ['y'] });
  });

  test('variables set one key for each underscore', () => {
    const environment = {
      MAS_DATABASE_URI: 'postgresql://db/x',
      mas_matrix_secret: '0123',
      MAS_HTTP_PUBLIC_BASE: 'https://a.example',
      MAS_CONFIG: '/conf/a.yaml',
      ...{ MAS_SERVICE_HOST: '10.0.0.1', MAS_PORT: 'tcp://10.0.0.1:80', MAS_PORT_80_TCP_PORT: '80', OTHER: '1' },
    };
    expect(plain(masVariables(environment, AT))).toEqual({
      database: { uri: 'postgresql://db/x' },
      matrix: { secret: 123 },
      http: { public: { base: 'https://a.example' } },
    });
  });

  test.each([
    ['true', true],
    ['-4.5', -4.5],
    ['0123', 123],
    ['text of words', 'text of words'],
    ['"quoted \\"text\\"\\n"', 'quoted "text"\n'],
    ['[a, 1, [true]]', ['a', 1, [true]]],
    ['{a=1, "b c"={d=x}}', { a: 1, 'b c': { d: 'x' } }],
    ['[]', []],
    ['[unfinished', '[unfinished'],
    ['{a}', '{a}'],
    ['"open', '"open'],
    ['', ''],
    ['99999999999999999999999999999999', '99999999999999999999999999999999'],
  ])('the value %s is parsed', (text, expected) => {
    expect(parseValue(text)).toEqual(expected);
  });

  test.each([
    ['warn', 'warn', []],
    ['mas_cli=debug,info', 'info', ['mas_cli=debug']],
    ['OFF', 'error', []],
    ['hyper=trace', undefined, ['hyper=trace']],
    ['', undefined, []],
  ])('RUST_LOG=%s', (filter, level, ignored) => {
    expect(parseRustLog(filter)).toEqual({ level, ignored });
  });

  test('an empty document is translated to an empty one', () => {
    expect(plain(translateMasKeys(mappingNode(AT), configShape()).root)).toEqual({});
  });
});
