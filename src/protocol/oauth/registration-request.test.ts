import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import { REGISTRABLE_GRANT_TYPES } from './client-metadata.ts';
import { parseRegistration, type RegistrationRules } from './registration-request.ts';

const RULES: RegistrationRules = {
  allowHostMismatch: false,
  allowInsecureUris: false,
  allowMissingClientUri: false,
  allowPrivateUseSchemes: false,
  grantTypes: REGISTRABLE_GRANT_TYPES,
  signingAlgorithms: ['RS256', 'ES256'],
};
const BODY = { client_uri: 'https://app.example/', redirect_uris: ['https://app.example/cb'] };

function parse(members: object, rules: Partial<RegistrationRules> = {}) {
  return parseRegistration({ ...BODY, ...members }, { ...RULES, ...rules });
}

/** Returns the error code and description. */
function refusal(members: object, rules: Partial<RegistrationRules> = {}): string {
  try {
    return `accepted: ${JSON.stringify(parse(members, rules))}`;
  } catch (error) {
    if (error instanceof LatchkeyError) return error.message;
    throw error;
  }
}

describe('omitted members get the defaults', () => {
  test('of RFC 7591 and OpenID Connect Registration', () => {
    expect(parse({})).toEqual({
      application_type: 'web',
      token_endpoint_auth_method: 'client_secret_basic',
      redirect_uris: ['https://app.example/cb'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: 'RS256',
      subject_type: 'public',
      client_uri: { '': 'https://app.example/' },
    });
  });

  test('null counts as omitted', () => {
    expect(parse({ client_name: null, jwks_uri: null, logo_uri: null })).toEqual(parse({}));
  });
});

test('pairwise subjects require one host that is not loopback (OpenID Connect Registration 2)', () => {
  const pairwise = { subject_type: 'pairwise' };
  expect(parse(pairwise)).toMatchObject(pairwise);
  const hosts = { redirect_uris: ['https://app.example/cb', 'https://www.app.example/cb'] };
  expect(refusal({ ...pairwise, ...hosts })).toContain('subject_type');
  const native = { application_type: 'native', redirect_uris: ['http://127.0.0.1/cb'] };
  expect(refusal({ ...pairwise, ...native })).toContain('subject_type');
  const none = { redirect_uris: [], grant_types: ['client_credentials'] };
  expect(refusal({ ...pairwise, ...none })).toContain('subject_type');
  const sector = { sector_identifier_uri: 'https://group.example/apps.json' };
  expect(parse({ ...pairwise, ...hosts, ...sector })).toMatchObject({ ...pairwise, ...sector });
});

test('all supported members are kept', () => {
  const kept = {
    contacts: ['ops@app.example'],
    initiate_login_uri: 'https://app.example/start',
    post_logout_redirect_uris: ['https://app.example/bye'],
    scope: 'openid profile',
    software_id: 'app',
    software_version: '1.0',
    default_max_age: 0,
    require_auth_time: true,
    dpop_bound_access_tokens: true,
    default_acr_values: ['urn:latchkey:acr:1'],
    id_token_signed_response_alg: 'ES256',
    userinfo_signed_response_alg: 'RS256',
    introspection_signed_response_alg: 'ES256',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
  };
  expect(parse(kept)).toMatchObject(kept);
});

test('unknown and server-controlled members are dropped', () => {
  const ours = {
    first_party: true,
    id_token_claims: false,
    strict_auth_method: true,
    client_id: 'x',
    client_secret: 'y',
  };
  expect(parse({ ...ours, request_uris: ['https://app.example/r'], x: { y: 1 } })).toEqual(parse({}));
});

describe('grants and response types', () => {
  test('that are not offered are dropped while at least one remains', () => {
    const requested = { grant_types: ['implicit', 'password', 'refresh_token', 'authorization_code', 'x'] };
    expect(parse({ ...requested, response_types: ['id_token', 'code'] })).toMatchObject({
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
  });

  test('a client without the code grant needs no redirect URI', () => {
    const requested = { grant_types: ['client_credentials'], redirect_uris: [] };
    expect(parse(requested)).toMatchObject({ redirect_uris: [], response_types: [] });
  });

  test.each([
    [{ grant_types: ['implicit'] }, 'grant_types'],
    [{ grant_types: [] }, 'grant_types'],
    [{ response_types: ['id_token'] }, 'response_types'],
    [{ grant_types: ['refresh_token'], response_types: ['code'] }, 'response_types'],
    [{ grant_types: ['client_credentials'], token_endpoint_auth_method: 'none' }, 'grant_types'],
  ])('%j contradicts %s', (members, name) => {
    expect(refusal(members)).toContain(`invalid_client_metadata: ${name} `);
  });
});

describe('a member with an invalid type or value is reported', () => {
  test.each<[string, unknown]>([
    ['redirect_uris', 'https://app.example/cb'],
    ['redirect_uris', [1]],
    ['grant_types', 'authorization_code'],
    ['response_types', {}],
    ['application_type', 'service'],
    ['token_endpoint_auth_method', 'tls_client_auth'],
    ['client_name', 7],
    ['client_name', ''],
    ['client_name', 'x'.repeat(256)],
    ['client_name', 'a\u202eb'],
    ['client_name', 'a\nb'],
    ['client_uri', {}],
    ['contacts', 'x'],
    ['contacts', Array.from({ length: 11 }, () => 'x')],
    ['contacts', ['x'.repeat(255)]],
    ['scope', ['openid']],
    ['scope', '"'],
    ['software_id', 'x'.repeat(256)],
    ['software_version', false],
    ['default_max_age', -1],
    ['default_max_age', 1.5],
    ['default_max_age', '1'],
    ['require_auth_time', 'true'],
    ['default_acr_values', 'x'],
    ['request_uris', 'x'],
    ['subject_type', 'public pairwise'],
    ['id_token_signed_response_alg', 'none'],
    ['id_token_signed_response_alg', 'HS256'],
    ['userinfo_signed_response_alg', 'none'],
    ['userinfo_signed_response_alg', 'HS256'],
    ['introspection_signed_response_alg', 'none'],
    ['introspection_signed_response_alg', 7],
    ['id_token_encrypted_response_alg', 'RSA-OAEP'],
    ['request_object_signing_alg', 'none'],
    ['request_object_signing_alg', 'HS256'],
    ['sector_identifier_uri', 'http://app.example/s.json'],
    ['sector_identifier_uri', 'https://127.0.0.1/s.json'],
    ['sector_identifier_uri', ['https://app.example/s.json']],
    ['backchannel_logout_uri', 'http://app.example/out'],
    ['backchannel_logout_uri', 'https://app.example/out#part'],
    ['backchannel_logout_uri', 'https://127.0.0.1/out'],
    ['backchannel_logout_uri', 'https://other.example/out'],
    ['backchannel_logout_uri', 7],
    ['backchannel_logout_session_required', 'yes'],
    ['token_endpoint_auth_signing_alg', 'none'],
    ['jwks', { keys: 'x' }],
    ['jwks', { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'private' }] }],
    ['jwks', { keys: [{ kty: 'oct', k: 'secret' }] }],
    [
      'jwks',
      {
        keys: [
          { kty: 'EC', kid: '1' },
          { kty: 'EC', kid: '1' },
        ],
      },
    ],
    ['jwks_uri', 'http://app.example/keys'],
    ['jwks_uri', 'https://127.0.0.1/keys'],
  ])('%s: %j', (name, value) => {
    expect(refusal({ [name]: value })).toContain(`invalid_client_metadata: ${name} `);
  });

  test('switches set to false request nothing', () => {
    expect(parse({ tls_client_certificate_bound_access_tokens: false })).toEqual(parse({}));
  });

  test('jwks and jwks_uri are mutually exclusive', () => {
    expect(refusal({ jwks: { keys: [] }, jwks_uri: 'https://app.example/keys' })).toContain(
      'must not be used together',
    );
  });
});

describe('assertion methods', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] };
  const withKey = (members: object = {}) => ({
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks,
    ...members,
  });
  const withSecret = (algorithm?: string) => ({
    token_endpoint_auth_method: 'client_secret_jwt',
    token_endpoint_auth_signing_alg: algorithm,
  });

  test('are stored with their algorithm and keys', () => {
    expect(parse(withKey())).toMatchObject(withKey());
    expect(parse(withSecret('HS384'))).toMatchObject(withSecret('HS384'));
  });

  test('accept any algorithm of their type when none is registered (OpenID Registration 1.0 section 2)', () => {
    const without = { token_endpoint_auth_signing_alg: undefined };
    expect(parse(withKey(without))).not.toHaveProperty('token_endpoint_auth_signing_alg');
    expect(parse(withSecret())).not.toHaveProperty('token_endpoint_auth_signing_alg');
    const unusable = { ...without, jwks: { keys: [{ kty: 'LWE' }] } };
    expect(refusal(withKey(unusable))).toContain('jwks must contain a signing key for private_key_jwt');
  });

  test('require an algorithm of their type', () => {
    for (const algorithm of ['none', 'HS256', 'RS1']) {
      const refused = refusal(withKey({ token_endpoint_auth_signing_alg: algorithm }));
      expect(refused).toContain('invalid_client_metadata: token_endpoint_auth_signing_alg must');
    }
    for (const algorithm of ['none', 'RS256']) {
      expect(refusal(withSecret(algorithm))).toContain('token_endpoint_auth_signing_alg must');
    }
  });

  test('with a key require one suitable for the algorithm', () => {
    const needed = 'invalid_client_metadata: jwks must contain a key for';
    expect(refusal(withKey({ jwks: undefined }))).toContain('invalid_client_metadata: jwks or jwks_uri is required');
    expect(refusal(withKey({ jwks: { keys: [] } }))).toContain(`${needed} ES256`);
    expect(refusal(withKey({ jwks: { keys: [{ kty: 'LWE' }] } }))).toContain(`${needed} ES256`);
    expect(refusal(withKey({ token_endpoint_auth_signing_alg: 'RS256' }))).toContain(`${needed} RS256`);
  });

  test('that sign their requests require a key suitable for the algorithm, whatever their method', () => {
    const { jwks } = withKey({});
    const signing = { request_object_signing_alg: 'PS256', jwks };
    expect(refusal(signing)).toContain('invalid_client_metadata: jwks must contain a key for PS256');
    expect(refusal({ ...signing, jwks: undefined })).toContain('jwks or jwks_uri is required for request_object');
    expect(refusal({ require_signed_request_object: true })).toContain('is required for require_signed_request_object');
    expect(parse({ ...signing, request_object_signing_alg: 'ES256' })).toMatchObject({ jwks });
    const uri = { jwks: undefined, jwks_uri: 'https://keys.example/set.json' };
    expect(parse({ ...signing, ...uri })).toMatchObject({ request_object_signing_alg: 'PS256' });
  });

  test('with a key can publish it', () => {
    const published = withKey({ jwks: undefined, jwks_uri: 'https://keys.example/set.json' });
    expect(parse(published)).toMatchObject({ jwks_uri: 'https://keys.example/set.json' });
  });

  test('are the only ones that store an algorithm', () => {
    expect(parse({ token_endpoint_auth_signing_alg: 'RS256' })).toEqual(parse({}));
  });
});

