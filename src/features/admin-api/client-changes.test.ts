/** Clients as data (administration 2). */
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import type { AdminClient, AdminResponse } from '#test/support/admin-client.ts';
import { ChatOAuthClient } from '#test/support/chat-oauth-client.ts';
import { insertClient, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { ABSENT, CLIENT, startAdministeredService } from './administered-service.test-support.ts';

let admin: AdminClient;

const administered = await sharedByTests(startAdministeredService());

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
});

/** A client for its own purposes, without users. */
const MACHINE = { client_auth_method: 'client_secret_basic', grant_types: ['client_credentials'], scope: 'openid' };
const WEB = {
  client_name: 'Harbour',
  client_auth_method: 'client_secret_basic',
  redirect_uris: ['https://harbour.example/callback'],
};

interface Created {
  readonly id: string;
  readonly secret: string;
}

async function create(members: object): Promise<Created> {
  const { status, body } = await admin.post('oauth2-clients', members);
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: body.data?.id ?? '', secret: body.meta?.client_secret ?? '' };
}

/** Requests a token, and returns the status. */
async function token({ id, secret }: Created, at = administered.service.address): Promise<number> {
  const response = await fetch(`${at}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid' }),
  });
  return response.status;
}

const idOf = (id: string) => parseId(id) ?? expect.fail('not a ULID');

/** Sends a body as it is. */
async function sendRaw(method: string, path: string, body: string) {
  const response = await fetch(`${administered.service.address}/api/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body,
  });
  const { errors } = JSON.parse(await response.text());
  return { status: response.status, pointer: errors?.[0]?.source?.pointer };
}

const attributesOf = ({ body }: AdminResponse) => body.data?.attributes ?? {};
const errorOf = ({ status, body }: AdminResponse) => ({
  status,
  code: body.errors?.[0]?.code,
  source: body.errors?.[0]?.source,
  detail: body.errors?.[0]?.detail,
});

describe('a managed client', () => {
  test('gets an ID and a secret, which is shown once and works', async () => {
    const created = await admin.post('oauth2-clients', { ...MACHINE, client_name: 'Backup', preset: 'restic' });
    expect(created.status).toBe(201);
    expect(created.headers.get('etag')).toMatch(/^"\d+"$/);
    const id = created.body.data?.id ?? '';
    const secret = created.body.meta?.client_secret ?? '';
    expect(Buffer.from(secret, 'base64url').length).toBe(32);
    expect(await token({ id, secret })).toBe(200);
    const shown = await admin.get(`oauth2-clients/${id}`);
    expect(attributesOf(shown)).toMatchObject({
      ...MACHINE,
      kind: 'managed',
      is_static: false,
      client_id: id,
      client_name: 'Backup',
      preset: 'restic',
      disabled_at: null,
      secrets: [{ current: true, expires_at: null }],
    });
    expect(JSON.stringify(shown.body)).not.toContain(secret);
  });

  test('may have a chosen ID and secret', async () => {
    const id = newId(0);
    const secret = 'a chosen secret of the client';
    const created = await admin.post('oauth2-clients', { ...MACHINE, client_id: id, client_secret: secret });
    expect(created.body).toMatchObject({ data: { id } });
    expect(created.body.meta).toBeUndefined();
    expect(await token({ id, secret })).toBe(200);
    expect(errorOf(await admin.post('oauth2-clients', { ...MACHINE, client_id: id }))).toMatchObject({
      status: 409,
      code: 'client_exists',
      source: { pointer: '/client_id' },
    });
    expect(errorOf(await admin.post('oauth2-clients', { ...MACHINE, client_id: CLIENT })).code).toBe('client_exists');
  });

  test.each([
    [{}, '/client_auth_method'],
    [{ client_auth_method: 'secret' }, '/client_auth_method'],
    [{ ...WEB, redirect_uris: ['https://harbour.example/cb#x'] }, '/redirect_uris/0'],
    [{ ...WEB, client_secret: 'short' }, '/client_secret'],
    [{ ...WEB, client_secret_file: '/etc/passwd' }, '/client_secret_file'],
    [{ ...WEB, client_id: 'harbour' }, '/client_id'],
    [{ ...WEB, shoe_size: 43 }, '/shoe_size'],
    [{ ...WEB, preset: 'Not A Name' }, '/preset'],
    [{ client_auth_method: 'none', grant_types: ['client_credentials'] }, '/grant_types/0'],
    [{ ...WEB, jwks: { keys: [] } }, '/jwks'],
    [{ ...WEB, profile: 'fapi2' }, '/client_auth_method'],
    [{ ...WEB, claims: { sub: 'x' } }, '/claims/sub'],
    [[], ''],
  ])('is not created from %j', async (members, pointer) => {
    const refused = errorOf(await admin.post('oauth2-clients', members));
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request', source: { pointer } });
  });

  test('may use the claims and token exchange of a configured client', async () => {
    const { id } = await create({ ...WEB, claims: { tenant: 'north' }, token_exchange: { subjects: ['*'] } });
    expect(attributesOf(await admin.get(`oauth2-clients/${id}`))).toMatchObject({
      claims: { tenant: 'north' },
      token_exchange: { subjects: ['*'] },
    });
    const client = await administered.service.core.clients.findNamed(id);
    expect(client).toMatchObject({ kind: 'managed', isVouchedFor: true, claims: { tenant: 'north' } });
    expect(client?.tokenExchange?.subjects).toEqual(['*']);
  });
});

