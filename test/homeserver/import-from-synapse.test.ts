/**
 * The migration from a real Synapse on PostgreSQL with its own sign-in (operations 3.9). The test creates accounts
 * there, imports them and continues to use them here. `.ci/run` installs one, as for `real-synapse.test.ts`.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runCommand } from '#cli/run-command.test-support.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createEmptyDatabase, type EmptyDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { freePort } from '#test/support/free-port.js';
import { type RealSynapse, startRealSynapse } from '#test/support/real-synapse.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';

const PYTHON = process.env['LATCHKEY_TEST_SYNAPSE'] ?? '';
const SECRET = 'shared-secret-of-the-test';
const REGISTRATION_SECRET = 'registration-secret';
const PEPPER = 'pepper of old';
const PASSWORD = 'correct ﬁsh battery staple';

type TestResponse = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

interface Device {
  readonly token: string;
  readonly refreshToken: string | undefined;
  readonly id: string;
}

describe.skipIf(PYTHON === '')('the users of a real Synapse on PostgreSQL', () => {
  let database: EmptyDatabase;
  let synapse: RealSynapse;
  let service: TestService;
  let chat: ChatClient;
  let directory: string;
  /** Devices created before the migration. */
  const devices = new Map<string, Device>();

  beforeAll(async () => {
    database = await createEmptyDatabase();
    const port = await freePort();
    const { user, host, port: databasePort, database: name } = parseConnectionUri(database.connectionString);
    synapse = await startRealSynapse({
      python: PYTHON,
      secret: SECRET,
      service: `http://127.0.0.1:${port}/`,
      exclusiveNames: 'bridge-.*',
      settings: {
        matrix_authentication_service: undefined,
        database: { name: 'psycopg2', args: { user, host, port: databasePort, dbname: name, cp_min: 1, cp_max: 5 } },
        password_config: { pepper: PEPPER },
        bcrypt_rounds: 4,
        registration_shared_secret: REGISTRATION_SECRET,
        rc_login: Object.fromEntries(['address', 'account', 'failed_attempts'].map((one) => [one, HIGH_LIMIT])),
      },
    });
    await makeUsers();
    await synapse.stop();

    service = await startService({
      protocol_name: 'matrix',
      ...settings(),
      http: {
        public_base: `http://127.0.0.1:${port}`,
        listeners: [
          {
            name: 'web',
            resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets', 'health'],
            binds: [{ address: `127.0.0.1:${port}` }],
          },
        ],
      },
    });
    chat = new ChatClient(service, '/_matrix/client/v3');
    directory = mkdtempSync(join(tmpdir(), 'latchkey-move-'));
  }, 120_000);

  afterAll(async () => {
    await service?.stop();
    await synapse?.remove();
    await database?.drop();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  });

  const HIGH_LIMIT = { per_second: 1000, burst_count: 1000 };

  function settings() {
    return {
      homeserver: { kind: 'synapse', homeserver: synapse.serverName, endpoint: synapse.endpoint, secret: SECRET },
      passwords: {
        schemes: [
          { version: 1, algorithm: 'bcrypt', unicode_normalization: true, secret: PEPPER },
          { version: 2, algorithm: 'argon2id' },
        ],
      },
    };
  }

  async function ask(path: string, token: string | undefined, body?: object, method = body ? 'POST' : 'GET') {
    const response = await fetch(new URL(path, synapse.endpoint), {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const result: TestResponse = { status: response.status, body: await response.json() };
    return result;
  }

  async function expectOk(response: Promise<TestResponse>): Promise<TestResponse['body']> {
    const { status, body } = await response;
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  }

  const userId = (name: string) => `@${name}:${synapse.serverName}`;

  async function logIn(name: string, device: string, fields: object = {}): Promise<Device> {
    const identifier = { type: 'm.id.user', user: name };
    const body = await expectOk(
      ask('_matrix/client/v3/login', undefined, {
        ...{ type: 'm.login.password', identifier, password: PASSWORD, device_id: device },
        ...{ initial_device_display_name: `${device} of ${name}`, ...fields },
      }),
    );
    const refreshToken = body['refresh_token'] === undefined ? undefined : String(body['refresh_token']);
    const made = { token: String(body['access_token']), refreshToken, id: device };
    devices.set(`${name} ${device}`, made);
    return made;
  }

  function device(name: string): Device {
    const found = devices.get(name);
    if (found === undefined) throw new Error(`${name} did not sign in`);
    return found;
  }

  async function makeUsers(): Promise<void> {
    const { nonce } = await expectOk(ask('_synapse/admin/v1/register', undefined));
    const mac = createHmac('sha1', REGISTRATION_SECRET)
      .update([nonce, 'boss', PASSWORD, 'admin'].join('\0'))
      .digest('hex');
    const boss = await expectOk(
      ask('_synapse/admin/v1/register', undefined, { nonce, username: 'boss', password: PASSWORD, admin: true, mac }),
    );
    const admin = String(boss['access_token']);
    const put = async (name: string, body: object) =>
      await expectOk(ask(`_synapse/admin/v2/users/${encodeURIComponent(userId(name))}`, admin, body, 'PUT'));
    const address = { medium: 'email', address: 'anna@example.org' };
    await put('anna', { password: PASSWORD, displayname: 'Anna Öz', threepids: [address] });
    for (const name of ['bruno', 'locked', 'gone']) await put(name, { password: PASSWORD });
    const phone = await logIn('anna', 'PHONE');
    await expectOk(
      ask('_matrix/client/v3/keys/upload', phone.token, {
        device_keys: {
          user_id: userId('anna'),
          device_id: 'PHONE',
          algorithms: ['m.olm.v1.curve25519-aes-sha2'],
          keys: { 'curve25519:PHONE': 'a key', 'ed25519:PHONE': 'another key' },
          signatures: {},
        },
      }),
    );
    await logIn('anna', 'LAPTOP', { refresh_token: true });
    await logIn('bruno', 'PHONE', { refresh_token: true });
    await logIn('bruno', 'TABLET');
    await logIn('locked', 'PHONE');
    await put('locked', { locked: true });
    await put('gone', { deactivated: true });
    const bridged = { type: 'm.login.application_service', username: 'bridge-carla' };
    await expectOk(ask('_matrix/client/v3/register', synapse.applicationServiceToken, bridged));
    const asAnna = await expectOk(
      ask(`_synapse/admin/v1/users/${encodeURIComponent(userId('anna'))}/login`, admin, {}),
    );
    devices.set('boss as anna', { token: String(asAnna['access_token']), refreshToken: undefined, id: '' });
  }

  async function runImport(command: 'check' | 'migrate') {
    const file = join(directory, 'latchkey.yaml');
    const own = {
      ...settings(),
      protocol_name: 'matrix',
      secrets: { encryption: 'ab'.repeat(32) },
      database: { uri: service.connectionString },
      logging: { output: join(directory, 'log') },
    };
    writeFileSync(file, stringify(own), { mode: 0o600 });
    return await runCommand(['--json', 'import', command, '--synapse-config', synapse.configFile, '-c', file], {
      workingDirectory: directory,
    });
  }

  async function whoAmI(token: string) {
    const { status, body } = await ask('_matrix/client/v3/account/whoami', token);
    return [status, body['errcode'] ?? body['user_id'], body['device_id']];
  }

  test('pass import check, and import migrate copies everything once', async () => {
    const check = await runImport('check');
    expect([check.exitCode, JSON.parse(check.out)]).toEqual([0, { errors: [], warnings: [] }]);
    const { exitCode, out } = await runImport('migrate');
    expect(exitCode).toBe(0);
    const { entities } = JSON.parse(out);
    expect(entities.map(({ entity, done }: { entity: string; done: number }) => `${done} ${entity}`)).toEqual([
      ...['5 users', '1 third-party ids', '0 upstream links', '6 devices', '0 devices of tokens'],
      ...['4 access tokens', '2 refresh tokens'],
    ]);
    expect(entities[0].skipped).toEqual({ 'application service': 1 });
    const users = await sql(
      service.database,
      `select username, display_name, can_request_admin as admin, locked_at is not null as locked,
              deactivated_at is not null as gone, (select email from user_emails where user_id = u.id) as email
         from users u order by username`,
    );
    const plain = { display_name: null, admin: false, locked: false, gone: false, email: null };
    const named = (name: string) => ({ ...plain, username: name, display_name: name });
    expect(users).toEqual([
      { ...plain, username: 'anna', display_name: 'Anna Öz', email: 'anna@example.org' },
      { ...named('boss'), admin: true },
      named('bruno'),
      { ...named('gone'), gone: true },
      { ...named('locked'), locked: true },
    ]);
  });

  test('keep their tokens once Synapse starts with delegated sign-in', async () => {
    synapse.configure({
      matrix_authentication_service: { enabled: true, endpoint: service.publicBase, secret: SECRET },
      password_config: undefined,
      registration_shared_secret: undefined,
    });
    await synapse.start();
    const names = ['anna PHONE', 'anna LAPTOP', 'bruno PHONE', 'bruno TABLET'];
    const seen = await Promise.all(names.map((name) => whoAmI(device(name).token)));
    expect(seen).toEqual(names.map((name) => [200, userId(name.split(' ')[0] ?? ''), device(name).id]));
    expect((await whoAmI(device('locked PHONE').token))[0]).toBe(401);
    expect((await whoAmI(device('boss as anna').token))[0]).toBe(401);
    expect((await whoAmI(synapse.applicationServiceToken))[0]).toBe(200);
  }, 60_000);

  test('refresh once with a token that Synapse issued, and continue with ours', async () => {
    const { token, refreshToken } = device('anna LAPTOP');
    const { status, body } = await chat.post('/refresh', { refresh_token: refreshToken });
    expect([status, String(body['access_token']).slice(0, 4)]).toEqual([200, 'mct_']);
    expect(await whoAmI(String(body['access_token']))).toEqual([200, userId('anna'), 'LAPTOP']);
    const next = await chat.post('/refresh', { refresh_token: body['refresh_token'] });
    expect(next.status).toBe(200);
    expect(await isActive(token)).toBe(false);
  });

  test('keep devices and their keys when a user signs in on another device', async () => {
    const login = await chat.tryLogin('anna', PASSWORD, { device_id: 'NEW' });
    expect(login.status).toBe(200);
    await notifyHomeserver(service.core);
    const { token } = device('anna PHONE');
    const { body } = await ask('_matrix/client/v3/devices', token);
    const listed = Array.isArray(body['devices']) ? body['devices'] : [];
    expect(listed.map((one) => one.device_id).toSorted()).toEqual(['LAPTOP', 'NEW', 'PHONE']);
    expect(listed.find((one) => one.device_id === 'PHONE').display_name).toBe('PHONE of anna');
    const keys = await expectOk(ask('_matrix/client/v3/keys/query', token, { device_keys: { [userId('anna')]: [] } }));
    expect(keys).toMatchObject({
      device_keys: {
        [userId('anna')]: { PHONE: { keys: { 'curve25519:PHONE': 'a key', 'ed25519:PHONE': 'another key' } } },
      },
    });
  });

  test('sign in with their Synapse passwords, which are rehashed; locked and deactivated users cannot', async () => {
    const logIn = async (name: string, password = PASSWORD) => {
      const { status, body } = await chat.tryLogin(name, password);
      return [status, body['errcode']];
    };
    expect(await logIn('bruno', 'another password')).toEqual([403, 'M_FORBIDDEN']);
    expect(await logIn('bruno')).toEqual([200, undefined]);
    expect(await logIn('bruno')).toEqual([200, undefined]);
    expect(await logIn('locked')).toEqual([401, 'M_USER_LOCKED']);
    expect((await logIn('gone'))[0]).toBe(403);
    const [row] = await sql<{ version: number }>(
      service.database,
      `select scheme_version as version from user_passwords p join users u on u.id = p.user_id where username = 'bruno'`,
    );
    expect(row?.version).toBe(2);
  });

  test('end the session and its device in Synapse by signing out with a Synapse token', async () => {
    const { token } = device('bruno TABLET');
    expect((await chat.post('/logout', undefined, { authorization: `Bearer ${token}` })).status).toBe(200);
    expect(await isActive(token)).toBe(false);
    await notifyHomeserver(service.core);
    const { body } = await ask('_matrix/client/v3/devices', device('bruno PHONE').token);
    const listed = Array.isArray(body['devices']) ? body['devices'] : [];
    expect(listed.map((one) => one.device_id)).not.toContain('TABLET');
    expect(listed.map((one) => one.device_id)).toContain('PHONE');
  });

  async function isActive(token: string): Promise<boolean> {
    const response = await fetch(`${service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token }),
    });
    const body: Record<string, unknown> = await response.json();
    return body['active'] === true;
  }
});