describe('languages', () => {
  test('keeps every variant with its tag as written', () => {
    const requested = { client_name: 'App', 'client_name#de': 'Anwendung', 'client_name#zh-Hant-TW': 'x' };
    expect(parse(requested)).toMatchObject({ client_name: { '': 'App', de: 'Anwendung', 'zh-Hant-TW': 'x' } });
  });

  test.each([
    [{ 'client_name#de': 'x' }],
    [{ client_name: 'x', 'client_name#de': 'x', 'client_name#DE': 'y' }],
    [{ client_name: 'x', 'client_name#': 'x' }],
    [{ client_name: 'x', 'client_name#__proto__': 'x' }],
    [{ client_name: 'x', 'client_name#d e': 'x' }],
    [{ client_name: 'x', 'client_name#de': '\u0000' }],
    [{ client_name: 'x', ...Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`client_name#x-${i}`, 'x'])) }],
  ])('%j is rejected', (members) => {
    expect(refusal(members)).toContain('invalid_client_metadata: client_name ');
  });

  test('every variant follows the rule of its member', () => {
    const requested = { logo_uri: 'https://app.example/l', 'logo_uri#de': 'https://evil.example/l' };
    expect(refusal(requested)).toContain('invalid_client_metadata: logo_uri ');
  });
});

