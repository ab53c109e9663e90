import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { administer } from '../support/administer.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { freePort } from '../support/free-port.js';
import { startPostgresServer } from '../support/postgres-server.ts';
import { Program, stopProcess } from '../support/program.js';
import { startService, type TestService } from '../support/service.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';

let service: TestService;
let application: ChatOAuthClient;

beforeAll(async () => {
  service = await startService(
    { clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })] },
    { expectedErrors: ['" 503 ', ' db.', 'database'] },
  );
  application = new ChatOAuthClient(service, CLIENT);
});
afterAll(async () => await service.stop());

/** Makes the server reject or accept new connections. Terminates the existing ones. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const name = new URL(service.connectionString).pathname.slice(1);
  await administer(inject('testDatabases').adminUri, `alter database ${name} with allow_connections ${isAllowed}`);
  await administer(
    inject('testDatabases').adminUri,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

const ask = () => application.post('/oauth2/token', { grant_type: 'client_credentials' });
const statusOf = async (path: string) => (await fetch(service.address + path)).status;

test('F-11: a database that refuses connections: 503 with the reason in the log, and recovery without a restart', async () => {
  const { body } = await ask();
  await allowConnections(false);
  try {
    await expect.poll(async () => (await ask()).status).toBe(503);
    const refused = await ask();
    expect([refused.headers.get('retry-after'), refused.body['error']]).toEqual(['5', 'temporarily_unavailable']);
    expect(await statusOf('/health')).toBe(503);
    expect(await statusOf('/health?probe=live')).toBe(200);
    expect(await statusOf('/oauth2/keys.json')).toBe(200);
    expect(service.logLines().join('\n')).toContain('is not currently accepting connections');
  } finally {
    await allowConnections(true);
  }
  await expect.poll(async () => (await ask()).status, { timeout: 5_000 }).toBe(200);
  const { body: introspection } = await application.post('/oauth2/introspect', { token: String(body['access_token']) });
  expect(introspection['active']).toBe(true);
});

const LONG_MS = 180_000;
const HEALED = { timeout: 5_000, interval: 50 };
const PATIENT = { timeout: 30_000, interval: 50 };
const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';
const AT_FIRST = 'the-password-at-first';
const NEXT = 'the-password-of-later';

/** Starts a server that requires a password from the service's role, and a service that reads it from a file. */
async function startWithPassword() {
  const server = await startPostgresServer();
  await administer(server.uri, `create role latchkey login password '${AT_FIRST}'`);
  await administer(server.uri, 'create database latchkey owner latchkey');
  writeFileSync(
    join(server.host, 'data', 'pg_hba.conf'),
    `local all ${server.user} trust\nlocal all all scram-sha-256\n`,
  );
  await administer(server.uri, 'select pg_reload_conf()');
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-password-'));
  chmodSync(folder, 0o711);
  const file = join(folder, 'password');
  writeFileSync(file, AT_FIRST, { mode: 0o600 });
  const port = await freePort();
  const base = `http://127.0.0.1:${port}/`;
  const log = join(folder, 'log');
  const program = new Program(folder, {
    data_dir: join(folder, 'data'),
    database: {
      ...{ socket: server.host, port: server.port, username: 'latchkey', database: 'latchkey' },
      password_file: file,
    },
    http: {
      public_base: base,
      listeners: [{ resources: ['discovery', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    secrets: { encryption: 'ab'.repeat(32) },
    clients: [{ client_id: CLIENT, client_auth_method: 'client_secret_basic', client_secret: CLIENT_SECRET }],
    logging: { output: log },
  });
  return { server, program, base, file, log: () => readFileSync(log, 'utf8'), folder };
}

test('F-11: a password that was changed: 503 and what to do, until it is changed back or reloaded', {
  timeout: LONG_MS,
}, async () => {
  const { server, program, base, file, log, folder } = await startWithPassword();
  const healthOf = async (probe = '') => (await fetch(`${base}health${probe}`)).status;
  const issueToken = async () => {
    const response = await fetch(`${base}oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${CLIENT}:${CLIENT_SECRET}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    await response.arrayBuffer();
    return [response.status, response.headers.get('retry-after')];
  };
  const change = (password: string) => administer(server.uri, `alter role latchkey password '${password}'`);
  const endSessions = () =>
    administer(server.uri, `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'latchkey'`);
  const service = await program.serve(base);
  try {
    expect(await issueToken()).toEqual([200, null]);
    await change(NEXT);
    // Existing connections are already authenticated.
    expect(await issueToken()).toEqual([200, null]);
    await endSessions();
    await expect.poll(issueToken, PATIENT).toEqual([503, '5']);
    await expect.poll(() => healthOf(), PATIENT).toBe(503);
    expect(await healthOf('?probe=live')).toBe(200);
    expect((await fetch(`${base}oauth2/keys.json`)).status).toBe(200);
    const line = /WARN db\.lost .*28P01.*/.exec(log())?.[0];
    expect(line).toContain('Check user, password and pg_hba.conf. A changed password takes effect after a reload');

    await change(AT_FIRST);
    await expect.poll(() => healthOf(), HEALED).toBe(200);
    expect(service.exitCode).toBe(null);

    // In the documented order, the change causes no errors.
    writeFileSync(file, NEXT, { mode: 0o600 });
    service.kill('SIGHUP');
    await expect.poll(log, PATIENT).toMatch(/INFO reload configuration reloaded.* changed="?database\.password/);
    expect(log()).not.toContain('need a restart');
    await endSessions();
    await expect.poll(issueToken, HEALED).toEqual([200, null]);
    await change(NEXT);
    await endSessions();
    await expect.poll(issueToken, HEALED).toEqual([200, null]);
    // In the reverse order, only sessions that end between the two steps are affected.
    await change(AT_FIRST);
    writeFileSync(file, AT_FIRST, { mode: 0o600 });
    service.kill('SIGHUP');
    await endSessions();
    await expect.poll(issueToken, HEALED).toEqual([200, null]);
    expect(log()).not.toContain(AT_FIRST);
    expect(log()).not.toContain(NEXT);
  } finally {
    await stopProcess(service);
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
