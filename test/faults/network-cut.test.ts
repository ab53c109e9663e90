/** A network between the service and its database that drops packets (security F-08, O-03, O-10). */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { NetworkLink } from '../support/network-link.js';
import { Program, stopProcess } from '../support/program.js';
import { registerUpToFinish } from '../support/registering.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const LONG_MS = 180_000;
/** `limits.handler_timeout` plus a margin for busy machines. */
const LONGEST_MS = 17_000;
/** After the statement timeout and three seconds, existing connections count as lost. */
const GIVEN_UP_MS = 13_500;
const HEALED = { timeout: 5_000, interval: 50 };

interface Instance {
  readonly base: string;
  readonly cable: NetworkLink;
  readonly program: Program;
  readonly process: ChildProcess;
}

let folder: string;
let db: TestDatabase;
const instances: Instance[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-cut-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
});

afterAll(async () => {
  for (const { cable } of instances) cable.mend();
  await Promise.all(instances.map(({ process }) => stopProcess(process)));
  for (const { cable } of instances) cable.close();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function startInstance(database: Readonly<Record<string, unknown>> = {}): Promise<Instance> {
  const {
    host = '127.0.0.1',
    port: databasePort = 5432,
    user,
    password,
    database: name,
  } = parseConnectionUri(db.connectionString);
  const cable = new NetworkLink({ host, port: databasePort });
  const [linkPort, port] = [await freePort(), await freePort()];
  await cable.listen(linkPort);
  const base = `http://127.0.0.1:${port}/`;
  const account = [user, password].filter((part) => part !== undefined).map(encodeURIComponent);
  const program = new Program(
    folder,
    {
      data_dir: join(folder, `data-${port}`),
      database: {
        uri: `postgresql://${account.join(':')}@127.0.0.1:${linkPort}/${name}?sslmode=disable`,
        ...database,
      },
      http: {
        public_base: base,
        listeners: [
          { resources: ['discovery', 'human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] },
        ],
      },
      secrets: { encryption: 'ab'.repeat(32) },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
          redirect_uris: [CALLBACK],
          first_party: true,
        },
      ],
      account: { password_registration_enabled: true },
      passwords: {
        minimum_complexity: 0,
        schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }],
      },
      logging: { level: 'error' },
    },
    { name: `${port}.json` },
  );
  const instance = { base, cable, program, process: await program.serve(base) };
  instances.push(instance);
  return instance;
}

interface TestResponse {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Throws when no response arrives in time. */
async function post({ base }: Instance, path: string, fields: Record<string, string>): Promise<TestResponse> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, connection: 'close' },
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(LONGEST_MS),
  });
  const text = await response.text();
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, body: text === '' ? {} : JSON.parse(text) };
}

async function issueToken(instance: Instance): Promise<string> {
  const { status, body } = await post(instance, 'oauth2/token', { grant_type: 'client_credentials' });
  expect(status).toBe(200);
  return String(body['access_token']);
}

async function statusOf({ base }: Instance, path: string): Promise<number> {
  const response = await fetch(base + path, { signal: AbortSignal.timeout(LONGEST_MS) });
  await response.arrayBuffer();
  return response.status;
}

async function countRows(from: string): Promise<number> {
  const [row] = await sql<{ count: number }>(db.database, `select count(*)::integer as count from ${from}`);
  return row?.count ?? 0;
}

