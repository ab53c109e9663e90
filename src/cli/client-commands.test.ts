/** Commands for clients (administration A-12). */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertClient, sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { PropertyFlags } from './client-properties.ts';
import { createClientCommand } from './create-client.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';
import { rotateClientSecretCommand } from './rotate-client-secret.ts';
import { runCommand } from './run-command.test-support.ts';
import { setClientEnabledCommand } from './set-client-enabled.ts';
import { listClientsCommand, showClientCommand } from './show-clients.ts';
import { updateClientCommand } from './update-client.ts';

const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const NOTHING = { clientId: undefined, secretFile: undefined, preset: undefined, url: undefined };
const MACHINE: PropertyFlags = { scope: 'openid', set: ['grant_types=["client_credentials"]'] };
let folder: string;
let printed: Printed;

const service = await sharedByTests(startService({}));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-clients-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  printed = { out: '', err: '' };
});

const deps = () => manageDeps(service, printed);

interface Created {
  readonly client_id: string;
  readonly client_secret: string;
}

async function create(flags: PropertyFlags): Promise<Created> {
  await createClientCommand(deps(), { ...NOTHING, flags, json: true });
  const created: Created = JSON.parse(printed.out);
  printed.out = '';
  return created;
}

async function token({ client_id, client_secret }: Created): Promise<number> {
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid' }),
  });
  return response.status;
}

async function actions(): Promise<readonly string[]> {
  const rows = await sql<{ operation: string }>(
    service.database,
    `select detail ->> 'operation' as operation from audit_events where kind = 'admin_action' order by id`,
  );
  return rows.map(({ operation }) => operation);
}

test('create-client prints the ID and the secret, which works', async () => {
  const flags = { ...MACHINE, name: 'Backup' };
  await createClientCommand(deps(), { ...NOTHING, flags, json: false });
  const [, client_id = '', client_secret = ''] = /^client_id: (\S+)\nclient_secret: (\S+)\n$/.exec(printed.out) ?? [];
  expect(await token({ client_id, client_secret })).toBe(200);
  expect((await actions()).at(-1)).toBe('create-client');
});

test('create-client reads a secret from a file and does not print it', async () => {
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, 'a secret of our own choice\n', { mode: 0o600 });
  await createClientCommand(deps(), { ...NOTHING, secretFile, flags: MACHINE, json: true });
  const { client_id, client_secret } = JSON.parse(printed.out);
  expect(client_secret).toBeNull();
  expect(await token({ client_id, client_secret: 'a secret of our own choice' })).toBe(200);
});

describe('create-client --preset', () => {
  const createFrom = (
    preset: string,
    url: string | undefined,
    options: { flags?: PropertyFlags; json?: boolean } = {},
  ) => createClientCommand(deps(), { ...NOTHING, preset, url, flags: {}, json: false, ...options });

  test('creates the client of the program and prints what to enter there', async () => {
    await createFrom('grafana', 'https://grafana.example/');
    const [, id = '', secret = '', steps = ''] =
      /^client_id: (\S+)\nclient_secret: (\S+)\n\nIn Grafana:\n\n(.*)$/s.exec(printed.out) ?? [];
    expect(steps).toContain(`  client_id = ${id}\n  client_secret = ${secret}\n`);
    expect(steps).toContain('  root_url = https://grafana.example/\n');
    expect(steps).toContain('  token_url = https://login.example/oauth2/token\n');
    printed.out = '';
    await showClientCommand(deps(), { clientId: id, json: true });
    expect(JSON.parse(printed.out)).toMatchObject({
      preset: 'grafana',
      client_name: 'Grafana',
      redirect_uris: ['https://grafana.example/login/generic_oauth'],
      scope: 'openid profile email groups',
    });
  });

  test('options override it, and JSON contains the steps', async () => {
    await createFrom('kubernetes', undefined, { flags: { name: 'Cluster' }, json: true });
    const { client_id, client_secret, steps } = JSON.parse(printed.out);
    expect(client_secret).toBeNull();
    expect(JSON.stringify(steps)).toContain(`--oidc-client-id=${client_id}`);
    printed.out = '';
    await showClientCommand(deps(), { clientId: client_id, json: true });
    expect(JSON.parse(printed.out)).toMatchObject({ client_name: 'Cluster', client_auth_method: 'none' });
  });

  test('warns about http, except on this machine', async () => {
    await createFrom('grafana', 'http://localhost:3000');
    expect(printed.err).toBe('');
    await createFrom('grafana', 'http://grafana.lan:3000');
    expect(printed.err).toContain('warning: with http');
  });

  test.each([
    ['grafna', 'https://a.example', 'no preset grafna; "latchkey manage list-presets" lists all of them'],
    ['grafana', undefined, '--url is missing: the URL of Grafana, for example https://grafana.example.org'],
    ['grafana', 'a.example', '--url must start with https:// or http://'],
    ['kubernetes', 'https://a.example', 'Kubernetes with kubelogin needs no --url'],
  ])('%s with %s is refused', async (preset, url, message) => {
    await expect(createFrom(preset, url)).rejects.toThrow(message);
  });

  test('--url alone is refused', async () => {
    const options = { ...NOTHING, url: 'https://a.example', flags: {}, json: false };
    await expect(createClientCommand(deps(), options)).rejects.toThrow('--url needs --preset');
  });

  test('list-presets and show-preset need no database', async () => {
    const list = await runCommand(['manage', 'list-presets']);
    expect(list).toMatchObject({ exitCode: 0, err: '' });
    expect(list.out).toMatch(/^jellyfin +Jellyfin +from its documentation of \d{4}-\d\d-\d\d$/m);
    expect(list.out).toMatch(/^oauth2-proxy +oauth2-proxy +tested with oauth2-proxy 7\.15\.6$/m);
    const shown = await runCommand(['manage', 'show-preset', 'immich']);
    expect(shown.out).toContain('redirect_uris: {url}/auth/login {url}/user-settings app.immich:///oauth-callback\n');
    expect(shown.out).toContain('  Issuer URL: {issuer}\n');
    const asJson = await runCommand(['--json', 'manage', 'show-preset', 'immich']);
    expect(JSON.parse(asJson.out)).toMatchObject({ slug: 'immich' });
    expect(await runCommand(['manage', 'show-preset', 'x'])).toMatchObject({ exitCode: 2 });
  });
});