describe('PATCH', () => {
  test('changes only the given members, and null restores the default', async () => {
    const { id } = await create({ ...WEB, client_uri: 'https://harbour.example/', default_max_age: 60 });
    const changed = await admin.send('PATCH', `oauth2-clients/${id}`, { client_name: 'Port', default_max_age: null });
    expect(changed.status).toBe(200);
    expect(attributesOf(changed)).toMatchObject({
      client_name: 'Port',
      client_uri: 'https://harbour.example/',
      redirect_uris: WEB.redirect_uris,
    });
    expect(attributesOf(changed)).not.toHaveProperty('default_max_age');
    expect(attributesOf(changed)['updated_at']).not.toBeNull();
  });

  test('accepts the media type of merge patches, which other methods refuse', async () => {
    const { id } = await create(WEB);
    const type = { 'content-type': 'application/merge-patch+json' };
    const path = `oauth2-clients/${id}`;
    const changed = await admin.send('PATCH', path, { client_name: 'Quay' }, type);
    expect(attributesOf(changed)).toMatchObject({ client_name: 'Quay' });
    expect((await admin.send('POST', 'oauth2-clients', WEB, type)).status).toBe(415);
  });

  test('keeps the secret, and generates one if the new method needs it', async () => {
    const confidential = await create(MACHINE);
    await admin.send('PATCH', `oauth2-clients/${confidential.id}`, { client_name: 'Renamed' });
    expect(await token(confidential)).toBe(200);
    const open = await create({ client_auth_method: 'none', redirect_uris: WEB.redirect_uris });
    expect(open.secret).toBe('');
    const path = `oauth2-clients/${open.id}`;
    const { body } = await admin.send('PATCH', path, { ...MACHINE });
    expect(await token({ id: open.id, secret: body.meta?.client_secret ?? '' })).toBe(200);
    const closed = await admin.send('PATCH', path, { client_auth_method: 'none', grant_types: null });
    expect(attributesOf(closed)['secrets']).toEqual([]);
  });

  test('is refused if someone else has changed the client since, and nothing is changed', async () => {
    const { id } = await create(WEB);
    const path = `oauth2-clients/${id}`;
    const read = await admin.get(path);
    const etag = read.headers.get('etag') ?? '';
    const first = await admin.send('PATCH', path, { client_name: 'First' }, { 'if-match': etag });
    expect(first.status).toBe(200);
    const second = await admin.send('PATCH', path, { client_name: 'Second' }, { 'if-match': etag });
    expect(errorOf(second)).toMatchObject({ status: 412, code: 'precondition_failed' });
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(attributesOf(await admin.get(path))['client_name']).toBe('First');
    expect((await admin.send('PATCH', path, { client_name: 'Last' })).status).toBe(200);
    const invalid = await admin.send('PATCH', path, { shoe_size: 43 }, { 'if-match': etag });
    expect(errorOf(invalid), 'checked first').toMatchObject({ status: 400, source: { pointer: '/shoe_size' } });
    const wrong = await admin.send('PATCH', path, {}, { 'if-match': 'W/"1"' });
    expect(errorOf(wrong)).toMatchObject({ status: 400, code: 'invalid_precondition' });
  });

  test('of two at once with the same version, one succeeds', async () => {
    const { id } = await create(WEB);
    const path = `oauth2-clients/${id}`;
    const etag = (await admin.get(path)).headers.get('etag') ?? '';
    const responses = await Promise.all(
      ['One', 'Two', 'Three'].map((client_name) => admin.send('PATCH', path, { client_name }, { 'if-match': etag })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  });

  test.each([
    [{ client_id: ABSENT }, '/client_id'],
    [{ client_secret: 'a secret that was chosen' }, '/client_secret'],
    [{ redirect_uris: 'https://harbour.example/' }, '/redirect_uris'],
    [{ client_auth_method: null }, '/client_auth_method'],
    [{ disabled: 'yes' }, '/disabled'],
    [{ preset: 'grafana' }, '/preset'],
  ])('is refused for %j', async (patch, pointer) => {
    const { id } = await create(WEB);
    expect(errorOf(await admin.send('PATCH', `oauth2-clients/${id}`, patch))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      source: { pointer },
    });
  });

  // What a client is and who owns it, as stored and as shown, and names of columns.
  test.each(
    `id kind is_static isStatic version updated_at created_at disabled_at last_used_at secret_created_at document_url
     access active_sessions overridden overrides metadata client_secret_sealed former_secret_sealed registration_token_hash
     admin can_request_admin __proto__ constructor`.split(/\s+/),
  )('never assigns %s (S-131)', async (member) => {
    const { id } = await create(WEB);
    const path = `oauth2-clients/${id}`;
    const stored = () =>
      sql(administered.service.database, 'select c::text from oauth2_clients c where id = $1', [toUuid(idOf(id))]);
    const before = await stored();
    for (const value of ['builtin', true, null]) {
      // A typing error in a name must not be taken for a change, also when null restores a default.
      // A literal, because assigning `__proto__` adds no member.
      const body = `${JSON.stringify({ ...WEB, client_name: 'Changed' }).slice(0, -1)},"${member}":${JSON.stringify(value)}}`;
      for (const [method, at] of [
        ['PATCH', path],
        ['POST', 'oauth2-clients'],
      ] as const) {
        const { status, pointer } = await sendRaw(method, at, body);
        expect([status, pointer]).toEqual([400, `/${member}`]);
      }
    }
    expect(await stored()).toEqual(before);
  });

  test('of a configured client is refused, and of a dynamic one only changes what users see', async () => {
    expect(errorOf(await admin.send('PATCH', `oauth2-clients/${CLIENT}`, { client_name: 'X' }))).toMatchObject({
      status: 409,
      code: 'client_is_static',
    });
    const { clock, service } = administered;
    const { database, core } = service;
    const metadata = { client_name: { '': 'Self', de: 'Selbst' } };
    const id = await insertClient(database, core.keyRing, clock.now(), { isStatic: false, metadata });
    const path = `oauth2-clients/${id}`;
    expect(errorOf(await admin.send('PATCH', path, { redirect_uris: [] }))).toMatchObject({
      status: 409,
      code: 'client_is_dynamic',
      source: { pointer: '/redirect_uris' },
    });
    const logo_uri = 'https://harbour.example/logo.png';
    const changed = await admin.send('PATCH', path, { client_name: 'Harbour', logo_uri });
    expect(attributesOf(changed)).toMatchObject({
      ...{ client_name: 'Harbour', logo_uri },
      overridden: ['client_name', 'logo_uri'],
    });
    expect(await core.clients.findNamed(id)).toMatchObject({ name: { '': 'Harbour' }, logoUri: logo_uri });
    const listed = await admin.get('oauth2-clients?filter[client-kind]=dynamic&filter[search]=harbour');
    expect(listed.body.data?.map((client) => client.id)).toEqual([id]);
    const own = await admin.send('PATCH', path, { client_name: null, logo_uri: null });
    expect(attributesOf(own)).toMatchObject({ client_name: 'Self', overridden: [] });
    expect(await core.clients.findNamed(id)).toMatchObject({ name: metadata.client_name });
    expect(errorOf(await admin.send('PATCH', path, { logo_uri: 'javascript:x' }))).toMatchObject({
      status: 400,
      source: { pointer: '/logo_uri' },
    });
    expect(attributesOf(await admin.send('PATCH', path, { disabled: true }))['disabled_at']).not.toBeNull();
    expect(attributesOf(await admin.send('PATCH', path, { disabled: false }))['disabled_at']).toBeNull();
  });

  test.each(['managed', 'dynamic'])(
    'limits a %s client to groups, and never opens it by accident (S-200)',
    async (kind) => {
      const { clock, service } = administered;
      const { database, core } = service;
      const id =
        kind === 'managed'
          ? (await create({ ...WEB, allowed_groups: ['first'] })).id
          : await insertClient(database, core.keyRing, clock.now(), { isStatic: false });
      const path = `oauth2-clients/${id}`;
      const limit = async (allowed_groups: unknown) => {
        const { access, allowed_groups: groups } = attributesOf(await admin.send('PATCH', path, { allowed_groups }));
        return [access, groups];
      };
      const stored = (await admin.get(path)).body.data?.attributes ?? {};
      expect(stored).toMatchObject(
        kind === 'managed'
          ? { access: 'groups', allowed_groups: ['first'] }
          : { access: 'everyone', allowed_groups: [] },
      );
      expect(await limit([`${kind} b`, `${kind} a`, `${kind} a`])).toEqual(['groups', [`${kind} a`, `${kind} b`]]);
      expect(await limit([])).toEqual(['everyone', []]);
      expect(await limit([`${kind} a`])).toEqual(['groups', [`${kind} a`]]);
      const listed = await admin.get('oauth2-clients?page[first]=100');
      expect(listed.body.data?.find((client) => client.id === id)?.attributes).toMatchObject({
        access: 'groups',
        allowed_groups: [`${kind} a`],
      });

      await sql(database, 'update user_groups set deleted_at = now() where name = $1::text', [`${kind} a`]);
      expect(errorOf(await admin.send('PATCH', path, { allowed_groups: [`${kind} b`, `${kind} a`] }))).toMatchObject({
        status: 400,
        source: { pointer: '/allowed_groups/1' },
        detail: expect.stringContaining('is being deleted'),
      });
      await sql(database, 'delete from user_groups where name = $1::text', [`${kind} a`]);
      const closed = attributesOf(await admin.get(path));
      expect(closed).toMatchObject({ access: 'nobody', allowed_groups: [] });
      // What a console sends back after it has changed something else.
      const { client_name, allowed_groups } = closed;
      expect(attributesOf(await admin.send('PATCH', path, { client_name, allowed_groups }))).toMatchObject({
        access: 'nobody',
      });
      expect(attributesOf(await admin.send('PATCH', path, { client_name: 'Renamed' }))).toMatchObject({
        access: 'nobody',
      });
      expect(await limit(null)).toEqual(['everyone', []]);

      for (const [value, pointer] of [
        ['staff', '/allowed_groups'],
        [[' staff'], '/allowed_groups/0'],
        [['staff', 1], '/allowed_groups/1'],
        [Array.from({ length: 51 }, (_, index) => `g${index}`), '/allowed_groups'],
      ] as const) {
        expect(errorOf(await admin.send('PATCH', path, { allowed_groups: value }))).toMatchObject({
          status: 400,
          source: { pointer },
        });
      }
      expect(attributesOf(await admin.get(path))).toMatchObject({ access: 'everyone' });
    },
  );

  test('and creation refuse clients that pass for the admin area (S-196)', async () => {
    const { id } = await create(WEB);
    const { config } = administered.service.core;
    const redirect_uris = ['https://harbour.example/', `${config.http.publicBase}admin/callback`];
    for (const [members, pointer] of [
      [{ client_name: 'latchkey\u200b ADMlNISTRATI\u043eN' }, '/client_name'],
      [{ redirect_uris }, '/redirect_uris/1'],
    ] as const) {
      const responses = [
        await admin.post('oauth2-clients', { ...WEB, ...members }),
        await admin.send('PATCH', `oauth2-clients/${id}`, members),
      ];
      for (const response of responses) expect(errorOf(response)).toMatchObject({ status: 400, source: { pointer } });
    }
    const taken = await admin.post('oauth2-clients', { ...WEB, client_id: ADMIN_AREA_CLIENT_ID });
    expect(errorOf(taken)).toMatchObject({ status: 409, code: 'client_exists' });
  });
});

describe('rotation of a secret', () => {
  test('leaves the former one valid until the grace period ends, to the second', async () => {
    const created = await create(MACHINE);
    const path = `oauth2-clients/${created.id}`;
    const { body } = await admin.post(`${path}/rotate-secret`, { grace_seconds: 100 });
    const rotated = { id: created.id, secret: body.meta?.client_secret ?? '' };
    expect([await token(created), await token(rotated)]).toEqual([200, 200]);
    expect(body.data?.attributes['secrets']).toMatchObject([{ current: true }, { current: false }]);
    administered.clock.advanceSeconds(99);
    expect(await token(created)).toBe(200);
    administered.clock.advanceSeconds(1);
    expect([await token(created), await token(rotated)]).toEqual([401, 200]);
    expect(attributesOf(await admin.get(path))['secrets']).toMatchObject([{ current: true }]);
  });

  test('within the grace period ends the oldest one', async () => {
    const first = await create(MACHINE);
    const path = `oauth2-clients/${first.id}/rotate-secret`;
    const second = { id: first.id, secret: (await admin.post(path)).body.meta?.client_secret ?? '' };
    const third = { id: first.id, secret: (await admin.post(path)).body.meta?.client_secret ?? '' };
    expect([await token(first), await token(second), await token(third)]).toEqual([401, 200, 200]);
    const last = await admin.post(path, { grace_seconds: 0 });
    expect([await token(second), await token(third)]).toEqual([401, 401]);
    expect(await token({ id: first.id, secret: last.body.meta?.client_secret ?? '' })).toBe(200);
  });

  test('shows when each secret was last used', async () => {
    const created = await create(MACHINE);
    const path = `oauth2-clients/${created.id}`;
    const { body } = await admin.post(`${path}/rotate-secret`);
    administered.clock.advanceSeconds(10);
    await token(created);
    administered.clock.advanceSeconds(10);
    await token({ id: created.id, secret: body.meta?.client_secret ?? '' });
    await administered.service.core.activity.flush();
    const now = administered.clock.now();
    const at = (milliseconds: number) => new Date(milliseconds).toISOString().replace('Z', '000Z');
    expect(attributesOf(await admin.get(path))['secrets']).toMatchObject([
      { current: true, last_used_at: at(now) },
      { current: false, last_used_at: at(now - 10_000) },
    ]);
  });

  test('works for signed assertions with both secrets', async () => {
    const client = await create({ ...MACHINE, client_auth_method: 'client_secret_jwt' });
    expect(Buffer.from(client.secret, 'base64url').length).toBe(64);
    const rotated = await admin.post(`oauth2-clients/${client.id}/rotate-secret`);
    expect(rotated.body.meta?.client_secret).not.toBe(client.secret);
  });

  test('is refused for clients without a secret, and for others than managed ones', async () => {
    const { id } = await create({ client_auth_method: 'none', redirect_uris: WEB.redirect_uris });
    const code = async (client: string) => errorOf(await admin.post(`oauth2-clients/${client}/rotate-secret`)).code;
    expect(await code(id)).toBe('client_has_no_secret');
    expect(await code(CLIENT)).toBe('client_is_static');
    expect(await code(ABSENT)).toBe('not_found');
    const tooLong = await admin.post(`oauth2-clients/${id}/rotate-secret`, { grace_seconds: 604_801 });
    expect(errorOf(tooLong)).toMatchObject({ status: 400, source: { pointer: '/grace_seconds' } });
  });
});

describe('a disabled client', () => {
  test('is refused, its tokens are inactive, and both work again once it is enabled', async () => {
    const created = await create(MACHINE);
    const { service } = administered;
    const headers = { authorization: `Basic ${Buffer.from(`${created.id}:${created.secret}`).toString('base64')}` };
    const post = async (path: string, form: Record<string, string>) => {
      const response = await fetch(service.address + path, {
        method: 'POST',
        headers,
        body: new URLSearchParams(form),
      });
      return await response.json();
    };
    const { access_token } = await post('/oauth2/token', { grant_type: 'client_credentials', scope: 'openid' });
    const path = `oauth2-clients/${created.id}`;
    expect(attributesOf(await admin.post(`${path}/disable`))['disabled_at']).not.toBeNull();
    expect(await token(created)).toBe(401);
    const resource = new ChatOAuthClient(service, CLIENT);
    const isActive = async () => (await resource.post('/oauth2/introspect', { token: access_token })).body['active'];
    expect(await isActive()).toBe(false);
    expect((await admin.get('oauth2-clients?filter[disabled]=true')).body.data?.map(({ id }) => id)).toContain(
      created.id,
    );
    expect(attributesOf(await admin.post(`${path}/enable`))['disabled_at']).toBeNull();
    expect([await isActive(), await token(created)]).toEqual([true, 200]);
    // Repeating it changes nothing.
    const etag = (await admin.get(path)).headers.get('etag');
    expect((await admin.post(`${path}/enable`)).headers.get('etag')).toBe(etag);
  });

  test('cannot be a configured one: the configuration decides', async () => {
    expect(errorOf(await admin.post(`oauth2-clients/${CLIENT}/disable`)).code).toBe('client_is_static');
  });
});

describe('lists', () => {
  test('tell the kinds apart and search names and URLs', async () => {
    const { id } = await create({ ...WEB, client_name: 'Lighthouse', client_uri: 'https://beacon.example/' });
    const ids = async (query: string) =>
      (await admin.get(`oauth2-clients?${query}`)).body.data?.map((client) => client.id) ?? [];
    expect(await ids('filter[client-kind]=managed&filter[search]=LIGHT')).toEqual([id]);
    expect(await ids('filter[search]=beacon')).toEqual([id]);
    const redirect = await create({ ...WEB, redirect_uris: ['https://Pier.example/callback'] });
    expect(await ids('filter[search]=pier.EXAMPLE')).toEqual([redirect.id]);
    expect(await ids('filter[client-kind]=static')).not.toContain(id);
    expect(await ids('filter[client-kind]=dynamic')).not.toContain(id);
    expect(await ids('page[first]=1000')).toContain(id);
  });
});

test('lists show active sessions and the last use', async () => {
  const created = await create({ ...MACHINE, client_name: 'Counted' });
  const listed = async () => {
    const { body } = await admin.get('oauth2-clients?filter[search]=counted');
    return body.data?.map(({ attributes }) => [attributes['active_sessions'], attributes['last_used_at']]);
  };
  expect(await listed()).toEqual([[0, null]]);
  await token(created);
  expect(await listed()).toMatchObject([[1, expect.stringContaining('T')]]);
});

test('a managed client is deleted with its sessions', async () => {
  const created = await create(MACHINE);
  await token(created);
  expect((await admin.delete(`oauth2-clients/${created.id}`)).status).toBe(204);
  expect((await admin.get(`oauth2-clients/${created.id}`)).status).toBe(404);
  expect(await token(created)).toBe(401);
});

describe('client presets', () => {
  test('are listed with all settings, and found by name', async () => {
    const { status, body } = await admin.get('client-presets');
    expect(status).toBe(200);
    expect(body.meta?.count).toBe(body.data?.length);
    const listed = body.data?.find(({ id }) => id === 'grafana');
    expect(listed?.attributes).toMatchObject({
      slug: 'grafana',
      url: { example: 'https://grafana.example.org', note: null },
      client: { redirect_uris: ['{url}/login/generic_oauth'] },
      registers_itself: false,
      checked: { how: 'tested', with: 'library' },
    });
    const one = await admin.get('client-presets/grafana');
    expect(one.body.data).toEqual(listed);
    expect(one.body.data?.links.self).toMatch(/\/api\/admin\/v1\/client-presets\/grafana$/);
  });

  test('unknown names and parameters are refused', async () => {
    expect(errorOf(await admin.get('client-presets/grafna'))).toMatchObject({ status: 404, code: 'not_found' });
    expect((await admin.get('client-presets?filter[search]=a')).status).toBe(400);
    expect((await admin.get('client-presets?page[first]=10')).status).toBe(400);
  });
});
