/** Sign-ins through an upstream provider while processes are killed (browser-flows 5.10 and 8, security O-01, O-02). */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';
import { startUpstreamPeer, type UpstreamPeer } from '../support/upstream-peer.ts';

const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const KILLS = 4;
const AT_ONCE = 4;
/** Tables that the transaction of a new account writes to, in this order. */
const TABLES = ['users', 'user_sessions', 'audit_events'];
const WAIT = { timeout: 60_000, interval: 20 };

let folder: string;
let base: string;
let db: TestDatabase;
let peer: UpstreamPeer;
let program: Program;
let service: ChildProcess | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-upstream-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
  peer = await startUpstreamPeer();
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  const plenty = { burst: 1000 };
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    database: { uri: db.connectionString },
    http: {
      public_base: base,
      listeners: [{ resources: ['human', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    upstream_oauth2: {
      providers: [
        {
          ...{ id: PROVIDER, human_name: 'Harbour', issuer: peer.issuer, client_id: 'latchkey' },
          ...{ client_secret: 'x'.repeat(32), token_endpoint_auth_method: 'client_secret_basic' },
        },
      ],
    },
    rate_limiting: { upstream: { per_ip: plenty }, registration: plenty, registration_check: plenty },
    logging: { level: 'error' },
  });
});

afterEach(async () => {
  peer.handlers.clear();
  if (service !== undefined) await stopProcess(service);
  service = undefined;
});

