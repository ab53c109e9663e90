import { describe, expect, test } from 'vitest';
import { load, problemsOf } from '#config/fixture.test-support.ts';

const A = '01HZX7T3Q8V3M5N6P7R8S9T0AA';
const B = '01HZX7T3Q8V3M5N6P7R8S9T0BB';

describe('LATCHKEY__ variables', () => {
  test('names are compared case-insensitively', () => {
    expect(load({ environment: { LATCHKEY__oauth__Id_Token_TTL: '100' } }).config.oauth.idTokenTtlSeconds).toBe(100);
  });

  test('lists and mappings are written in JSON', () => {
    const environment = {
      LATCHKEY__HTTP__TRUSTED_PROXIES: '["192.0.2.1"]',
      LATCHKEY__RATE_LIMITING__LOGIN__PER_IP: '{"burst": 7}',
    };
    const { config } = load({ environment });
    expect(config.http.trustedProxies).toHaveLength(1);
    expect(config.rateLimiting.login.perIp).toEqual({ burst: 7, perSecond: 3 / 60 });
  });

  test('an index addresses an existing element or appends the next one', () => {
    const files = { 'latchkey.yaml': `clients: [{client_id: ${A}, client_auth_method: none}]\n` };
    const { config } = load({
      files,
      environment: {
        LATCHKEY__CLIENTS__0__CLIENT_NAME: 'First',
        LATCHKEY__CLIENTS__1__CLIENT_ID: B,
        LATCHKEY__CLIENTS__1__CLIENT_AUTH_METHOD: 'none',
        LATCHKEY__CLIENTS__1__REDIRECT_URIS: '["https://b.example/"]',
      },
    });
    expect(config.clients.map(({ clientId, clientName }) => [clientId, clientName])).toEqual([
      [A, 'First'],
      [B, undefined],
    ]);
    expect(problemsOf({ files, environment: { LATCHKEY__CLIENTS__2__CLIENT_ID: B } })).toEqual([
      'clients: expected a list index from 0 to 1, got "2" (LATCHKEY__CLIENTS__2__CLIENT_ID)',
    ]);
  });

  test('a whole list in JSON applies before its elements', () => {
    const environment = {
      LATCHKEY__POLICY__DATA__ADMIN_USERS__10: 'k',
      LATCHKEY__POLICY__DATA__ADMIN_USERS__9: 'j',
      LATCHKEY__POLICY__DATA__ADMIN_USERS: JSON.stringify([...'abcdefghi']),
    };
    expect(load({ environment }).config.policy.data.adminUsers.join('')).toBe('abcdefghijk');
  });

  test('an empty value resets a key to its default', () => {
    const files = { 'latchkey.yaml': 'oauth: {id_token_ttl: 100}\nhttp: {trusted_proxies: []}\n' };
    const environment = { LATCHKEY__OAUTH__ID_TOKEN_TTL: '', LATCHKEY__HTTP__TRUSTED_PROXIES: '' };
    const { config } = load({ files, environment });
    expect(config.oauth.idTokenTtlSeconds).toBe(3600);
    expect(config.http.trustedProxies).toHaveLength(2);
    expect(problemsOf({ environment: { LATCHKEY__CLIENTS__0: '' } })).toEqual([
      'clients[0]: a list element cannot be unset (LATCHKEY__CLIENTS__0)',
    ]);
  });

  test('strings stay strings, whatever they look like', () => {
    const environment = { LATCHKEY__BRANDING__IMPRINT: '123', LATCHKEY__BRANDING__SERVICE_NAME: 'true' };
    expect(load({ environment }).config.branding).toMatchObject({ imprint: '123', serviceName: 'true' });
  });

  test('unknown names are errors, even with an empty value', () => {
    expect(problemsOf({ environment: { LATCHKEY__HTTP__HSTZ: '', LATCHKEY__CLIENTS__0__X: '1' } })).toEqual([
      'clients[0].x: unknown key (LATCHKEY__CLIENTS__0__X)',
      'http.hstz: unknown key; did you mean "http.hsts"? (LATCHKEY__HTTP__HSTZ)',
    ]);
  });

  test('invalid JSON is an error that does not contain the text', () => {
    expect(problemsOf({ environment: { LATCHKEY__SECRETS__KEYS: 'hunter2', LATCHKEY__HTTP: '{' } })).toEqual([
      'http: expected a mapping in JSON (LATCHKEY__HTTP)',
      'secrets.keys: expected a list in JSON (LATCHKEY__SECRETS__KEYS)',
    ]);
  });
});

describe('PG variables', () => {
  const environment = {
    PGHOST: 'pg.example',
    PGPORT: '5433',
    PGUSER: 'role',
    PGPASSWORD: 'hush',
    PGDATABASE: 'name',
    PGSSLMODE: 'require',
  };

  test('fill in missing parts of a PostgreSQL connection', () => {
    const bare = load({ environment: { ...environment, LATCHKEY__DATABASE__URI: 'postgres://' } }).config.database
      .server;
    expect(bare).toMatchObject({
      servers: [{ host: 'pg.example', port: 5433 }],
      ...{ user: 'role', database: 'name', sslMode: 'require' },
    });
    expect(bare.kind === 'postgres' && bare.password?.reveal()).toBe('hush');
    const uri = 'postgres://me:mine@db.example:1/own?sslmode=disable';
    const full = load({ environment: { ...environment, LATCHKEY__DATABASE__URI: uri } }).config.database.server;
    expect(full).toMatchObject({
      servers: [{ host: 'db.example', port: 1 }],
      ...{ user: 'me', database: 'own', sslMode: 'disable' },
    });
    expect(full.kind === 'postgres' && full.password?.reveal()).toBe('mine');
  });

  test('do not select PostgreSQL by themselves', () => {
    expect(load({ environment }).config.database.server.kind).toBe('embedded');
  });
});

test('PORT and PGPORT must be valid ports', () => {
  expect(problemsOf({ environment: { PORT: '80a', PGPORT: '0' } })).toEqual([
    'expected an integer from 1 to 65535, got "0" (PGPORT)',
    'expected an integer from 0 to 65535, got "80a" (PORT)',
  ]);
});
