/** A process that is killed after the commit of a refresh and before its response (oauth 20 fact 3). */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { NetworkLink } from '../support/network-link.js';
import { Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
/**
 * Part of the statement that consumes a refresh token. A connection sends the text when it first runs the statement.
 */
const CONSUMING = 'set consumed_at';

let folder: string;
let base: string;
let db: TestDatabase;
let cable: NetworkLink;
let program: Program;
let service: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-lost-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
  const target = parseConnectionUri(db.connectionString);
  const [proxyPort, ownPort] = [await freePort(), await freePort()];
  cable = new NetworkLink({ host: target.host ?? '127.0.0.1', port: target.port ?? 5432 });
  await cable.listen(proxyPort);
  base = `http://127.0.0.1:${ownPort}/`;
  const account = [target.user, target.password].filter((part) => part !== undefined).map(encodeURIComponent);
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    database: { uri: `postgresql://${account.join(':')}@127.0.0.1:${proxyPort}/${target.database}?sslmode=disable` },
    http: {
      public_base: base,
      listeners: [{ resources: ['human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${ownPort}` }] }],
    },
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: 'a-secret-of-at-least-16-characters',
        redirect_uris: [CALLBACK],
        first_party: true,
      },
    ],
  });
  service = await program.serve(base);
  await program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});
afterAll(async () => {
  await stopProcess(service);
  cable.close();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(path: string, fields: Record<string, string>): Promise<TestResponse> {
  const headers = { authorization: AUTHORIZATION };
  const response = await fetch(base + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return { status: response.status, body: await response.json() };
}

async function refresh(token: unknown): Promise<TestResponse> {
  return await post('oauth2/token', { grant_type: 'refresh_token', refresh_token: String(token) });
}

async function signIn(): Promise<TestResponse> {
  const browser = new Browser({ listener: base.slice(0, -1), publicBase: base });
  const asking = { client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
  await browser.open(`/authorize?${new URLSearchParams(asking)}`);
  await browser.submit({ username: 'amira', password: PASSWORD });
  const code = new URL((await browser.follow()).location ?? '').searchParams.get('code') ?? '';
  return await post('oauth2/token', { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
}

async function consumed(): Promise<number> {
  const where = 'oauth2_refresh_tokens where consumed_at is not null';
  const [row] = await sql<{ count: number }>(db.database, `select count(*)::integer as count from ${where}`);
  return row?.count ?? 0;
}

test('the client repeats the refresh at the next process and stays signed in', async () => {
  const { body } = await signIn();
  cable.silenceAfter(CONSUMING);
  const lost = refresh(body['refresh_token']).then(
    () => 'answered',
    () => 'lost',
  );
  while ((await consumed()) === 0) await pause(5);
  await stopProcess(service, 'SIGKILL');
  expect(await lost).toBe('lost');
  cable.silenceAfter(undefined);
  service = await program.serve(base);

  const again = await refresh(body['refresh_token']);
  expect(again).toMatchObject({ status: 200 });
  expect(await consumed()).toBe(1);
  const { access_token, refresh_token } = again.body;
  expect(await post('oauth2/introspect', { token: String(access_token) })).toMatchObject({ body: { active: true } });
  expect(await refresh(refresh_token)).toMatchObject({ status: 200 });
});
