import { createServer } from 'node:http';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '#config/config.ts';
import { Secret } from '#platform/base/secret.ts';
import { freePort } from '#test/support/free-port.js';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { type Ask, askOverHttp } from './ask.ts';
import type { Finding } from './finding.ts';
import { checkHomeserver } from './homeserver-checks.ts';

const SECRET = 'shared-secret-of-the-test';
const WELL_KNOWN = 'https://example.org/.well-known/matrix/client';
const CLIENT_API = 'https://matrix.example.org';
const SSO = { type: 'm.login.sso', oauth_aware_preferred: true };

const homeserver = await sharedByTests(startStandInHomeserver(SECRET));
const service = await sharedByTests(
  startService({
    protocol_name: 'matrix',
    homeserver: { homeserver: 'example.org', endpoint: homeserver.endpoint, secret: SECRET },
  }),
);

beforeAll(async () => {
  homeserver.state.protocolName = 'matrix';
  homeserver.state.service = service.publicBase;
});

afterEach(async () => {
  homeserver.state.secret = SECRET;
  await homeserver.setFault(undefined);
});

/** JSON to send with 200, a status, or no response. */
type Scripted = object | number | 'no answer';

/** Responses for servers that a test cannot run, and overrides of the simulated homeserver. */
function responding(scripts: Readonly<Record<string, Scripted>>): Ask {
  const ask = askOverHttp('1.2.3');
  return async (url, bearer) => {
    const scripted = scripts[url.href] ?? scripts[url.pathname.replace(/.*\//, '')];
    // The proxy routes sign-in to the service.
    const address = url.href.replace(CLIENT_API, service.address);
    if (scripted === undefined) return await ask(new URL(address), bearer);
    if (scripted === 'no answer') return { ok: false, reason: 'no connection (ENOTFOUND)' };
    const response = { ok: true, sentAt: undefined } as const;
    if (typeof scripted === 'number') return { ...response, status: scripted, members: undefined };
    return { ...response, status: 200, members: new Map(Object.entries(scripted)) };
  };
}

const GOOD = { [WELL_KNOWN]: { 'm.homeserver': { base_url: CLIENT_API } } };

async function check(
  scripts: Readonly<Record<string, Scripted>> = {},
  changes: Partial<Config['homeserver']> = {},
  compat: Partial<Config['compat']> = {},
): Promise<readonly Finding[]> {
  const { config } = service.core;
  const changed = {
    ...config,
    homeserver: { ...config.homeserver, ...changes },
    compat: { ...config.compat, ...compat },
  };
  const findings = await checkHomeserver({ config: changed, ask: responding({ ...GOOD, ...scripts }) });
  expect(JSON.stringify(findings), 'the secret is never printed').not.toContain(SECRET);
  for (const { hint, status } of findings) expect(hint === null).toBe(status === 'ok' || status === 'skip');
  return findings;
}

const statuses = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ name, status }) => [name, status]));

const ALL_OK = {
  'homeserver.wellknown': 'ok',
  'homeserver.versions': 'ok',
  'homeserver.whoami': 'ok',
  'homeserver.secret': 'ok',
  'compat.login': 'ok',
};

test('passes where homeserver, service and proxy fit together, and changes nothing there', async () => {
  expect(statuses(await check())).toEqual(ALL_OK);
  expect(homeserver.state.users.size).toBe(0);
});

test('skips all checks without a homeserver', async () => {
  expect(statuses(await check({}, { kind: 'none' }))).toEqual({ homeserver: 'skip' });
});

