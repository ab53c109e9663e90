import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
/** The service checks the files every 20 seconds. */
const RELOAD_MS = 30_000;

/** Two running instances on one data directory, and clients that use only discovery. */
let folder: string;
let keysDir: string;
const bases: string[] = [];
const programs: Program[] = [];
const allSettings: Readonly<Record<string, unknown>>[] = [];
const services: ChildProcess[] = [];
let log = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-rotation-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  keysDir = join(folder, 'data/keys');
  const ports = [await freePort(), await freePort()];
  for (const [index, port] of ports.entries()) {
    bases.push(`http://127.0.0.1:${port}/`);
    const resources = ['discovery', 'human', 'oauth', 'health'];
    const settings = {
      data_dir: join(folder, 'data'),
      http: {
        public_base: `http://127.0.0.1:${ports[0]}/`,
        listeners: [{ resources, binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: CLIENT_SECRET,
          redirect_uris: [CALLBACK],
          first_party: true,
        },
      ],
    };
    allSettings.push(settings);
    programs.push(new Program(folder, settings, { name: `latchkey-${index}.json` }));
  }
  services.push(...(await Promise.all(programs.map((program, index) => program.serve(bases[index] ?? '')))));
  for (const service of services) service.stderr?.on('data', (text: string) => (log += text));
  await programs[0]?.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});

afterAll(async () => {
  await Promise.all(services.map((service) => stopProcess(service)));
  rmSync(folder, { recursive: true, force: true });
});

function signal(): void {
  for (const service of services) service.kill('SIGHUP');
}

async function rotate(...flags: string[]): Promise<void> {
  await programs[0]?.run(['keys', 'rotate', '--force', '--type', 'rsa2048', ...flags]);
}

interface KeySet {
  readonly etag: string;
  readonly kids: readonly string[];
}

async function keySet(base: string, etag = ''): Promise<KeySet> {
  const response = await fetch(`${base}oauth2/keys.json`, { headers: { 'if-none-match': etag } });
  if (response.status === 304) return { etag, kids: [] };
  const { keys }: { keys: readonly { kid: string }[] } = await response.json();
  return { etag: response.headers.get('etag') ?? '', kids: keys.map(({ kid }) => kid) };
}

/** Waits until both instances publish this total of RSA, P-256 and Ed25519 keys. */
async function untilPublished(count: number, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (const base of bases) {
    while ((await keySet(base)).kids.length !== count) {
      if (performance.now() > deadline) throw new Error(`${base} does not publish ${count} keys: ${log}`);
      await pause(100);
    }
  }
}

async function untilLogged(text: string, times: number): Promise<void> {
  const deadline = performance.now() + RELOAD_MS;
  while (log.split(text).length - 1 < times) {
    if (performance.now() > deadline) throw new Error(`not logged ${times} times: ${text}\n${log}`);
    await pause(100);
  }
}

/** Signs in with an unmodified client. */
async function signIn(config: oidc.Configuration): Promise<{ idToken: string; refreshToken: string }> {
  const browser = new Browser({ listener: (bases[0] ?? '').slice(0, -1), publicBase: bases[0] ?? '' });
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
  return { idToken: tokens.id_token ?? '', refreshToken: tokens.refresh_token ?? '' };
}