afterAll(async () => {
  await peer.stop();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<ChildProcess> {
  service = await program.serve(base);
  return service;
}

/** Kills the process as the operating system does, without any cleanup. */
async function kill(): Promise<void> {
  if (service !== undefined) await killProcess(service);
  service = undefined;
}

function newBrowser(): Browser {
  return new Browser({ listener: base.slice(0, -1), publicBase: base });
}

/** Signs in at the provider. @returns the callback URL */
async function visitProvider(browser: Browser, subject: string): Promise<string> {
  await browser.get(`/upstream/authorize/${PROVIDER}`);
  return peer.signIn(browser.page.location ?? '', { claims: { sub: subject } });
}

/** @returns the URL of the last step */
async function comeBack(browser: Browser, subject: string): Promise<string> {
  const { status, location } = await browser.get(await visitProvider(browser, subject));
  expect(status).toBe(303);
  return location ?? '';
}

/** Completes the registration up to the last step. @returns the URL of `finish` */
async function registerUpToFinish(browser: Browser, username: string): Promise<string> {
  expect((await browser.submit({ username })).status).toBe(303);
  await browser.follow();
  const { status, location } = await browser.submit({ action: 'skip' });
  expect(status).toBe(303);
  return location ?? '';
}

async function register(subject: string): Promise<void> {
  const browser = newBrowser();
  await browser.get(await comeBack(browser, subject));
  await browser.get(await registerUpToFinish(browser, subject));
  expect(await isSignedIn(browser, subject)).toBe(true);
}

async function isSignedIn(browser: Browser, username: string): Promise<boolean> {
  const { status, text, forms } = await browser.get('/');
  expect(status).toBe(200);
  return text.includes(username) && forms.some(({ action }) => action === '/logout');
}

/** Rows that exist for a user, whose name is also their subject. */
interface Traces {
  readonly accounts: number;
  /** Accounts linked to the subject at the provider. */
  readonly owners: number;
  readonly sessions: number;
  /** Consumed upstream sign-ins. */
  readonly consumed: number;
  readonly events: number;
}

const NOTHING: Traces = { accounts: 0, owners: 0, sessions: 0, consumed: 0, events: 0 };
const WHOLE: Traces = { accounts: 1, owners: 1, sessions: 1, consumed: 1, events: 1 };

async function tracesOf(name: string): Promise<Traces | undefined> {
  const [traces] = await sql<Traces>(
    db.database,
    `select (select count(*)::integer from users where username = $1::text) as accounts,
            (select count(*)::integer from upstream_links l join users u on u.id = l.user_id
              where l.subject = $1::text and u.username = $1::text) as owners,
            (select count(*)::integer from user_sessions s join users u on u.id = s.user_id
              where u.username = $1::text) as sessions,
            (select count(*)::integer from upstream_authorizations a join upstream_links l on l.id = a.link_id
               join user_sessions s on s.id = a.user_session_id and s.user_id = l.user_id
              where l.subject = $1::text and a.consumed_at is not null) as consumed,
            (select count(*)::integer from audit_events e join users u on u.id = e.user_id
              where u.username = $1::text and e.kind = 'registered') as events`,
    [name],
  );
  return traces;
}

/** Waits until the database has rolled back the killed process's transactions. */
async function untilAlone(): Promise<void> {
  const others = `select pid from pg_stat_activity
                   where datname = current_database() and backend_type = 'client backend' and xact_start is not null
                     and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await sql(db.database, others)).length, WAIT).toBe(0);
}

test("killed after the provider's callback: no sign-in, and the last step works after the restart (O-01, O-02)", async () => {
  await start();
  await register('amira');
  const [amira, bela] = [newBrowser(), newBrowser()];
  await amira.get(await comeBack(amira, 'amira'));
  const belasStep = await comeBack(bela, 'bela');
  await kill();
  expect(await tracesOf('amira')).toEqual(WHOLE);
  expect(await tracesOf('bela')).toEqual(NOTHING);

  await start();
  // The killed process rendered the form.
  const step = amira.page;
  expect(await isSignedIn(newBrowserLike(amira), 'amira')).toBe(false);
  expect(await isSignedIn(newBrowserLike(bela), 'bela')).toBe(false);
  expect(amira.page).toBe(step);
  expect(await amira.submit()).toMatchObject({ status: 303, location: base });
  expect(await isSignedIn(amira, 'amira')).toBe(true);
  expect(await tracesOf('amira')).toEqual({ ...WHOLE, sessions: 2, consumed: 2 });

  expect((await bela.get(belasStep)).status).toBe(200);
  expect(await tracesOf('bela')).toEqual(NOTHING);
  await bela.get(await registerUpToFinish(bela, 'bela'));
  expect(await isSignedIn(bela, 'bela')).toBe(true);
  expect(await tracesOf('bela')).toEqual(WHOLE);
  expect(await bela.get(belasStep)).toMatchObject({ status: 404, errorCodes: ['upstream_link_not_found'] });
}, 180_000);

/** Creates a browser with the current cookies. The other browser's page stays unchanged. */
function newBrowserLike(browser: Browser): Browser {
  const like = newBrowser();
  for (const [name, value] of browser.cookies) like.cookies.set(name, value);
  return like;
}

test('killed after the callback, with cookies lost: only a new sign-in continues, to one account (O-02)', async () => {
  await start();
  const step = await comeBack(newBrowser(), 'chen');
  await kill();
  await start();
  const browser = newBrowser();
  expect(await browser.get(step)).toMatchObject({ status: 404, errorCodes: ['upstream_link_not_found'] });
  expect(await tracesOf('chen')).toEqual(NOTHING);
  await register('chen');
  expect(await tracesOf('chen')).toEqual(WHOLE);
}, 180_000);

test('killed during a provider request: its response counts only once, and the sign-in can be restarted (O-01, O-02)', async () => {
  const dying = await start();
  const browser = newBrowser();
  const callback = await visitProvider(browser, 'dora');
  // Kills the process between its token request and the handling of the response.
  peer.handlers.set('/token', (request) => {
    dying.kill('SIGKILL');
    request.socket.destroy();
  });
  await expect(browser.get(callback)).rejects.toThrow();
  await kill();
  peer.handlers.clear();
  await start();
  const again = await browser.get(callback);
  expect(again).toMatchObject({ status: 400, errorCodes: ['upstream_session_used'] });
  expect(await tracesOf('dora')).toEqual(NOTHING);
  expect(await sql(db.database, `select from upstream_links where subject = 'dora'`)).toEqual([]);
  await browser.get(await comeBack(browser, 'dora'));
  await browser.get(await registerUpToFinish(browser, 'dora'));
  expect(await isSignedIn(browser, 'dora')).toBe(true);
  expect(await tracesOf('dora')).toEqual(WHOLE);
}, 180_000);

test(`${KILLS} kills while provider registrations finish: acknowledged ones have account, link and session, others all or nothing (O-01, O-02)`, async () => {
  let acknowledged = 0;
  for (let round = 0; round < KILLS; round += 1) {
    const running = await start();
    const users: { readonly name: string; readonly browser: Browser; readonly finish: string }[] = [];
    for (let index = 0; index < AT_ONCE; index += 1) {
      const browser = newBrowser();
      const name = `person${round}-${index}`;
      await browser.get(await comeBack(browser, name));
      users.push({ name, browser, finish: await registerUpToFinish(browser, name) });
    }
    const enough = randomInt(1, AT_ONCE);
    let count = 0;
    const outcomes = await Promise.all(
      users.map(async (user) => {
        const isDecided = await finishes(user.browser, user.finish);
        if (isDecided) count += 1;
        // The other requests are still in progress.
        if (count >= enough) running.kill('SIGKILL');
        return { ...user, isAnswered: isDecided };
      }),
    );
    await kill();
    await untilAlone();
    await start();
    for (const user of outcomes) await expectAllOrNothing(user);
    acknowledged += count;
    await kill();
  }
  expect(acknowledged).toBeGreaterThanOrEqual(KILLS);
}, 300_000);

/** @returns whether the service acknowledged the new account */
async function finishes(browser: Browser, finish: string): Promise<boolean> {
  try {
    return (await browser.get(finish)).status === 303;
  } catch {
    return false;
  }
}

/** Checks the state after a kill. In the end, the user has the account in either case. */
async function expectAllOrNothing({
  name,
  browser,
  finish,
  isAnswered: isDecided,
}: {
  readonly name: string;
  readonly browser: Browser;
  readonly finish: string;
  readonly isAnswered: boolean;
}): Promise<void> {
  const traces = await tracesOf(name);
  const isWhole = isDecided || traces?.accounts === 1;
  expect([name, traces]).toEqual([name, isWhole ? WHOLE : NOTHING]);
  if (isDecided) {
    expect(await isSignedIn(browser, name)).toBe(true);
    return;
  }
  if (isWhole) {
    // The session cookie was lost with the response, so the user signs in through the provider.
    await browser.get(await comeBack(browser, name));
    expect((await browser.submit()).status).toBe(303);
  } else {
    expect((await browser.get(finish)).status).toBe(303);
  }
  expect(await isSignedIn(browser, name)).toBe(true);
  expect(await tracesOf(name)).toMatchObject({ accounts: 1, owners: 1, events: 1 });
}

test.each(TABLES)(
  'killed while a registration through a provider writes %s: nothing is stored (O-02)',
  async (table) => {
    await start();
    const browser = newBrowser();
    const name = `writer-of-${table.replace('_', '-')}`;
    await browser.get(await comeBack(browser, name));
    const finish = await registerUpToFinish(browser, name);
    const holder = new pg.Client({ connectionString: db.connectionString });
    await holder.connect();
    try {
      await holder.query(`begin; lock table ${table} in share mode`);
      const finishing = finishes(browser, finish);
      await expect.poll(async () => (await holder.query(WAITING, [table])).rows.length, WAIT).toBeGreaterThan(0);
      await kill();
      expect(await finishing).toBe(false);
      // Otherwise, the server would still execute the received statement.
      await holder.query(`select pg_terminate_backend(pid) from (${WAITING}) as waiting`, [table]);
    } finally {
      await holder.end();
    }
    await untilAlone();
    expect(await tracesOf(name)).toEqual(NOTHING);
    await start();
    await expectAllOrNothing({ name, browser, finish, isAnswered: false });
    expect(await tracesOf(name)).toEqual(WHOLE);
  },
  180_000,
);

const WAITING = `select pid from pg_locks where not granted and relation = $1::regclass`;
