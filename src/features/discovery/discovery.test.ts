import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '#test/support/service.ts';

interface Read {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function read(service: TestService, path: string, headers: Record<string, string> = {}): Promise<Read> {
  const response = await fetch(service.address + path, { headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

describe('discovery', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ oauth: { service_documentation: 'https://docs.example/' } });
  });
  afterAll(async () => await service.stop());

  test('returns the same content in both documents, without a query, cacheable for ten minutes', async () => {
    const openid = await read(service, '/.well-known/openid-configuration');
    const oauth = await read(service, '/.well-known/oauth-authorization-server');
    expect(oauth.body).toEqual(openid.body);
    expect(openid.headers.get('cache-control')).toBe('public, max-age=600');
    expect(openid.headers.get('access-control-allow-origin')).toBe('*');
    for (const line of service.requestLines()) expect(line.queries).toBe(0);
  });

  test('lists only URLs that the service answers, and the configured issuer', async () => {
    const { body } = await read(service, '/.well-known/openid-configuration');
    expect(body['issuer']).toBe(service.issuer);
    expect(body['service_documentation']).toBe('https://docs.example/');
    const addresses = Object.entries(body).filter(([name]) => name.endsWith('_endpoint') || name === 'jwks_uri');
    expect(addresses.length).toBeGreaterThan(5);
    for (const [name, address] of addresses) {
      const { status } = await fetch(String(address), { redirect: 'manual' });
      expect(status, name).not.toBe(404);
    }
  });

  test('lists the supported acr values, and claims parameter support', async () => {
    const { body } = await read(service, '/.well-known/openid-configuration');
    expect(body).toMatchObject({
      acr_values_supported: ['urn:latchkey:acr:1', 'urn:latchkey:acr:2'],
      claims_parameter_supported: true,
    });
  });

  test('answers a known ETag with 304 and no body', async () => {
    const webfinger = '/.well-known/webfinger?resource=acct:amira@example.org';
    for (const path of ['/.well-known/openid-configuration', '/oauth2/keys.json', webfinger]) {
      const etag = (await read(service, path)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect((await read(service, path, { 'if-none-match': `"other", ${etag}` })).status).toBe(304);
      expect((await read(service, path, { 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  test('publishes only public key members, RSA first, each with its algorithm (S-37, RFC 7517 4.4)', async () => {
    const { body } = await read(service, '/oauth2/keys.json');
    const keys = body['keys'];
    if (!Array.isArray(keys)) throw new Error('no keys');
    expect(keys.map((key) => `${key.kty} ${key.alg}`)).toEqual(['RSA RS256', 'EC ES256', 'OKP EdDSA']);
    const { body: metadata } = await read(service, '/.well-known/openid-configuration');
    expect(metadata['id_token_signing_alg_values_supported']).toEqual(['RS256', 'ES256', 'EdDSA']);
    for (const key of keys) {
      expect(Object.keys(key).filter((name) => /^(d|p|q|dp|dq|qi|k|oth)$/.test(name))).toEqual([]);
      expect(key).toMatchObject({ use: 'sig', kid: expect.any(String) });
    }
  });

  test.each([
    ['?resource=acct:amira@example.org', 200, 1],
    ['?resource=acct:nobody@example.org&rel=http://openid.net/specs/connect/1.0/issuer', 200, 1],
    ['?resource=x&rel=other&rel=http://openid.net/specs/connect/1.0/issuer', 200, 1],
    ['?resource=x&rel=other', 200, 0],
    ['', 400, undefined],
    ['?resource=', 400, undefined],
  ])('webfinger%s returns %i without a lookup (S-86)', async (query, status, links) => {
    const response = await read(service, `/.well-known/webfinger${query}`);
    expect(response.status).toBe(status);
    expect(Array.isArray(response.body['links']) ? response.body['links'].length : undefined).toBe(links);
    if (status === 400) expect(response.body['error']).toBe('invalid_request');
    expect(service.requestLines().at(-1)?.queries).toBe(0);
  });

  test('webfinger rejects a resource of more than 2,048 characters', async () => {
    expect((await read(service, `/.well-known/webfinger?resource=${'x'.repeat(2048)}`)).status).toBe(200);
    expect((await read(service, `/.well-known/webfinger?resource=${'x'.repeat(2049)}`)).status).toBe(400);
  });
});

describe.each(['https://auth.example.test', 'https://auth.example.test/'])('discovery of the issuer %s', (typed) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      http: { public_base: typed, listeners: [{ resources: ['discovery'], binds: [{ address: '127.0.0.1:0' }] }] },
    });
  });
  afterAll(async () => await service.stop());

  test.each([
    '/.well-known/openid-configuration',
    '//.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '//.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/',
  ])('is found at %s, with or without a trailing slash, and returns the issuer as configured', async (path) => {
    expect((await read(service, path)).body['issuer']).toBe(typed);
  });

  test('webfinger returns the issuer as configured', async () => {
    const { body } = await read(service, '/.well-known/webfinger?resource=acct:amira@example.test');
    expect(body['links']).toEqual([expect.objectContaining({ href: typed })]);
  });
});

describe.each([
  ['https://example.org/auth', 'https://example.org/auth'],
  ['https://example.org/auth/', 'https://example.org/auth/'],
])('discovery of a public base with a path, configured as %s', (typed, issuer) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      http: {
        public_base: typed,
        listeners: [{ resources: ['discovery'], prefix: '/auth', binds: [{ address: '127.0.0.1:0' }] }],
      },
    });
  });
  afterAll(async () => await service.stop());

  test.each([
    '/auth/.well-known/openid-configuration',
    '/auth//.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/auth',
    '/.well-known/oauth-authorization-server/auth/',
  ])('is found at %s (RFC 8414 3.1)', async (path) => {
    expect((await read(service, path)).body['issuer']).toBe(issuer);
  });

  test('nothing else is served at the origin', async () => {
    expect((await fetch(`${service.address}/.well-known/openid-configuration`)).status).toBe(404);
  });
});