describe('a rotation while two instances run (S-166, S-167, oauth 3.3)', () => {
  test('tokens of the former key stay valid for clients that cached the set, new ones use the new key, on both instances', async () => {
    const issuer = bases[0] ?? '';
    const config = await oidc.discovery(new URL(issuer), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), {
      execute: [oidc.allowInsecureRequests],
    });
    // Fetches the keys only once, like a client that cached the set while the next key was already published.
    const fetchOnce = () => createRemoteJWKSet(new URL(`${issuer}oauth2/keys.json`), { cooldownDuration: 3_600_000 });
    const expected = { issuer, audience: CLIENT_ID };

    const first = await signIn(config);
    const [before] = (await keySet(issuer)).kids;
    expect(decodeProtectedHeader(first.idToken).kid).toBe(before);
    const { etag } = await keySet(issuer);
    expect(await keySet(bases[1] ?? '', etag)).toEqual({ etag, kids: [] });

    // Without a signal: both instances detect the file.
    await rotate();
    await untilPublished(4, RELOAD_MS);
    expect((await keySet(issuer, etag)).kids).toHaveLength(4);
    const cached = fetchOnce();
    await jwtVerify(first.idToken, cached, expected);
    const waiting = await oidc.refreshTokenGrant(config, first.refreshToken);
    expect(decodeProtectedHeader(waiting.id_token ?? '').kid).toBe(before);

    await rotate('--promote');
    signal();
    await untilLogged('signing keys reloaded', 4);
    const second = await oidc.refreshTokenGrant(config, waiting.refresh_token ?? '');
    const { kid } = decodeProtectedHeader(second.id_token ?? '');
    expect(kid).not.toBe(before);
    expect((await keySet(issuer)).kids[0]).toBe(kid);
    // A client that cached the set before the promotion can verify old and new tokens.
    await jwtVerify(second.id_token ?? '', cached, expected);
    await jwtVerify(first.idToken, cached, expected);
    // So can a client that starts now.
    await jwtVerify(first.idToken, fetchOnce(), expected);
    expect(await isTakenAsOurs(first.idToken)).toBe(true);

    // A broken file does not change the key set. It causes an ERROR line with its name but not its content.
    const broken = join(keysDir, 'broken.pem');
    writeFileSync(broken, 'the content of a key', { mode: 0o600 });
    signal();
    await untilLogged('the previous ones remain in use', 2);
    expect(log).toMatch(/broken\.pem: not a private key/);
    expect(log).not.toContain('the content of a key');
    expect((await keySet(issuer)).kids).toHaveLength(4);
    expect((await signIn(config)).idToken).not.toBe('');
    rmSync(broken);
    signal();

    // A leaked key disappears within one reload, and everything it signed becomes invalid.
    await rotate('--retire');
    signal();
    await untilPublished(3, RELOAD_MS);
    await expect(jwtVerify(first.idToken, fetchOnce(), expected)).rejects.toThrow(/no applicable key/);
    await jwtVerify(second.id_token ?? '', fetchOnce(), expected);
    expect(await isTakenAsOurs(first.idToken)).toBe(false);
    // Sessions and refresh tokens do not depend on the key.
    expect((await oidc.refreshTokenGrant(config, second.refresh_token ?? '')).id_token).toBeDefined();
  });

  test('discovery lists an algorithm from the reload that adds its key', async () => {
    const metadata = async (base: string) => {
      const response = await fetch(`${base}.well-known/openid-configuration`);
      const { id_token_signing_alg_values_supported: algorithms } = await response.json();
      return { etag: response.headers.get('etag'), algorithms };
    };
    const before = await metadata(bases[0] ?? '');
    expect(before.algorithms).toEqual(['RS256', 'ES256', 'EdDSA']);
    const key = await programs[0]?.run(['keys', 'generate', 'p384']);
    writeFileSync(join(keysDir, 'ec-p384.pem.tmp'), key ?? '', { mode: 0o600 });
    renameSync(join(keysDir, 'ec-p384.pem.tmp'), join(keysDir, 'ec-p384.pem'));
    signal();
    await untilPublished(4, RELOAD_MS);
    for (const base of bases) {
      const after = await metadata(base);
      expect(after.algorithms).toEqual(['RS256', 'ES256', 'ES384', 'EdDSA']);
      expect(after.etag).not.toBe(before.etag);
    }
  });

  test('the log names keys only by their ids', () => {
    for (const name of ['rsa-2048.pem', 'ec-p384.pem']) {
      const [, line = 'none'] = readFileSync(join(keysDir, name), 'utf8').split('\n');
      expect(log).not.toContain(line);
    }
  });
});

test('a new root key with the former one kept: users stay signed in, refresh tokens and secrets stay valid (S-166, oauth 3.4)', async () => {
  const issuer = bases[0] ?? '';
  const browser = new Browser({ listener: issuer.slice(0, -1), publicBase: issuer });
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
  });
  await browser.open(`/authorize?${query}`);
  await browser.submit({ username: 'amira', password: PASSWORD });
  const config = await oidc.discovery(new URL(issuer), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), {
    execute: [oidc.allowInsecureRequests],
  });
  const { refreshToken } = await signIn(config);
  await Promise.all(services.splice(0).map((service) => stopProcess(service)));

  const next = randomBytes(32).toString('hex');
  const restart = async (secrets: object): Promise<void> => {
    const program = new Program(folder, { ...allSettings[0], secrets }, { name: 'next.json' });
    services.push(await program.serve(issuer));
  };
  await expect(restart({ encryption: next })).rejects.toThrow(/secrets.encryption is not the key/);
  await restart({ encryption: next, encryption_previous: [{ file: join(folder, 'data/encryption.key') }] });

  const silent = await browser.get(`/authorize?${query}&prompt=none`);
  expect(new URL(silent.location ?? '').searchParams.has('code')).toBe(true);
  expect((await oidc.refreshTokenGrant(config, refreshToken)).id_token).toBeDefined();
});

/** Whether the service accepts the token as its own. It rejects others with 400 (RP-Initiated Logout 1.0 4). */
async function isTakenAsOurs(idToken: string): Promise<boolean> {
  const query = new URLSearchParams({ id_token_hint: idToken });
  const response = await fetch(`${bases[1]}oauth2/logout?${query}`, { redirect: 'manual' });
  return response.status < 400;
}