describe('reports each cause with what to do', () => {
  test.each([
    ['no answer', 'no connection (ENOTFOUND)'],
    [404, 'responds 404'],
    [{ 'm.homeserver': {} }, 'has no m.homeserver.base_url'],
    [{ 'm.homeserver': { base_url: 'javascript:alert(1)' } }, 'has no m.homeserver.base_url'],
  ] satisfies [Scripted, string][])('a client discovery document with %j is a warning', async (scripted, message) => {
    // Clients then use the server name.
    const login = 'https://example.org/_matrix/client/v3/login';
    const findings = await check({ [WELL_KNOWN]: scripted, [login]: { flows: [SSO] } });
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'homeserver.wellknown': 'warn' });
    expect(findings[0]?.message).toContain(message);
    expect(findings[0]?.hint).toContain('"base_url"');
    expect(findings.at(-1)?.message).toContain(login);
  });

  test('a client discovery document with another issuer', async () => {
    const other = { ...GOOD[WELL_KNOWN], 'org.matrix.msc2965.authentication': { issuer: 'https://old.example.org' } };
    const findings = await check({ [WELL_KNOWN]: other });
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'homeserver.wellknown': 'warn' });
    expect(findings[0]?.hint).toContain(service.issuer);
  });

  test.each(['refuse', 'close'] as const)('a homeserver that does not respond (%s)', async (kind) => {
    await homeserver.setFault({ kind });
    const findings = await check();
    expect(statuses(findings)).toEqual({
      ...ALL_OK,
      'homeserver.versions': 'fail',
      'homeserver.whoami': 'skip',
      'homeserver.secret': 'skip',
    });
    expect(findings[1]?.hint).toContain('homeserver.endpoint');
  });

  test.each([404, 502, { hello: 'world' }])('another service at its URL (%j)', async (scripted) => {
    expect(statuses(await check({ versions: scripted }))).toMatchObject({
      'homeserver.versions': 'fail',
      'homeserver.secret': 'skip',
    });
  });

  test('a service that the homeserver cannot reach', async () => {
    const here = homeserver.state.service;
    homeserver.state.service = `http://127.0.0.1:${await freePort()}/`;
    const findings = await check();
    homeserver.state.service = here;
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'homeserver.whoami': 'fail' });
    expect(findings[2]?.hint).toContain('matrix_authentication_service.endpoint');
  });

  test.each([
    [{ user_id: '@a:example.org' }, 'accepts an invalid token'],
    [500, '500'],
  ] satisfies [Scripted, string][])('an invalid token that is not rejected (%j)', async (scripted, message) => {
    const findings = await check({ whoami: scripted });
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'homeserver.whoami': 'fail' });
    expect(findings[2]?.message).toContain(message);
  });

  test('an invalid token that causes a redirect', async () => {
    const elsewhere = createServer((_request, response) => response.writeHead(302, { location: '/login' }).end());
    const port = await freePort();
    await new Promise<void>((resolve) => elsewhere.listen(port, '127.0.0.1', resolve));
    try {
      const endpoint = `http://127.0.0.1:${port}/`;
      const findings = await check({ versions: { versions: [] } }, { endpoint });
      expect(statuses(findings)).toMatchObject({ 'homeserver.whoami': 'fail', 'homeserver.secret': 'fail' });
      expect(findings[2]?.message).toContain('a redirect');
    } finally {
      elsewhere.close();
    }
  });

  test('different secrets: the homeserver rejects ours, and its own is rejected here', async () => {
    homeserver.state.secret = 'another-secret-of-the-test';
    const findings = await check();
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'homeserver.whoami': 'fail', 'homeserver.secret': 'fail' });
    expect(findings[3]?.message).toContain('rejects the shared secret (403)');
  });

  test('a disabled integration', async () => {
    const findings = await check({ is_localpart_available: 404 });
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'homeserver.secret': 'fail' });
    expect(findings[3]?.hint).toContain('matrix_authentication_service.enabled');
  });

  test.each([
    [{ flows: [{ type: 'm.login.password' }] }, 'is not served by this service (200)'],
    [{ flows: [{ type: 'm.login.sso' }] }, 'is not served by this service (200)'],
    [404, 'is not served by this service (404)'],
    ['no answer', 'no connection'],
  ] satisfies [Scripted, string][])('sign-in that is not routed here (%j) is a warning', async (scripted, message) => {
    const findings = await check({ [`${CLIENT_API}/_matrix/client/v3/login`]: scripted });
    expect(statuses(findings)).toEqual({ ...ALL_OK, 'compat.login': 'warn' });
    expect(findings[4]?.message).toContain(message);
    expect(findings[4]?.hint).toContain('(login|logout|refresh)');
  });

  test('disabled sign-in for legacy clients', async () => {
    expect(statuses(await check({}, {}, { enabled: false }))).toEqual({ ...ALL_OK, 'compat.login': 'skip' });
  });
});

describe('URLs', () => {
  test('clients request the document from the host of a server name, without its port', async () => {
    const findings = await check({}, { homeserver: 'example.org:8448' });
    expect(statuses(findings)).toEqual(ALL_OK);
    const without = await check({ [WELL_KNOWN]: 404 }, { homeserver: 'example.org:8448' });
    expect(without.at(-1)?.message).toContain('https://example.org:8448/_matrix/client/v3/login');
  });

  test('paths in the endpoint and in the client URL are kept', async () => {
    const base = { 'm.homeserver': { base_url: 'https://example.org/chat/' } };
    const login = 'https://example.org/chat/_matrix/client/v3/login';
    const findings = await check(
      { [WELL_KNOWN]: base, [login]: { flows: [SSO] } },
      { endpoint: `${homeserver.endpoint}inside/` },
    );
    expect(findings[1]?.message).toContain('/inside/_matrix/client/versions');
    expect(findings[4]).toMatchObject({ status: 'ok', message: `${login} is served by this service` });
  });
});

test('a homeserver of kind synapse_legacy is queried by its own API', async () => {
  expect(statuses(await check({}, { kind: 'synapse_legacy' }))).toEqual(ALL_OK);
  const findings = await check({}, { kind: 'synapse_legacy', secret: new Secret('another-secret-of-the-test') });
  expect(findings[3]).toMatchObject({ status: 'fail', hint: expect.stringContaining('admin_token') });
});