describe('discovery of an issuer at the origin, with a public base below a path', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      http: {
        public_base: 'https://example.org/auth',
        issuer: 'https://example.org',
        listeners: [{ resources: ['discovery'], prefix: '/auth', binds: [{ address: '127.0.0.1:0' }] }],
      },
    });
  });
  afterAll(async () => await service.stop());

  test.each([
    '/.well-known/openid-configuration',
    '//.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/auth/.well-known/openid-configuration',
    '/auth/.well-known/oauth-authorization-server',
  ])('is found at %s', async (path) => {
    const { body } = await read(service, path);
    expect(body['issuer']).toBe('https://example.org');
    expect(body['token_endpoint']).toBe('https://example.org/auth/oauth2/token');
  });
});

describe('discovery of an issuer with a path', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      http: {
        public_base: 'https://example.org/auth/',
        issuer: 'https://example.org/tenant',
        listeners: [{ resources: ['discovery'], prefix: '/auth', binds: [{ address: '127.0.0.1:0' }] }],
      },
    });
  });
  afterAll(async () => await service.stop());

  test.each([
    '/auth/.well-known/openid-configuration',
    '/tenant/.well-known/openid-configuration',
    '/tenant//.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/tenant',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
  ])('is found at %s (RFC 8414 3.1)', async (path) => {
    expect((await read(service, path)).body['issuer']).toBe('https://example.org/tenant');
  });
});

const ASSERTIONS = ['HS256', 'HS384', 'HS512'];
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA', 'Ed25519'],
];
const AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'];

/** The document of a service with the default configuration (oauth 2.1, without what is not mounted). */
const ACCOUNT_ACTIONS = [
  ...['profile', 'devices_list', 'device_view', 'device_delete', 'account_deactivate'],
  ...['sessions_list', 'session_view', 'session_end'],
];