describe('for longer than the statement timeout', () => {
  test.concurrent.for<[string, (cable: NetworkLink) => void]>([
    ['traffic to the database', (cable: NetworkLink) => cable.cut(['requests'])],
    ['traffic from the database', (cable: NetworkLink) => cable.cut(['answers'])],
    ['all traffic in both directions', (cable: NetworkLink) => cable.cut()],
    ['traffic on connections that a middlebox forgot', (cable: NetworkLink) => cable.forgetConnections()],
  ])(
    'F-08: %s is dropped: 503 in time, acknowledged changes hold, and service within 5 s of its end',
    {
      timeout: LONG_MS,
    },
    async ([, drop], { expect }) => {
      const instance = await startInstance();
      const { cable } = instance;
      const tokens = await Promise.all(Array.from({ length: 20 }, () => issueToken(instance)));
      const [revoked = '', ...live] = tokens;
      expect((await post(instance, 'oauth2/revoke', { token: revoked })).status).toBe(200);
      drop(cable);
      const startedAt = performance.now();
      const responses: TestResponse[] = [];
      // Each visitor sends requests until the old connections have been given up.
      await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          do {
            const response = await (index % 2 === 0
              ? post(instance, 'oauth2/token', { grant_type: 'client_credentials' })
              : post(instance, 'oauth2/introspect', { token: revoked }));
            responses.push(response);
            if (index % 2 === 0 && response.status === 200) live.push(String(response.body['access_token']));
            if (response.status === 200) await pause(100);
          } while (performance.now() - startedAt < GIVEN_UP_MS);
        }),
      );
      expect(await statusOf(instance, '.well-known/openid-configuration')).toBe(200);
      expect(await statusOf(instance, 'oauth2/keys.json')).toBe(200);
      cable.mend();
      await expect.poll(async () => (await statusOf(instance, 'health')) === 200, HEALED).toBe(true);
      await issueToken(instance);
      const failed = responses.filter(({ status }) => status !== 200);
      expect(failed.length).toBeGreaterThan(0);
      expect(failed.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([]);
      expect(responses.filter(({ body }) => body['active'] === true)).toEqual([]);
      for (const token of live)
        expect((await post(instance, 'oauth2/introspect', { token })).body['active']).toBe(true);
    },
  );
});

describe('at the moment of a commit, whose response is lost', () => {
  let instance: Instance;
  beforeAll(async () => {
    // Gives up a silent connection after four seconds.
    instance = await startInstance({ statement_timeout: '1s' });
    await instance.program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
  });

  const newBrowser = (): Browser => new Browser({ listener: instance.base.slice(0, -1), publicBase: instance.base });

  /** Runs `work` while any connection that sends `text` stops receiving responses. */
  async function whileSilentAfter<T>(text: string, work: () => Promise<T>): Promise<T> {
    instance.cable.silenceAfter(text);
    try {
      return await work();
    } finally {
      instance.cable.silenceAfter(undefined);
    }
  }

  test('F-08: a registration gets 503, and a retry does not create a second account', async () => {
    const browser = newBrowser();
    const finish = await registerUpToFinish(browser, 'bruno');
    const { status, headers } = await whileSilentAfter('latchkey-commit', () => browser.get(finish));
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    // The account was stored, but the user received no confirmation.
    expect(await countRows(`users where username = 'bruno'`)).toBe(1);
    await browser.get(finish);
    expect(browser.page.status).toBeLessThan(400);
    expect(await countRows(`users where username = 'bruno'`)).toBe(1);
    // Whatever the second response was, the user can sign in.
    const later = newBrowser();
    await later.get('/login');
    expect((await later.submit({ username: 'bruno', password: 'seven purple lanterns swim' })).status).toBe(303);
  });

  test('F-08: a code is exchanged once: the client that got 503 is refused when it retries', async () => {
    const browser = newBrowser();
    const asking = { client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
    await browser.open(`/authorize?${new URLSearchParams(asking)}`);
    await browser.submit({ username: 'amira', password: PASSWORD });
    const code = new URL((await browser.follow()).location ?? '').searchParams.get('code') ?? '';
    const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
    const before = await countRows('oauth2_sessions where user_id is not null');
    const lost = await whileSilentAfter('insert into oauth2_sessions', () => post(instance, 'oauth2/token', grant));
    expect(lost).toMatchObject({ status: 503, retryAfter: '5' });
    const again = await post(instance, 'oauth2/token', grant);
    // A code works once: the client has to repeat the authorization.
    expect(again.body).toMatchObject({ error: 'invalid_grant' });
    expect(await countRows('oauth2_sessions where user_id is not null')).toBe(before + 1);
  });

  test('F-08: a revocation gets 503, and holds at the latest after a retry', async () => {
    const token = await issueToken(instance);
    const lost = await whileSilentAfter('revoked_at', () => post(instance, 'oauth2/revoke', { token }));
    expect(lost).toMatchObject({ status: 503, retryAfter: '5' });
    expect((await post(instance, 'oauth2/revoke', { token })).status).toBe(200);
    expect((await post(instance, 'oauth2/introspect', { token })).body['active']).toBe(false);
  });
});
