import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const DEADLINE_MS = 30_000;

/** Two running instances on one data directory. */
let folder: string;
const bases: string[] = [];
const programs: Program[] = [];
const services: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-root-rotation-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const ports = [await freePort(), await freePort()];
  const client = {
    client_id: CLIENT_ID,
    client_auth_method: 'client_secret_basic',
    client_secret: CLIENT_SECRET,
    redirect_uris: [CALLBACK],
    first_party: true,
  };
  for (const [index, port] of ports.entries()) {
    bases.push(`http://127.0.0.1:${port}/`);
    const listeners = [
      { resources: ['discovery', 'human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] },
    ];
    const http = { public_base: `http://127.0.0.1:${ports[0]}/`, listeners };
    const settings = { data_dir: join(folder, 'data'), http, clients: [client] };
    programs.push(new Program(folder, settings, { name: `latchkey-${index}.json` }));
  }
  await start();
  await programs[0]?.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});

afterAll(async () => {
  await Promise.all(services.map((service) => stopProcess(service)));
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  services.push(...(await Promise.all(programs.map((program, index) => program.serve(bases[index] ?? '')))));
}

const keyFile = (name: string): string => join(folder, 'data', name);
const rootKey = (): string => readFileSync(keyFile('encryption.key'), 'utf8');

async function rotate(): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse((await programs[0]?.run(['--json', 'keys', 'rotate-encryption'])) ?? '');
}

/** An unmodified client, and a user who stays signed in in a browser. */
async function signIn() {
  const issuer = bases[0] ?? '';
  const config = await oidc.discovery(new URL(issuer), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), {
    execute: [oidc.allowInsecureRequests],
  });
  const browser = new Browser({ listener: issuer.slice(0, -1), publicBase: issuer });
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  await browser.open(address.href);
  await browser.submit({ username: 'amira', password: PASSWORD });
  const page = await browser.follow();
  const tokens = await oidc.authorizationCodeGrant(config, new URL(page.location ?? ''), {
    pkceCodeVerifier: verifier,
  });
  return { config, browser, refreshToken: tokens.refresh_token ?? '' };
}

async function isSignedIn(browser: Browser): Promise<boolean> {
  const query = new URLSearchParams({
    ...{ client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', prompt: 'none' },
  });
  const silent = await browser.get(`/authorize?${query}`);
  return new URL(silent.location ?? '').searchParams.has('code');
}

test('a new root key while two instances run: users stay signed in, secrets and refresh tokens stay valid, and the former key can be removed (S-166, 3.12)', async () => {
  const { config, browser, refreshToken } = await signIn();
  const before = rootKey();
  const report = await rotate();
  expect(report).toMatchObject({
    status: 'done',
    unreadable: expect.toSatisfy((count) => count === null || count === 0),
    former_keys: keyFile('encryption.previous'),
    cookies_until: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  });
  expect(rootKey()).not.toBe(before);
  expect(readFileSync(keyFile('encryption.previous'), 'utf8')).toBe(before);
  expect(existsSync(keyFile('encryption.next.key'))).toBe(false);
  const replaced = rootKey();
  expect(await rotate()).toMatchObject({ status: 'unchanged', unreadable: null });
  expect(rootKey(), 'a call that is repeated').toBe(replaced);

  expect(await isSignedIn(browser)).toBe(true);
  const { refresh_token: second = '' } = await oidc.refreshTokenGrant(config, refreshToken);

  // After a restart without the former key, old cookies are invalid but stored values are readable.
  await Promise.all(services.splice(0).map((service) => stopProcess(service)));
  unlinkSync(keyFile('encryption.previous'));
  await start();
  expect(await isSignedIn(browser)).toBe(false);
  expect((await oidc.refreshTokenGrant(config, second)).id_token).toBeDefined();
});

test('a killed rotation is continued by the next call, and everything works in between', async () => {
  const { config, browser, refreshToken } = await signIn();
  const before = rootKey();
  const command = programs[0]?.launch(['keys', 'rotate-encryption']);
  if (command === undefined) throw new Error('the command was not started');
  const deadline = performance.now() + DEADLINE_MS;
  while (!existsSync(keyFile('encryption.next.key'))) {
    if (performance.now() > deadline) throw new Error('no next key was made');
    await pause(20);
  }
  command.kill('SIGKILL');
  const next = readFileSync(keyFile('encryption.next.key'), 'utf8');
  expect(await isSignedIn(browser)).toBe(true);
  // Processes that start in this state know both keys.
  await Promise.all(services.splice(0).map((service) => stopProcess(service)));
  await start();
  expect(await isSignedIn(browser)).toBe(true);
  await rotate();
  expect([rootKey(), readFileSync(keyFile('encryption.previous'), 'utf8')]).toEqual([next, before]);
  expect(await isSignedIn(browser)).toBe(true);
  expect((await oidc.refreshTokenGrant(config, refreshToken)).id_token).toBeDefined();
});

test('a root key from the configuration is not changed: exit code 1 and the lines to add manually', async () => {
  const other = join(folder, 'other');
  const program = new Program(
    folder,
    { data_dir: other, secrets: { encryption: 'ab'.repeat(32) } },
    { name: 'own.json' },
  );
  await expect(program.run(['keys', 'rotate-encryption'])).rejects.toThrow(/encryption_previous:\n +- file:/);
  expect(existsSync(join(other, 'encryption.key'))).toBe(false);
  const replaced = { encryption: 'cd'.repeat(32), encryption_previous: ['ab'.repeat(32)] };
  const exchanged = new Program(folder, { data_dir: other, secrets: replaced }, { name: 'own.json' });
  // The operator has exchanged the keys by hand. Any command registers the new key when it starts, and this one seals
  // all values with it.
  expect(await exchanged.run(['keys', 'rotate-encryption'])).toContain('All stored values are encrypted');
  await expect(exchanged.run(['keys', 'rotate-encryption'])).rejects.toThrow(/By hand/);
});