function wholeDocument(service: TestService, protocolName: string): Readonly<Record<string, unknown>> {
  const at = (path: string) => service.publicBase + path;
  const signing = expect.arrayContaining(['RS256']);
  return {
    issuer: service.issuer,
    authorization_endpoint: at('authorize'),
    token_endpoint: at('oauth2/token'),
    jwks_uri: at('oauth2/keys.json'),
    registration_endpoint: at('oauth2/registration'),
    userinfo_endpoint: at('oauth2/userinfo'),
    introspection_endpoint: at('oauth2/introspect'),
    revocation_endpoint: at('oauth2/revoke'),
    device_authorization_endpoint: at('oauth2/device'),
    pushed_authorization_request_endpoint: at('oauth2/par'),
    end_session_endpoint: at('oauth2/logout'),
    scopes_supported: [
      ...['openid', 'email', 'profile', 'groups', 'offline_access'],
      ...[`urn:${protocolName}:client:api:*`, `urn:${protocolName}:org.${protocolName}.msc2967.client:api:*`],
    ],
    response_types_supported: ['code'],
    response_modes_supported: [
      ...['query', 'fragment', 'form_post'],
      ...['query.jwt', 'fragment.jwt', 'form_post.jwt', 'jwt'],
    ],
    grant_types_supported: [
      ...['authorization_code', 'refresh_token', 'client_credentials'],
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    token_endpoint_auth_methods_supported: AUTHENTICATION,
    token_endpoint_auth_signing_alg_values_supported: [...ASSERTIONS, ...ASYMMETRIC],
    revocation_endpoint_auth_methods_supported: AUTHENTICATION,
    revocation_endpoint_auth_signing_alg_values_supported: [...ASSERTIONS, ...ASYMMETRIC],
    introspection_endpoint_auth_methods_supported: AUTHENTICATION.filter((method) => method !== 'none'),
    introspection_endpoint_auth_signing_alg_values_supported: [...ASSERTIONS, ...ASYMMETRIC],
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public', 'pairwise'],
    id_token_signing_alg_values_supported: signing,
    userinfo_signing_alg_values_supported: signing,
    authorization_signing_alg_values_supported: signing,
    introspection_signing_alg_values_supported: signing,
    display_values_supported: ['page'],
    claim_types_supported: ['normal'],
    claims_supported: [
      ...['iss', 'sub', 'aud', 'iat', 'exp', 'nonce', 'auth_time', 'at_hash', 'c_hash', 'sid', 'acr', 'amr'],
      ...['username', 'preferred_username', 'name', 'given_name', 'family_name', 'email', 'email_verified'],
      ...['zoneinfo', 'locale', 'updated_at', 'groups'],
    ],
    claims_parameter_supported: true,
    acr_values_supported: ['urn:latchkey:acr:1', 'urn:latchkey:acr:2'],
    request_parameter_supported: true,
    request_object_signing_alg_values_supported: ASYMMETRIC,
    request_uri_parameter_supported: false,
    require_request_uri_registration: false,
    require_pushed_authorization_requests: false,
    dpop_signing_alg_values_supported: ASYMMETRIC,
    tls_client_certificate_bound_access_tokens: false,
    frontchannel_logout_supported: false,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    ui_locales_supported: expect.arrayContaining(['en', 'de']),
    authorization_response_iss_parameter_supported: true,
    account_management_uri: at('account/'),
    account_management_actions_supported: ACCOUNT_ACTIONS.map((name) => `org.${protocolName}.${name}`),
    [protocolName === 'matrix' ? 'org.matrix.matrix-authentication-service.graphql_endpoint' : 'graphql_endpoint']:
      at('graphql'),
  };
}

test('lists the cross-signing reset action with a homeserver', async () => {
  const service = await startService({ homeserver: { kind: 'synapse', secret: 'a secret of sixteen' } });
  try {
    const { body } = await read(service, '/.well-known/openid-configuration');
    expect(body['account_management_actions_supported']).toEqual(
      [...ACCOUNT_ACTIONS.slice(0, 4), 'cross_signing_reset', ...ACCOUNT_ACTIONS.slice(4)].map(
        (name) => `org.chat.${name}`,
      ),
    );
  } finally {
    await service.stop();
  }
});

test('omits account deactivation where users cannot deactivate their account', async () => {
  const service = await startService({ account: { account_deactivation_allowed: false } });
  try {
    const { body } = await read(service, '/.well-known/openid-configuration');
    expect(body['account_management_actions_supported']).toEqual(
      ACCOUNT_ACTIONS.filter((name) => name !== 'account_deactivate').map((name) => `org.chat.${name}`),
    );
  } finally {
    await service.stop();
  }
});

test('lists the plan management action where users have one', async () => {
  const service = await startService({
    experimental: { plan_management_iframe_uri: 'https://plans.example/manage?of=us' },
  });
  try {
    const { body } = await read(service, '/.well-known/openid-configuration');
    expect(body['account_management_actions_supported']).toContain('org.chat.plan_management');
  } finally {
    await service.stop();
  }
});

describe('the account API URL', () => {
  const members = async (settings: Readonly<Record<string, unknown>>) => {
    const service = await startService(settings);
    try {
      const { body } = await read(service, '/.well-known/openid-configuration');
      return Object.keys(body).filter((name) => name.includes('graphql'));
    } finally {
      await service.stop();
    }
  };
  const without = (resource: string) => ({
    http: {
      listeners: [
        {
          name: 'web',
          resources: ['discovery', 'human', 'oauth', 'graphql', 'assets']
            .filter((name) => name !== resource)
            .map((name) => ({ name })),
          binds: [{ host: '127.0.0.1', port: 0 }],
        },
      ],
    },
  });

  test('uses the name known to chat clients with a homeserver', async () => {
    const homeserver = { kind: 'synapse', secret: 'a secret of sixteen' };
    expect(await members({ homeserver })).toEqual(['org.chat.chat-authentication-service.graphql_endpoint']);
  });

  test('is omitted where no listener serves it, and where the operator disables it', async () => {
    expect(await members(without('nothing'))).toEqual(['graphql_endpoint']);
    expect(await members(without('graphql'))).toEqual([]);
    expect(await members({ graphql: { discovery: false } })).toEqual([]);
    expect(await members({ protocol_name: 'matrix', graphql: { discovery: false } })).toEqual([]);
  });
});

describe('the complete document', () => {
  test.each([
    ['chat', {}],
    ['matrix', { protocol_name: 'matrix' }],
  ])('with default settings and the protocol %s', async (protocolName, settings) => {
    const service = await startService(settings);
    try {
      const { body } = await read(service, '/.well-known/openid-configuration');
      expect(body).toEqual(wholeDocument(service, protocolName));
    } finally {
      await service.stop();
    }
  });
});