describe('redirect URIs (oauth 4.4)', () => {
  const native = { application_type: 'native' };
  const insecure = { allowInsecureUris: true };
  const anyHost = { allowHostMismatch: true };
  const anyScheme = { allowPrivateUseSchemes: true };

  test.each<[string, object, Partial<RegistrationRules>]>([
    ['https://app.example/cb?keep=1', {}, {}],
    ['https://below.app.example:8443/cb', {}, {}],
    ['https://app.example/cb', native, {}],
    ['http://localhost/cb', native, {}],
    ['http://127.0.0.1:7777', native, {}],
    ['http://[::1]:7777/cb?x=1', native, {}],
    ['example.app:/cb', native, {}],
    ['example.app.desktop:/cb', native, {}],
    ['example.app:///cb', native, {}],
    ['example.app.desktop://cb/path?keep=1', native, {}],
    ['http://app.example/cb', {}, insecure],
    ['https://other.example/cb', {}, anyHost],
    ['http://localhost:3000/cb', {}, { ...insecure, ...anyHost }],
  ])('%s is accepted: %j %j', (uri, members, rules) => {
    expect(parse({ ...members, redirect_uris: [uri] }, rules).redirect_uris).toEqual([uri]);
  });

  test.each<[string, object, Partial<RegistrationRules>]>([
    ['https://other.example/cb', {}, {}],
    ['https://app.example.evil.example/cb', {}, {}],
    ['https://notapp.example/cb', {}, {}],
    ['http://app.example/cb', {}, {}],
    ['http://app.example/cb', native, {}],
    ['http://localhost/cb', {}, {}],
    ['https://localhost/cb', {}, anyHost],
    ['https://127.1/cb', {}, anyHost],
    ['https://0.0.0.0/cb', {}, anyHost],
    ['https://[::1]/cb', native, anyHost],
    ['https://[::ffff:127.0.0.1]/cb', native, anyHost],
    ['http://127.0.0.2/cb', native, {}],
    ['http://localhost.evil.example/cb', native, {}],
    ['example.app:/cb', {}, {}],
    ['example.app:///cb', {}, {}],
    ['example.app://cb', { application_type: 'web' }, {}],
    ['example.app://me@cb/', native, {}],
    ['example.app:cb', native, {}],
    ['example.application:/cb', native, {}],
    ['example.application:///cb', native, {}],
    ['example.application://example.app/cb', native, {}],
    ['EXAMPLE.APP:/cb', native, {}],
    ['app:/cb', native, {}],
    ['mailto:/x', native, insecure],
    ['https://github.io/cb', {}, anyHost],
    ['https://github.io./cb', {}, anyHost],
    ['https://co.uk/cb', {}, anyHost],
    ['https://app.example/cb#f', {}, {}],
    ['https://me@app.example/cb', {}, {}],
    ['https://app.example/*', {}, {}],
    ['https://app.example/a/../b', {}, {}],
    [`https://app.example/${'x'.repeat(2048)}`, {}, {}],
    ['/cb', {}, {}],
  ])('%s is rejected: %j %j', (uri, members, rules) => {
    expect(refusal({ ...members, redirect_uris: [uri] }, rules)).toContain('invalid_redirect_uri: ');
  });

  test('on loopback make a client without a secret native, as MCP clients register', () => {
    const redirect_uris = ['http://localhost:6274/oauth/callback', 'http://127.0.0.1:33418/', 'http://[::1]/'];
    const sdk = { redirect_uris, token_endpoint_auth_method: 'none' };
    expect(parse(sdk)).toMatchObject({ application_type: 'native', redirect_uris });
    // With another kind of URI, a client secret, or an explicit type, `native` is not inferred.
    expect(refusal({ ...sdk, redirect_uris: [...redirect_uris, 'https://app.example/cb'] })).toContain(
      'redirect_uris[0] (http://localhost:6274/oauth/callback) must be an https URL: http on loopback is only for',
    );
    expect(refusal({ ...sdk, token_endpoint_auth_method: 'client_secret_post' })).toContain(
      'application_type native, unless policy.data.client_registration.preset is mcp.',
    );
    expect(refusal({ ...sdk, application_type: 'web' })).toContain('invalid_redirect_uri: ');
    expect(parse({ ...BODY, token_endpoint_auth_method: 'none' }).application_type).toBe('web');
  });

  const PRIVATE = [
    ...['cursor://anysphere.cursor-mcp/oauth/callback', 'vscode://host', 'app:///cb', 'app:/cb', 'app://h/cb?a=1'],
  ];
  test('with a private-use scheme, with or without host, are accepted where the operator allows such schemes', () => {
    for (const uri of PRIVATE) {
      expect(refusal({ ...native, redirect_uris: ['https://app.example/cb', uri] })).toContain(
        `redirect_uris[1] (${uri}) must use https, http on loopback, or a private-use scheme such as ` +
          'com.example.app:/callback, unless policy.data.client_registration.allow_private_use_schemes is on.',
      );
      expect(parse({ ...native, redirect_uris: [uri] }, anyScheme).redirect_uris).toEqual([uri]);
      const sdk = { token_endpoint_auth_method: 'none', redirect_uris: [uri, 'http://localhost/cb'] };
      expect(parse(sdk, anyScheme).application_type).toBe('native');
      expect(refusal({ application_type: 'web', redirect_uris: [uri] }, anyScheme)).toContain(
        'application_type native',
      );
    }
  });

  test.each([
    ...[
      'mailto:/x',
      'tel://1',
      'ms-msdt:/id',
      'search-ms://x',
      'intent://x',
      'ftp://app.example/',
      'app:cb',
      'APP:/cb',
    ],
    ...['javascript:/x', 'data:/x', 'file:///x', 'app://me@host/cb', 'app://host/../cb', 'app://host/cb#x', 'app:/*'],
  ])('%s is rejected even then', (uri) => {
    const refused = refusal({ ...native, redirect_uris: [uri] }, { ...anyScheme, preset: 'mcp' });
    expect(refused).toContain('invalid_redirect_uri: ');
    expect(refused).not.toContain('unless');
  });

  test('are required for codes, at most twenty, and duplicates count once', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `https://app.example/${index}`);
    expect(refusal({ redirect_uris: [] })).toContain('invalid_redirect_uri: ');
    expect(refusal({ redirect_uris: null })).toContain('invalid_redirect_uri: ');
    expect(refusal({ redirect_uris: many(21) })).toContain('invalid_redirect_uri: ');
    expect(parse({ redirect_uris: [...many(20), ...many(20)] }).redirect_uris).toEqual(many(20));
  });

  test('for logout follow the same rules', () => {
    expect(refusal({ post_logout_redirect_uris: ['https://other.example/'] })).toContain(
      'invalid_client_metadata: post_logout_redirect_uris[0] (https://other.example/) must have the same host as',
    );
  });
});

