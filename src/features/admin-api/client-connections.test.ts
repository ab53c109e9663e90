/** What to enter in the application of a client, and its test (administration 2). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientFinding } from '#domain/clients/test-client.ts';
import type { AdminClient, AdminResponse } from '#test/support/admin-client.ts';
import { loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  SECOND_CLIENT,
  startAdministeredService,
} from './administered-service.test-support.ts';

const CALLBACK = 'https://app.example/callback';
const KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', use: 'sig', alg: 'EdDSA' };
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

let administered: AdministeredService;
let admin: AdminClient;
/** On loopback without encryption: the guard must never connect to it. */
let internal: Server;
let internalConnections = 0;

const peer = await sharedByTests(
  startHttpsPeer((request, response) => {
    const json = (value: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    switch (request.url) {
      case '/keys':
        return json({ keys: [KEY] });
      case '/sector':
        return json([CALLBACK]);
      case '/logo':
        return response.setHeader('content-type', 'image/png').end(PNG);
      case '/logout':
        return response.writeHead(400).end();
      case '/moved':
        return response.writeHead(302, { location: '/keys' }).end();
      case '/large':
        return response.end('x'.repeat(300_000));
      case '/text':
        return response.end('text');
      default:
        return response.writeHead(404).end();
    }
  }),
);

beforeAll(async () => {
  internal = createServer((_, response) => response.end('secret'));
  internal.on('connection', () => {
    internalConnections += 1;
  });
  await new Promise<void>((resolve) => internal.listen(0, '127.0.0.1', resolve));
  const outbound = loopbackOutbound([peer], {
    allowedNetworks: [{ address: '127.0.0.1', prefixLength: 32, family: 'ipv4' }],
    resolve: async (host) => {
      if (host.startsWith('missing.')) throw new Error('no such name');
      return [host.startsWith('private.') ? '10.0.0.1' : '127.0.0.1'];
    },
  });
  administered = await startAdministeredService(
    { account: { client_logos: 'proxy' } },
    [CLIENT, SECOND_CLIENT],
    [],
    outbound,
  );
  admin = await administered.adminOf(CLIENT);
});
afterAll(async () => {
  await administered.stop();
  internal.closeAllConnections();
  await new Promise((resolve) => internal.close(resolve));
});

async function create(members: object): Promise<string> {
  const { status, body } = await admin.post('oauth2-clients', members);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data?.id ?? '';
}

/** Each administrator may run ten tests a minute. */
async function tested(id: string): Promise<AdminResponse> {
  administered.clock.advanceSeconds(6);
  return await admin.post(`oauth2-clients/${id}/test`);
}

/** Returns the code found for each member and URL. */
async function findings(members: object): Promise<Readonly<Record<string, string>>> {
  const { status, body } = await tested(await create({ client_auth_method: 'client_secret_basic', ...members }));
  expect(status).toBe(200);
  const found = body.data?.attributes['findings'] as readonly ClientFinding[];
  for (const { status: severity, remedy } of found) expect(remedy === '').toBe(severity === 'ok');
  return Object.fromEntries(found.map(({ code, member, url }) => [url?.replace(peer.origin, '') ?? member, code]));
}

describe('a test of a client', () => {
  test('finds nothing wrong with URLs that work', async () => {
    const at = (path: string) => peer.origin + path;
    const found = await findings({
      ...{ client_auth_method: 'private_key_jwt', jwks_uri: at('/keys'), token_endpoint_auth_signing_alg: 'EdDSA' },
      ...{ redirect_uris: [CALLBACK], sector_identifier_uri: at('/sector'), subject_type: 'pairwise' },
      ...{ logo_uri: at('/logo'), backchannel_logout_uri: at('/logout') },
    });
    expect(found).toEqual({ [CALLBACK]: 'ok', '/keys': 'ok', '/sector': 'ok', '/logo': 'ok', '/logout': 'ok' });
  });

  test.each([
    ['logo_uri', '/text', 'logo_not_image'],
    ['logo_uri', '/moved', 'redirected'],
    ['logo_uri', '/missing', 'wrong_status'],
    ['logo_uri', '/large', 'too_large'],
    ['sector_identifier_uri', '/keys', 'sector_incomplete'],
    ['backchannel_logout_uri', '/missing', 'logout_refused'],
    ['backchannel_logout_uri', '/text', 'logout_unchecked'],
  ])('of %s %s finds %s', async (member, path, code) => {
    expect(await findings({ redirect_uris: [CALLBACK], [member]: peer.origin + path })).toMatchObject({ [path]: code });
  });

  test('judges keys and redirect URIs by the type of the client', async () => {
    const keys = { client_auth_method: 'private_key_jwt', jwks_uri: `${peer.origin}/keys` };
    expect(await findings({ ...keys, token_endpoint_auth_signing_alg: 'RS256' })).toEqual({
      redirect_uris: 'redirect_uris_missing',
      '/keys': 'keys_missing',
    });
    const redirect_uris = ['http://app.example/cb', 'http://localhost:8080/cb', 'app.example:/cb'];
    expect(await findings({ redirect_uris })).toEqual({
      'http://app.example/cb': 'redirect_uri_insecure',
      'http://localhost:8080/cb': 'ok',
      'app.example:/cb': 'redirect_uri_with_secret',
    });
    expect(await findings({ redirect_uris: ['http://127.0.0.1/cb'], application_type: 'web' })).toEqual({
      'http://127.0.0.1/cb': 'redirect_uri_native',
    });
  });

  test('says that the client is disabled, and repeats what failed', async () => {
    const id = await create({ client_auth_method: 'none', redirect_uris: [CALLBACK], logo_uri: `${peer.origin}/x` });
    await admin.post(`oauth2-clients/${id}/disable`);
    const before = peer.connections();
    for (const _ of [1, 2]) {
      expect((await tested(id)).body.data?.attributes['findings']).toMatchObject([
        { member: 'disabled_at', code: 'client_disabled', status: 'warning' },
        { code: 'ok' },
        { code: 'wrong_status', status: 'error' },
      ]);
    }
    expect(peer.connections()).toBe(before + 2);
  });

  test('requests no internal address for a managed client (S-195)', async () => {
    const { port } = internal.address() as AddressInfo;
    const refused = [
      [`http://127.0.0.1:${port}/`, 'url_not_allowed'],
      [`http://localhost:${port}/`, 'url_not_allowed'],
      [`https://peer.example:${port}/`, 'url_not_allowed'],
      [`https://127.0.0.1:${peer.port}/`, 'url_not_allowed'],
      [`https://private.example:${peer.port}/`, 'address_not_allowed'],
      [`https://missing.example:${peer.port}/`, 'name_unknown'],
    ] as const;
    for (const [url, code] of refused) {
      const urls = { logo_uri: url, sector_identifier_uri: url, backchannel_logout_uri: url };
      const id = await create({ client_auth_method: 'none', redirect_uris: [CALLBACK], ...urls });
      const { body } = await tested(id);
      expect(body.data?.attributes['findings']).toMatchObject([{ code: 'ok' }, { code }, { code }, { code }]);
    }
    expect(internalConnections).toBe(0);
  });

  test('is limited to ten a minute for each administrator (S-195)', async () => {
    const id = await create({ client_auth_method: 'none', redirect_uris: [CALLBACK] });
    administered.clock.advanceSeconds(60);
    const responses = await Promise.all(Array.from({ length: 12 }, () => admin.post(`oauth2-clients/${id}/test`)));
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(2);
    const other = await administered.adminOf(SECOND_CLIENT);
    expect((await other.post(`oauth2-clients/${id}/test`)).status).toBe(200);
  });

  test('exists for clients only, and not for those of the service', async () => {
    expect((await tested(ABSENT)).status).toBe(404);
    const [builtin] = (await admin.get('oauth2-clients?filter[client-kind]=builtin')).body.data ?? [];
    expect((await tested(builtin?.id ?? '')).body.errors?.[0]?.code).toBe('client_is_builtin');
  });
});

test('the logo of a managed client is not fetched from the internal network (S-52, S-195)', async () => {
  const { port } = internal.address() as AddressInfo;
  for (const url of [`http://127.0.0.1:${port}/`, `https://localhost:${port}/`]) {
    const id = await create({ client_auth_method: 'none', redirect_uris: [CALLBACK], logo_uri: url });
    const { status, headers } = await fetch(`${administered.service.address}/client-logos/${id}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  }
  expect(internalConnections).toBe(0);
});

test('connect shows what to enter in the application, without the secret', async () => {
  const id = await create({
    ...{ client_auth_method: 'client_secret_post', client_secret: 'never shown to anybody' },
    ...{ redirect_uris: [CALLBACK], scope: 'openid email' },
  });
  const response = await admin.get(`oauth2-clients/${id}/connect`);
  expect(response.body.links?.['self']).toBe(`/api/admin/v1/oauth2-clients/${id}/connect`);
  const shown = response.body.data?.attributes ?? {};
  expect(shown).toMatchObject({
    ...{ client_id: id, client_auth_method: 'client_secret_post', has_secret: true, scopes: ['openid', 'email'] },
    ...{ groups_claim: null, redirect_uris: [CALLBACK], preset: null },
  });
  expect(JSON.stringify(response.body)).not.toContain('never shown');
  const discovered = await fetch(`${administered.service.address}/.well-known/openid-configuration`);
  const metadata: Record<string, unknown> = await discovered.json();
  for (const [name, value] of Object.entries(shown)) {
    if (name.endsWith('_endpoint') || name === 'issuer' || name === 'jwks_uri')
      expect([name, value]).toEqual([name, metadata[name]]);
  }
  const open = await create({ client_auth_method: 'none', redirect_uris: [CALLBACK] });
  expect((await admin.get(`oauth2-clients/${open}/connect`)).body.data?.attributes).toMatchObject({
    ...{ has_secret: false, groups_claim: 'groups', scopes: ['openid', 'profile', 'email', 'groups'] },
  });
});

describe('the steps of a preset', () => {
  const connection = async (id: string) =>
    (await admin.get(`oauth2-clients/${id}/connect`)).body.data?.attributes ?? {};

  test('have the values of the client, and never the secret', async () => {
    const { status, body } = await admin.post('oauth2-clients', {
      preset: 'grafana',
      client_auth_method: 'client_secret_basic',
      redirect_uris: ['https://other.example/', 'https://grafana.example/deck/login/generic_oauth'],
    });
    expect(status).toBe(201);
    const id = body.data?.id ?? '';
    const { program, steps } = await connection(id);
    const text = JSON.stringify(steps);
    expect(program).toBe('Grafana');
    expect(text).toContain('root_url = https://grafana.example/deck/');
    expect(text).toContain('post_logout_redirect_uri=https%3A%2F%2Fgrafana.example%2Fdeck%2Flogin');
    expect(text).toContain(`client_id = ${id}`);
    expect(text).toContain(`${administered.service.publicBase}oauth2/token`);
    expect(text).toContain('client_secret = {client_secret}');
    expect(text).not.toContain(String(Object(body.meta).client_secret));
  });

  test('keep the variable of the URL if no redirect URI shows it, and are empty without a preset', async () => {
    const known = await create({
      preset: 'grafana',
      client_auth_method: 'client_secret_basic',
      redirect_uris: [CALLBACK],
    });
    expect(JSON.stringify((await connection(known))['steps'])).toContain('root_url = {url}/');
    const other = await create({ client_auth_method: 'none', redirect_uris: [CALLBACK] });
    expect(await connection(other)).toMatchObject({ preset: null, program: null, steps: [] });
  });
});
