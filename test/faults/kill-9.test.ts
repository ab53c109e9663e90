import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

const ROUNDS = 30;
const WORKERS = 4;
const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';

/** What the client of one session has received, recorded before it sends the next request. */
interface Session {
  refreshToken: string;
  accessToken: string;
  /** A refresh is unanswered, so its outcome is unknown. */
  isRefreshing: boolean;
}

/** The client's own tokens: those it has received, and those with an acknowledged revocation. */
const live = new Set<string>();
const revoked = new Set<string>();
/** Tokens with an unanswered revocation. */
const uncertain = new Set<string>();
const sessions: Session[] = [];

let folder: string;
let base: string;
let program: Program;
let service: ChildProcess | undefined;
let isUnderLoad = false;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-kill-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base,
      listeners: [
        {
          name: 'web',
          resources: ['discovery', 'human', 'oauth', 'health'],
          binds: [{ address: `127.0.0.1:${port}` }],
        },
      ],
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
    rate_limiting: { login: { per_ip: { burst: 100, per_second: 100 } } },
    experimental: { access_token_ttl: 86_400 },
    oauth: { refresh_grace: 0 },
    logging: { level: 'error' },
  });
  await start();
  await program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
  for (let count = 0; count < WORKERS; count += 1) sessions.push(await signIn());
});

afterAll(async () => {
  if (service !== undefined) await stopProcess(service);
  rmSync(folder, { recursive: true, force: true });
});

test(`${ROUNDS} kills of the service and its database: every acknowledged token works, every acknowledged revocation holds (O-01 to O-04)`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    isUnderLoad = true;
    const load = [...sessions.map(refreshUntilKilled), issueUntilKilled(), issueUntilKilled()];
    await pause(randomInt(20, 400));
    isUnderLoad = false;
    await killEverything();
    await Promise.all(load);
    await start();
    await compareWithJournal(round);
  }
  expect(live.size + revoked.size).toBeGreaterThan(ROUNDS);
}, 300_000);

async function refreshUntilKilled(session: Session): Promise<void> {
  while (isUnderLoad) {
    session.isRefreshing = true;
    const response = await post('oauth2/token', { grant_type: 'refresh_token', refresh_token: session.refreshToken });
    if (response === undefined) return;
    keep(session, response.body);
  }
}

async function issueUntilKilled(): Promise<void> {
  while (isUnderLoad) {
    const issued = await post('oauth2/token', { grant_type: 'client_credentials' });
    if (issued === undefined) return;
    const token = String(issued.body['access_token']);
    live.add(token);
    if (randomInt(2) === 0) continue;
    live.delete(token);
    uncertain.add(token);
    const ended = await post('oauth2/revoke', { token });
    if (ended === undefined) return;
    uncertain.delete(token);
    revoked.add(token);
  }
}

function keep(session: Session, body: Readonly<Record<string, unknown>>): void {
  session.refreshToken = String(body['refresh_token']);
  session.accessToken = String(body['access_token']);
  session.isRefreshing = false;
}

async function compareWithJournal(round: number): Promise<void> {
  for (const [index, session] of sessions.entries()) {
    // An unanswered refresh may have rotated the tokens, which correctly deactivates the previous access token.
    if (!session.isRefreshing)
      expect(await isActive(session.accessToken), `round ${round}, session ${index}`).toBe(true);
    const response = await post('oauth2/token', { grant_type: 'refresh_token', refresh_token: session.refreshToken });
    expect(response, `round ${round}, session ${index}: signed out by a lost answer`).toMatchObject({ status: 200 });
    if (response !== undefined) keep(session, response.body);
    expect(await isActive(session.accessToken)).toBe(true);
  }
  for (const token of sample(live)) expect(await isActive(token), `round ${round}: an issued token is lost`).toBe(true);
  for (const token of sample(revoked))
    expect(await isActive(token), `round ${round}: a revocation is lost`).toBe(false);
}

/** Returns the newest tokens, which a crash could have lost, and a few old ones. */
function sample(tokens: ReadonlySet<string>): string[] {
  const all = [...tokens];
  return [...all.slice(-20), ...all.slice(0, 5)];
}

async function isActive(token: string): Promise<boolean> {
  const response = await post('oauth2/introspect', { token });
  return response?.body['active'] === true;
}

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns undefined when the service or its database stopped before the response. */
async function post(path: string, fields: Record<string, string>): Promise<TestResponse | undefined> {
  try {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION },
      body: new URLSearchParams(fields),
    });
    const text = await response.text();
    if (response.status === 503) return undefined;
    expect(response.status, text).toBe(200);
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function signIn(): Promise<Session> {
  const browser = new Browser({ listener: base.slice(0, -1), publicBase: base });
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
  });
  await browser.open(`/authorize?${query}`);
  await browser.submit({ username: 'amira', password: PASSWORD });
  const page = await browser.follow();
  const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
  const response = await post('oauth2/token', { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  if (response?.status !== 200) throw new Error(`no tokens: ${JSON.stringify(response)}`);
  const session = { refreshToken: '', accessToken: '', isRefreshing: false };
  keep(session, response.body);
  return session;
}

async function start(): Promise<void> {
  service = await program.serve(base);
}

/** Kills Node.js and all database processes at the same time, like a power failure. */
async function killEverything(): Promise<void> {
  const killed = service;
  if (killed === undefined) return;
  const pids = readFileSync(join(folder, 'data', 'db', 'postmaster.pid'), 'utf8').split('\n');
  const ended = new Promise((resolve) => killed.once('exit', resolve));
  // The server leads a process group that includes its children.
  process.kill(-Number(pids[0]), 'SIGKILL');
  killed.kill('SIGKILL');
  await ended;
}