test('the preset mcp accepts registrations of MCP clients and editors, and no other schemes', () => {
  const mcp = { preset: 'mcp' } as const;
  const bodies = [
    { redirect_uris: ['http://localhost:8090/callback'], token_endpoint_auth_method: 'client_secret_post' },
    { redirect_uris: ['http://localhost:3030/callback'], grant_types: ['authorization_code', 'refresh_token'] },
    {
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://www.cursor.com/agents/oauth/callback'],
      token_endpoint_auth_method: 'none',
    },
    {
      client_uri: 'https://code.visualstudio.com',
      redirect_uris: ['https://insiders.vscode.dev/redirect', 'https://vscode.dev/redirect', 'http://127.0.0.1:33418/'],
      token_endpoint_auth_method: 'none',
    },
  ];
  for (const body of bodies) {
    expect(parseRegistration(body, { ...RULES, ...mcp })).toMatchObject({
      redirect_uris: body.redirect_uris,
      application_type: 'native',
    });
  }
  const web = { redirect_uris: ['https://claude.ai/api/mcp/auth_callback'] };
  expect(parseRegistration(web, { ...RULES, ...mcp }).application_type).toBe('web');
  expect(refusal({ application_type: 'native', redirect_uris: ['evil://cursor/cb'] }, mcp)).toContain(
    'policy.data.client_registration.allow_private_use_schemes',
  );
  expect(refusal({ redirect_uris: ['http://app.example/cb'] }, mcp)).toContain('allow_insecure_uris');
});

