/**
 * The built program in an empty directory, without a configuration file or environment variables (operations 2, 10.1).
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '#platform/base/package-root.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { NODE_FLAGS, untilHealthy } from '../support/program.js';
import { type RunningProgram, runProgram } from './program.ts';

const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const PASSWORD = 'correct horse battery staple';

/**
 * The GET routes of the interface, with the status for a client without a session: pages, or redirects to the first
 * step.
 */
const ROUTES: Readonly<Record<string, number>> = {
  '/.well-known/openid-configuration': 200,
  '/.well-known/webfinger?resource=acct:ada@localhost': 200,
  '/.well-known/security.txt': 404,
  '/.well-known/change-password': 303,
  '/oauth2/keys.json': 200,
  '/oauth2/userinfo': 401,
  '/authorize?client_id=none': 400,
  [`/authorize/${ABSENT}`]: 404,
  [`/consent/${ABSENT}`]: 404,
  '/': 200,
  '/health': 200,
  '/login': 200,
  '/reauth': 303,
  '/register/password': 200,
  [`/register/steps/${ABSENT}/display-name`]: 404,
  [`/register/steps/${ABSENT}/verify-email`]: 404,
  [`/register/steps/${ABSENT}/finish`]: 404,
  [`/upstream/authorize/${ABSENT}`]: 404,
  [`/upstream/callback/${ABSENT}`]: 404,
  [`/upstream/link/${ABSENT}`]: 404,
  '/link': 200,
  [`/device/${ABSENT}`]: 404,
  '/recover': 200,
  [`/recover/progress/${ABSENT}`]: 303,
  '/account/': 303,
  '/account/sessions/browsers': 303,
  '/account/password/change': 303,
  '/account/password/recovery?ticket=none': 200,
  '/graphql?query={viewer{__typename}}': 200,
  '/graphql/playground': 200,
  '/api/spec.json': 200,
  '/api/doc/': 200,
  '/api/doc/oauth2-callback': 200,
  '/_chat/client/v3/login': 200,
  '/_chat/client/v3/login/sso/redirect?redirectUrl=https://app.example/': 303,
  '/_chat/client/v3/login/sso/redirect/?redirectUrl=https://app.example/': 303,
  [`/_chat/client/v3/login/sso/redirect/${ABSENT}?redirectUrl=https://app.example/`]: 303,
  [`/complete-compat-sso/${ABSENT}`]: 404,
};

let folder: string;
let port: number;
let base: string;
let service: RunningProgram;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-empty-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  port = await freePort();
  base = `http://localhost:${port}/`;
  service = await serve(port);
});

afterAll(async () => {
  await stop(service);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command as a user types it there. */
function latchkey(args: readonly string[], more: NodeJS.ProcessEnv = {}): RunningProgram {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:LATCHKEY|PG|PORT$)/.test(name));
  const flags = [...NODE_FLAGS, join(packageRoot, 'dist/main.js')];
  return runProgram(process.execPath, [...flags, ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(own), ...more },
  });
}

async function serve(at: number): Promise<RunningProgram> {
  const started = latchkey(['serve'], { PORT: String(at) });
  await untilHealthy(started.process, `http://localhost:${at}/`, { output: started.output });
  return started;
}

async function stop(running: RunningProgram): Promise<void> {
  running.process.kill('SIGTERM');
  expect(await running.ended, running.output()).toBe(0);
}

async function keys(): Promise<unknown> {
  return await (await fetch(`${base}oauth2/keys.json`)).json();
}

/** Signs in. @returns the heading of the start page */
async function signIn(at: string): Promise<string> {
  const browser = new Browser({ listener: at.slice(0, -1) });
  await browser.get('/login');
  await browser.submit({ username: 'ada', password: PASSWORD });
  await browser.follow();
  return browser.page.text;
}

test('every GET route of the interface answers', async () => {
  const responses = await Promise.all(
    Object.keys(ROUTES).map(async (path) => [path, (await fetch(new URL(path, base), { redirect: 'manual' })).status]),
  );
  expect(Object.fromEntries(responses)).toEqual(ROUTES);
  const page = await (await fetch(`${base}login`)).text();
  const [, stylesheet] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? [];
  expect((await fetch(new URL(stylesheet ?? '', base))).status).toBe(200);
});

test('the start-up lines show the URL in use', async () => {
  expect(await service.says(/ready at (\S+)/)).toBe(`http://localhost:${port}/`);
});

test('an administrator created at run time signs in there and at a second service of the directory', async () => {
  const made = latchkey(['manage', 'register-user', 'ada', '--admin', '--yes', '--password', PASSWORD]);
  expect(await made.ended, made.output()).toBe(0);
  expect(await signIn(base)).toContain('ada');
  const otherPort = await freePort();
  const other = await serve(otherPort);
  try {
    expect(await signIn(`http://localhost:${otherPort}/`)).toContain('ada');
  } finally {
    await stop(other);
  }
  const listed = latchkey(['manage', 'list-admin-users']);
  expect(await listed.ended).toBe(0);
  expect(listed.output()).toMatch(/^[0-9A-Z]{26}\tada$/m);
});

test('mails are written to the directory in the start-up lines, including recovery mails', async () => {
  const directory = await service.says(/mail transport file: emails are written to (\S+) and not sent/);
  const added = latchkey(['manage', 'add-email', 'ada', 'ada@example.org']);
  expect(await added.ended, added.output()).toBe(0);
  const browser = new Browser({ listener: base.slice(0, -1) });
  await browser.get('/recover');
  await browser.submit({ email: 'ada@example.org' });
  const mails = () => (existsSync(directory) ? readdirSync(directory) : []).map((name) => join(directory, name));
  await expect
    .poll(
      () =>
        mails()
          .map((file) => readFileSync(file, 'utf8'))
          .join(''),
      { timeout: 20_000 },
    )
    .toMatch(/^To: .*ada@example\.org/im);
});

test('a second service on the same port exits with 71 and a hint to choose another, and the first continues', async () => {
  const second = latchkey(['serve'], { PORT: String(port) });
  expect(await second.ended).toBe(71);
  expect(second.output()).toMatch(
    /cannot listen on .*EADDRINUSE.* choose another port with the variable PORT, .*http\.public_base .*http\.listeners/,
  );
  expect((await fetch(`${base}health`)).status).toBe(200);
});

test('its files are not accessible to others, and a second start has the same keys and users', async () => {
  const before = await keys();
  expect(open(join(folder, 'data'))).toEqual(process.getuid?.() === 0 ? ['data 711'] : []);
  await stop(service);
  service = await serve(port);
  expect(await keys()).toEqual(before);
  expect(await signIn(base)).toContain('ada');
});

/** Returns the files that are accessible to others than their owner. */
function open(directory: string): string[] {
  const names = ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })];
  return names.flatMap((name) => {
    const mode = statSync(join(directory, name), { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o077) === 0 ? [] : [`data${name} ${(mode & 0o777).toString(8)}`];
  });
}
