/**
 * The move from Matrix Authentication Service (MAS) beside a real Synapse, with the commands of the guide and the built
 * program (operations 3.9). Chat clients sign in and upload keys while MAS answers, and continue afterwards. `.ci/run`
 * installs Synapse, as for `real-synapse.test.ts`.
 */

import type { ChildProcess } from 'node:child_process';
import { createHash, createPublicKey, sign, verify } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { runCommand } from '#cli/run-command.test-support.ts';
import { GENERATED, KEYS } from '#config/mas/documents.test-support.ts';
import { Browser } from '#test/support/browser.ts';
import { authorizationRequest, CHAT_APPS, exchangeCode, registerApp } from '#test/support/chat-app-registrations.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { createEmptyDatabase, type EmptyDatabase } from '#test/support/database.ts';
import { freePort } from '#test/support/free-port.js';
import { type FrontOrigin, startFrontOrigin } from '#test/support/front-origin.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { Program, stopProcess } from '#test/support/program.js';
import { type RealSynapse, startRealSynapse } from '#test/support/real-synapse.ts';
import { startScriptedIntrospection } from '#test/support/scripted-introspection.ts';
import { createMasDatabase, type MasDatabase } from '../mas-import/mas-database.test-support.ts';
import { HOMESERVER_SECRET, ROOT } from '../mas-import/migration.test-support.ts';
import {
  BROWSER_SESSION,
  C1,
  COOKIE,
  H1,
  PASSWORD,
  T1,
  T2,
  T5,
  T9,
  T12,
  T14,
  T15,
  T19,
  USERS,
  ulid,
} from '../mas-import/vectors.test-support.ts';
import { addMasDevice, addMasUser, MasChatClient, type MasDevice } from './mas-installation.ts';

const PYTHON = process.env['LATCHKEY_TEST_SYNAPSE'] ?? '';
const MASTER_KEYS = {
  alice: 'BgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA',
  caro: 'CgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA',
} as const;

const PHONE: MasDevice = {
  ...{ user: 'alice', id: 'ALICEPHONE', name: 'Element X', kind: 'oauth', token: T1, refreshToken: T2 },
};
const LAPTOP: MasDevice = {
  ...{ user: 'alice', id: 'ALICELAPTOP', name: 'Element on a laptop', kind: 'oauth', token: T9, refreshToken: T5 },
};
const TABLET: MasDevice = {
  ...{ user: 'alice', id: 'TABLET', name: 'An older client', kind: 'compat', token: T14, refreshToken: T15 },
};
const BOT: MasDevice = { user: 'alice', id: 'ALICEBOT0001', name: 'A program', kind: 'personal', token: T19 };
const DESK: MasDevice = {
  user: 'caro',
  id: "Caro's desk",
  name: 'A client without an end',
  kind: 'compat',
  token: T12,
};
const DEVICES = [PHONE, LAPTOP, TABLET, BOT, DESK];