describe('client pages', () => {
  test('client_uri is required unless the operator configures otherwise', () => {
    expect(refusal({ client_uri: null })).toBe(
      'invalid_client_metadata: client_uri is required, unless policy.data.client_registration.allow_missing_client_uri is on',
    );
    const native = { client_uri: null, application_type: 'native', redirect_uris: ['http://localhost/'] };
    expect(parse(native, { allowMissingClientUri: true }).redirect_uris).toEqual(['http://localhost/']);
    // There is no `client_uri` to compare the host with.
    expect(refusal({ client_uri: null }, { allowMissingClientUri: true })).toContain('invalid_redirect_uri: ');
  });

  test.each([
    'https://intranet/',
    'https://x.unknown-suffix/',
    'https://app.example./',
    'https://xn--bcher-kva.example/',
  ])('%s is accepted', (client_uri) => {
    expect(parse({ client_uri }, { allowHostMismatch: true }).client_uri).toEqual({ '': client_uri });
  });

  test('http and IP addresses are accepted only where the operator allows them', () => {
    const client_uri = 'http://192.0.2.7:3000/';
    const members = { client_uri, redirect_uris: ['http://192.0.2.7:3000/cb'] };
    expect(refusal(members)).toContain('client_uri');
    expect(parse(members, { allowInsecureUris: true }).client_uri).toEqual({ '': client_uri });
  });
});