describe('a wrong property', () => {
  test.each([
    [{ redirectUri: ['not a uri'] }, /^redirect_uris\.0: expected a redirect URI/],
    [{ authMethod: 'password' }, /^client_auth_method: expected one of/],
    [{ set: ['shoe_size=43'] }, /^shoe_size: unknown member/],
    [{ set: ['default_max_age="soon"'] }, /^default_max_age: expected an integer/],
    [{ set: ['first_party'] }, /first_party is not KEY=VALUE/],
  ])('%j is named', async (flags, message) => {
    await expect(create(flags)).rejects.toThrow(message);
  });
});

test('update-client changes what it is given, and null restores a default', async () => {
  const { client_id } = await create({ redirectUri: ['https://a.example/cb'], set: ['default_max_age=60'] });
  const update = async (flags: PropertyFlags, clientId = client_id) => {
    printed.out = '';
    await updateClientCommand(deps(), { clientId, flags, json: false });
    return printed.out;
  };
  expect(await update({ name: 'Grafana', set: ['default_max_age=null'] })).toBe(
    'changed: client_name, default_max_age\n',
  );
  expect(await update({ name: 'Grafana' })).toBe('no changes\n');
  expect(await update({ allowedGroup: ['staff', 'crew'] })).toBe('changed: allowed_groups\n');
  expect(await update({ allowedGroup: ['crew', 'staff'] })).toBe('no changes\n');
  await expect(update({ allowedGroup: [' staff'] })).rejects.toThrow('allowed_groups.0: expected the name of a group');
  expect(await update({ set: ['allowed_groups=null'] })).toBe('changed: allowed_groups\n');
  await expect(update({})).rejects.toThrow('name at least one property');
  await expect(update({ name: 'X' }, ABSENT)).rejects.toThrow('client not found');
  await expect(update({ name: 'X' }, 'x')).rejects.toThrow('x is not a client id');
  const configured = await insertClient(service.database, service.core.keyRing, 0);
  await expect(update({ name: 'X' }, configured)).rejects.toThrow('defined in the configuration');
});

test('rotate-client-secret prints the new secret, and the former one works meanwhile', async () => {
  const first = await create(MACHINE);
  await rotateClientSecretCommand(deps(), { clientId: first.client_id, graceSeconds: undefined, json: false });
  const second = { client_id: first.client_id, client_secret: printed.out.trim() };
  expect([await token(first), await token(second)]).toEqual([200, 200]);
  const tooLong = { clientId: first.client_id, graceSeconds: 604_801, json: false };
  await expect(rotateClientSecretCommand(deps(), tooLong)).rejects.toThrow('at most 7d');
});

test('disable-client and enable-client say whether they changed anything, and record only changes', async () => {
  const { client_id } = await create(MACHINE);
  const set = async (isEnabled: boolean) => {
    printed.out = '';
    await setClientEnabledCommand(deps(), { clientId: client_id, isEnabled, json: false });
    return printed.out;
  };
  const before = (await actions()).length;
  expect([await set(false), await set(false), await set(true)]).toEqual([
    'disabled\n',
    'already disabled\n',
    'enabled\n',
  ]);
  expect((await actions()).slice(before)).toEqual(['disable-client', 'enable-client']);
});

test('list-clients and show-client show no secret', async () => {
  const { client_id, client_secret } = await create({ ...MACHINE, name: 'Lighthouse' });
  await listClientsCommand(deps(), { search: 'LIGHT', limit: 10, json: false });
  expect(printed.out).toMatch(new RegExp(`^CLIENT ID.*\n${client_id} +managed +enabled +\\S+ +Lighthouse\n$`));
  expect(printed.err).toBe('total: 1\n');
  printed.out = '';
  await showClientCommand(deps(), { clientId: client_id, json: true });
  expect(JSON.parse(printed.out)).toMatchObject({ client_id, kind: 'managed', client_name: 'Lighthouse' });
  expect(printed.out).not.toContain(client_secret);
  await expect(showClientCommand(deps(), { clientId: ABSENT, json: false })).rejects.toThrow('client not found');
});