describe.skipIf(PYTHON === '')('the chat clients of MAS beside a real Synapse', () => {
  let mas: MasDatabase;
  let database: EmptyDatabase;
  let synapse: RealSynapse;
  let front: FrontOrigin;
  let program: Program;
  let latchkey: ChildProcess;
  let service: { readonly address: string; readonly publicBase: string };
  let health: string;
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-from-mas-'));
  /** What the clients saw before. */
  let before: Awaited<ReturnType<typeof allSeen>>;
  let since: string;
  let room: string;
  let idToken: string;

  beforeAll(async () => {
    const ports = { service: await freePort(), health: await freePort(), front: await freePort() };
    service = { address: `http://127.0.0.1:${ports.service}`, publicBase: `http://127.0.0.1:${ports.service}/` };
    health = `http://127.0.0.1:${ports.health}/`;
    [mas, database] = [await createMasDatabase(), await createEmptyDatabase()];
    const introspection = await startScriptedIntrospection(ports.service);
    try {
      synapse = await startRealSynapse({
        ...{ python: PYTHON, secret: HOMESERVER_SECRET, service: service.publicBase, exclusiveNames: 'bridge-.*' },
        publicBase: `http://127.0.0.1:${ports.front}/`,
      });
      front = await startFrontOrigin({
        ...{ port: ports.front, protocolName: 'matrix', service: service.address, homeserver: synapse.endpoint },
      });
      await fill({ mas, introspection, synapse, secret: HOMESERVER_SECRET });
      before = await allSeen();
      since = String((await chat(PHONE).sync())['next_batch']);
      await chat(DESK).send(room, 'during the move');
      await chat(DESK).sendTo(userId('alice'), PHONE.id, { number: 1 });
    } finally {
      await introspection.stop();
    }
    writeFileSync(join(directory, 'mas.yaml'), stringify(masConfiguration(ports)), { mode: 0o600 });
  }, 120_000);

  afterAll(async () => {
    if (latchkey !== undefined) await stopProcess(latchkey);
    await front?.stop();
    await synapse?.remove();
    await database?.drop();
    await mas?.drop();
    rmSync(directory, { recursive: true });
  });

  const userId = (name: string): string => `@${name}:${synapse.serverName}`;
  const chat = ({ token }: Pick<MasDevice, 'token'>): MasChatClient => new MasChatClient(synapse.endpoint, token);

  function masConfiguration(ports: { readonly service: number; readonly health: number }) {
    const [web, internal] = GENERATED.http.listeners;
    return {
      ...GENERATED,
      http: {
        ...{ public_base: service.publicBase, issuer: service.publicBase },
        listeners: [
          { ...web, binds: [{ address: `127.0.0.1:${ports.service}` }] },
          { ...internal, binds: [{ address: `127.0.0.1:${ports.health}` }] },
        ],
      },
      database: { uri: mas.uri },
      secrets: { ...GENERATED.secrets, encryption: ROOT.toString('hex') },
      matrix: { homeserver: synapse.serverName, endpoint: synapse.endpoint, secret: HOMESERVER_SECRET },
      rate_limiting: { login: { per_ip: { burst: 100, per_second: 1 } } },
    };
  }

  async function fill(installation: Parameters<typeof addMasUser>[0]): Promise<void> {
    for (const name of ['alice', 'caro'] as const) {
      await addMasUser(installation, { id: USERS[name], name, hash: H1 });
    }
    await mas.add('user_sessions', { user_session_id: BROWSER_SESSION, user_id: USERS.alice });
    await mas.add('oauth2_clients', {
      ...{ oauth2_client_id: C1, client_name: 'Element X', client_uri: 'https://app.example/' },
      ...{ token_endpoint_auth_method: 'none', redirect_uris: ['https://app.example/callback'] },
      ...{ grant_type_authorization_code: true, grant_type_refresh_token: true },
    });
    for (const device of DEVICES) {
      await addMasDevice(installation, USERS[device.user === 'alice' ? 'alice' : 'caro'], device);
      await chat(device).uploadKeys(userId(device.user), device.id);
    }
    await chat(PHONE).uploadUserKeys(userId('alice'), MASTER_KEYS.alice);
    await chat(DESK).uploadUserKeys(userId('caro'), MASTER_KEYS.caro);
    room = String((await chat(DESK).get('createRoom', { invite: [userId('alice')] }))['room_id']);
    await chat(PHONE).get(`join/${encodeURIComponent(room)}`, {});
    idToken = signedIdToken(KEYS[0] ?? '', { iss: service.publicBase, sub: ulid(USERS.alice), aud: ulid(C1) });
  }

  /** Returns what a client reads about itself, its user's devices and the encryption keys of both users. */
  async function seenBy(device: MasDevice) {
    const { user_id, device_id } = await chat(device).get('account/whoami');
    const { device_keys, master_keys } = await chat(device).get('keys/query', {
      device_keys: { [userId('alice')]: [], [userId('caro')]: [] },
    });
    const { version, auth_data } = await chat(device).get('room_keys/version');
    const { device_one_time_keys_count } = await chat(device).sync();
    return {
      ...{ user_id, device_id, device_keys, master_keys, version, auth_data, device_one_time_keys_count },
      devices: await devicesOf(device),
    };
  }

  async function allSeen() {
    return await Promise.all(DEVICES.map(async (device) => await seenBy(device)));
  }

  async function devicesOf(device: Pick<MasDevice, 'token'>): Promise<readonly (readonly unknown[])[]> {
    const { devices } = await chat(device).get('devices');
    if (!Array.isArray(devices)) throw new Error('no devices');
    return devices.map(({ device_id: id, display_name: name }) => [id, name] as const).toSorted();
  }

  /** Waits until the homeserver lists other devices. */
  async function untilDevices(device: Pick<MasDevice, 'token'>, ids: readonly string[]): Promise<void> {
    const expected = ids.toSorted();
    await expect.poll(async () => (await devicesOf(device)).map(([id]) => id), { timeout: 15_000 }).toEqual(expected);
  }

  async function isActive(token: string): Promise<boolean> {
    const response = await fetch(`${service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${HOMESERVER_SECRET}` },
      body: new URLSearchParams({ token }),
    });
    const body: Readonly<Record<string, unknown>> = await response.json();
    return body['active'] === true;
  }

  async function run(words: readonly string[]) {
    const { exitCode, out, err } = await runCommand(words, { workingDirectory: directory });
    return { exitCode, text: `${out}${err}` };
  }

  test('the commands of the guide move the installation', async () => {
    const [own, theirs] = [join(directory, 'latchkey.yaml'), ['--mas-config', 'mas.yaml']];
    expect(await run(['config', 'convert', ...theirs, '-o', own])).toMatchObject({ exitCode: 0 });
    const settings: Readonly<Record<string, unknown>> = {
      ...parse(readFileSync(own, 'utf8')),
      database: { uri: database.connectionString },
      data_dir: join(directory, 'data'),
    };
    writeFileSync(own, stringify(settings));
    const importing = ['import', 'mas'];
    expect(await run([...importing, 'check', '-c', own, ...theirs])).toMatchObject({ exitCode: 0 });
    expect(await run([...importing, 'migrate', '--dry-run', '-c', own, ...theirs])).toMatchObject({ exitCode: 0 });
    expect(await run([...importing, 'migrate', '-c', own, ...theirs])).toMatchObject({ exitCode: 0 });
    program = new Program(directory, settings);
    latchkey = await program.serve(health);
    expect(existsSync(join(directory, 'data'))).toBe(false);
    // Synapse would answer from what MAS said.
    await synapse.stop();
    await synapse.start();
  }, 90_000);

  test('all tokens, devices and encryption keys are as before', async () => {
    expect(before.map(({ user_id, device_id }) => [user_id, device_id])).toEqual(
      DEVICES.map(({ user, id }) => [userId(user), id]),
    );
    expect(await allSeen()).toEqual(before);
  });

  test('a sync continues with the messages that were sent meanwhile', async () => {
    const { to_device, rooms } = await chat(PHONE).sync(since);
    expect(to_device).toMatchObject({ events: [{ sender: userId('caro'), content: { number: 1 } }] });
    expect(JSON.stringify(rooms)).toContain('during the move');
    await chat(PHONE).send(room, 'after the move');
  });

  test('the issuer and the signing keys are as before', async () => {
    const { issuer } = await jsonFrom(`${service.address}/.well-known/openid-configuration`);
    const { keys } = await jsonFrom(`${service.address}/oauth2/keys.json`);
    expect(issuer).toBe(service.publicBase);
    if (!Array.isArray(keys)) throw new Error('no keys');
    const [header = '', payload = '', signature = ''] = idToken.split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const key = keys.find((one) => one.kid === kid);
    const isSigned = verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      createPublicKey({ key, format: 'jwk' }),
      Buffer.from(signature, 'base64url'),
    );
    expect(isSigned).toBe(true);
  });

  test('refresh tokens give new tokens for the same devices', async () => {
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: T2, client_id: ulid(C1) });
    const response = await fetch(`${service.address}/oauth2/token`, { method: 'POST', body: form });
    const tokens: Readonly<Record<string, unknown>> = await response.json();
    expect([tokens['access_token'], tokens['refresh_token']]).toEqual([
      expect.stringMatching(/^mat_/),
      expect.stringMatching(/^mar_/),
    ]);
    const { body } = await new ChatClient(front, '/_matrix/client/v3').post('/refresh', { refresh_token: T15 });
    expect([body['access_token'], body['refresh_token']]).toEqual([
      expect.stringMatching(/^mct_/),
      expect.stringMatching(/^mcr_/),
    ]);
    const renewed = [PHONE, TABLET].map((device, index) => ({
      ...device,
      token: String((index === 0 ? tokens : body)['access_token']),
    }));
    for (const device of renewed) {
      expect(await chat(device).get('account/whoami')).toMatchObject({ device_id: device.id });
      expect(await devicesOf(device)).toEqual(before[0]?.devices);
    }
    expect([await isActive(T1), await isActive(T14)]).toEqual([false, false]);
  });

  test('a sign-in with the password adds a device, and a sign-out with a token of MAS removes only its own', async () => {
    const client = new ChatClient(front, '/_matrix/client/v3');
    const { accessToken: token, deviceId } = await client.login('caro', PASSWORD, { device_id: 'NEWPHONE' });
    await untilDevices({ token }, [DESK.id, deviceId]);
    expect((await client.post('/logout', undefined, { authorization: `Bearer ${DESK.token}` })).status).toBe(200);
    await untilDevices({ token }, [deviceId]);
    const { device_keys } = await chat({ token }).get('keys/query', { device_keys: { [userId('alice')]: [] } });
    expect(device_keys).toEqual({ [userId('alice')]: Object(before[0]?.device_keys)[userId('alice')] });
  });

  test('the account page at the address that Synapse names ends one device, in the browser that MAS signed in', async () => {
    const { account_management_uri } = await jsonFrom(`${synapse.endpoint}_matrix/client/v1/auth_metadata`);
    expect(account_management_uri).toBe(`${service.publicBase}account/`);
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    browser.cookies.set('session', COOKIE);
    const query = new URLSearchParams({ action: 'org.matrix.device_delete', device_id: LAPTOP.id });
    expect((await browser.open(`${String(account_management_uri)}?${query}`)).status).toBe(200);
    const account = new GraphqlClient(service, {}, browser);
    const found = await account.query(
      'query ($userId: ID!, $deviceId: String!) { session(userId: $userId, deviceId: $deviceId) { ... on Node { id } } }',
      { userId: `user:${ulid(USERS.alice)}`, deviceId: LAPTOP.id },
    );
    const { session } = Object(found.data);
    const ended = await account.query(
      'mutation ($id: ID!) { endOauth2Session(input: { oauth2SessionId: $id }) { status } }',
      { id: session.id },
    );
    expect(ended.data).toEqual({ endOauth2Session: { status: 'ENDED' } });
    await untilDevices(BOT, [PHONE.id, TABLET.id, BOT.id]);
    expect((await chat(LAPTOP).ask('account/whoami')).status).toBe(401);
    const { device_keys } = await chat(BOT).get('keys/query', { device_keys: { [userId('alice')]: [] } });
    expect(Object.keys(Object(device_keys)[userId('alice')]).toSorted()).toEqual(
      [BOT.id, PHONE.id, TABLET.id].toSorted(),
    );
  });

  test.each(Object.entries(CHAT_APPS))('%s registers and signs in on a new device', async (_name, { body, uri }) => {
    const registered = await registerApp(service, { ...body, redirect_uris: [uri] });
    expect(registered.status).toBe(201);
    const clientId = String(registered.body['client_id']);
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.open('/login');
    await browser.submit({ username: 'alice', password: PASSWORD });
    await browser.open(authorizationRequest({ clientId, redirectUri: uri, device: 'NEWDEVICE01', state: 'state' }));
    const { location = '' } = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const code = new URL(location).searchParams.get('code') ?? '';
    const { body: tokens } = await exchangeCode(service, { code, clientId, redirectUri: uri });
    const token = String(tokens['access_token']);
    expect(await chat({ token }).get('account/whoami')).toMatchObject({ device_id: 'NEWDEVICE01' });
    await untilDevices({ token }, ['NEWDEVICE01', PHONE.id, TABLET.id, BOT.id]);
  });
});

async function jsonFrom(url: string): Promise<Readonly<Record<string, unknown>>> {
  return await (await fetch(url)).json();
}

/** Signs a token as MAS does: the ID of the key is its thumbprint (RFC 7638). */
function signedIdToken(pem: string, claims: object): string {
  const { e, kty, n } = createPublicKey(pem).export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');
  const signed = [{ alg: 'RS256', kid }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${signed.join('.')}.${sign('sha256', Buffer.from(signed.join('.')), pem).toString('base64url')}`;
}
