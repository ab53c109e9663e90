import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/steps/places.js';
import { freePort } from '../support/free-port.js';
import { NODE_FLAGS, stopProcess, untilHealthy } from '../support/program.js';
import { selfSigned, type Validity } from '../support/self-signed.ts';

const CLIENT = {
  client_id: '01JD3Q5Z8W2N4K6M7P9R0S1T2V',
  client_name: 'First name',
  client_auth_method: 'client_secret_basic',
  redirect_uris: ['https://app.example/callback'],
};
const [SECRET, NEXT_SECRET] = ['a-secret-of-at-least-16-characters', 'another-secret-of-16-characters'];
const LINE_TIMEOUT_MS = 30_000;

let folder: string;
let base: string;
let file: string;
let service: ChildProcess;
let tlsPort: number;
let settings: Record<string, unknown>;

/** Starts the service with a client whose secret is in a file, a custom template, and a log file. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-reload-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const port = await freePort();
  tlsPort = await freePort();
  putCertificate({ to: '20210101000000Z' });
  base = `http://127.0.0.1:${port}/`;
  // Found by default, not passed as an argument.
  file = join(folder, 'config.yaml');
  writeFileSync(join(folder, 'secret'), SECRET, { mode: 0o600 });
  settings = {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base,
      listeners: [
        { resources: ['discovery', 'human', 'oauth', 'health', 'assets'], binds: [{ address: `127.0.0.1:${port}` }] },
        {
          ...{ name: 'encrypted', resources: ['health'], binds: [{ address: `127.0.0.1:${tlsPort}` }] },
          tls: { certificate_file: join(folder, 'certificate'), key_file: join(folder, 'key') },
        },
      ],
    },
    clients: [{ ...CLIENT, client_secret_file: join(folder, 'secret') }],
    branding: { service_name: 'Harbour' },
    logging: { output: join(folder, 'log') },
  };
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  const { LATCHKEY_CONFIG: _, ...environment } = process.env;
  service = spawn(process.execPath, [...NODE_FLAGS, join(root, 'dist/main.js'), 'serve'], {
    ...{ cwd: folder, env: environment, stdio: 'ignore' },
  });
  await untilHealthy(service, base);
});

afterAll(async () => {
  expect(await stopProcess(service)).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

const log = (name = 'log'): string => readFileSync(join(folder, name), 'utf8');

/**
 * Writes the file, sends SIGHUP and waits for the line that reports the end of the reload. @returns all lines of the
 * reload
 */
async function reload(next: Record<string, unknown> | string): Promise<string> {
  writeFileSync(file, typeof next === 'string' ? next : JSON.stringify(next), { mode: 0o600 });
  return await hangUp();
}

async function hangUp(): Promise<string> {
  const before = existsSync(join(folder, 'log')) ? log().length : 0;
  service.kill('SIGHUP');
  const deadline = performance.now() + LINE_TIMEOUT_MS;
  for (;;) {
    const made = existsSync(join(folder, 'log')) ? log().slice(before) : '';
    if (/configuration reloaded|reload failed/.test(made)) return made;
    if (performance.now() > deadline) throw new Error(`no reload: ${made}`);
    await pause(10);
  }
}

const page = async (path: string): Promise<string> => await (await fetch(base + path)).text();

/** Whether the token endpoint accepts this client secret. */
async function accepts(secret: string): Promise<boolean> {
  const response = await fetch(`${base}oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${CLIENT.client_id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'none' }),
  });
  const { error } = await response.json();
  return error !== 'invalid_client';
}

test('an invalid file changes nothing: each problem is an ERROR line, and the service continues (operations 8.6)', async () => {
  for (const broken of [
    { ...settings, branding: { service_name: 'Changed' }, passwords: { minimum_complexity: 9 }, unknown: 1 },
    '{ "branding": ',
  ]) {
    const lines = await reload(typeof broken === 'string' ? broken : { ...broken });
    expect(lines).toMatch(/ ERROR reload .*config\.yaml:/);
    expect(lines).toMatch(/ERROR reload reload failed/);
  }
  expect(await page('login')).toContain('Harbour');
  expect(await accepts(SECRET)).toBe(true);
});

test('F-25: an empty or missing file is not treated as the default configuration', async () => {
  for (const nothing of ['', '# { "branding": {} }\n', '{}'])
    expect(await reload(nothing)).toMatch(/ERROR reload .*config\.yaml: the file no longer contains any settings/);
  rmSync(file);
  expect(await hangUp()).toMatch(/ERROR reload cannot read the configuration file: no such file/);
  expect(await page('login')).toContain('Harbour');
});

test('names, switches, clients, secrets in files and limits apply to the next request and are logged without values', async () => {
  expect(await page('login')).not.toContain('/register');
  writeFileSync(join(folder, 'secret'), NEXT_SECRET, { mode: 0o600 });
  settings = {
    ...settings,
    branding: { service_name: 'Lighthouse', imprint: 'Quay Street 1' },
    account: { password_registration_enabled: true, password_registration_email_required: false },
    limits: { max_request_line: '1KiB', keep_alive_timeout: '5s' },
  };
  const lines = await reload(settings);
  const [, changed = ''] = /INFO reload configuration reloaded changed="([^"]*)"/.exec(lines) ?? [];
  expect(changed.split(' ').sort()).toEqual([
    'account.password_registration_email_required',
    'account.password_registration_enabled',
    'branding.imprint',
    'branding.service_name',
    'clients[0].client_secret',
    'limits.keep_alive_timeout',
    'limits.max_request_line',
  ]);
  expect(lines).not.toContain(NEXT_SECRET);
  expect(lines).not.toContain('Lighthouse');
  expect(lines).not.toContain('require a restart');
  expect(await page('login')).toMatch(/Lighthouse.*Quay Street 1/s);
  expect(await page('login')).toContain('/register');
  expect((await fetch(`${base}login?${'x'.repeat(1500)}`)).status).toBe(414);
  expect([await accepts(SECRET), await accepts(NEXT_SECRET)]).toEqual([false, true]);
});

/** Writes a certificate and its key. @returns the certificate */
function putCertificate(validity: Validity = {}): string {
  const { cert, key } = selfSigned(['localhost'], validity);
  writeFileSync(join(folder, 'certificate'), cert, { mode: 0o644 });
  writeFileSync(join(folder, 'key'), key, { mode: 0o600 });
  return cert;
}

/** Requests the liveness probe over HTTPS. @returns whether the server presents the expected certificate */
async function shows(certificate: string): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const options = { port: tlsPort, path: '/health?probe=live', rejectUnauthorized: false, agent: false };
    const requested = get(options, ({ socket, statusCode }) => {
      const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.fingerprint256 : undefined;
      if (statusCode === 200) resolve(shown === new X509Certificate(certificate).fingerprint256);
      else reject(new Error(`status ${statusCode}`));
    });
    requested.on('error', reject);
  });
}

test('a theme is reloaded; one that is hard to read changes nothing, and the message names the pair', async () => {
  const file = join(folder, 'theme.css');
  writeFileSync(file, ':root { --accent: #0b5fa5 }');
  const next = { ...settings, branding: { theme_file: file } };
  expect(await reload(next)).toMatch(/configuration reloaded.*branding/);
  const colors = async () => {
    const page = await (await fetch(`${base}login`)).text();
    const [, path = ''] = /href="([^"]*assets\/brand-[^"]*\.css)"/.exec(page) ?? [];
    return path === '' ? '' : await (await fetch(new URL(path, base))).text();
  };
  expect(await colors()).toContain('--accent:#0b5fa5;');
  writeFileSync(file, ':root { --accent: #9ec9f0 }');
  expect(await reload(next)).toContain(
    '--accent #9ec9f0 on --surface #ffffff in the light scheme: the contrast is 1.74:1',
  );
  expect(await colors()).toContain('--accent:#0b5fa5;');
  writeFileSync(file, ':root { --accent: #8a1c7c }');
  expect(await reload(next)).toMatch(/configuration reloaded/);
  expect(await colors()).toContain('--accent:#8a1c7c;');
  await reload(settings);
  expect(await colors()).toBe('');
});

test('operator texts are reloaded, and a language is available once its file exists; an invalid text changes nothing', async () => {
  const texts = join(folder, 'texts');
  mkdirSync(texts);
  writeFileSync(join(texts, 'fa.json'), '{"login.title": "ورود"}');
  const next = { ...settings, templates: { translations_path: texts } };
  expect(await reload(next)).toMatch(/configuration reloaded.*changed="templates\.translations_path templates"/);
  const persian = async () => await (await fetch(`${base}login`, { headers: { 'accept-language': 'fa' } })).text();
  expect(await persian()).toMatch(/<html lang="fa" dir="rtl">.*ورود/s);
  writeFileSync(join(texts, 'fa.json'), '{"login.title": "{name}"}');
  expect(await reload(next)).toContain('fa.json:1:2: login.title: unknown value {name}; the text has no values');
  expect(await persian()).toContain('ورود');
  writeFileSync(join(texts, 'fa.json'), '{"login.title": "سلام"}');
  expect(await reload(next)).toMatch(/configuration reloaded.*changed=templates/);
  expect(await persian()).toContain('سلام');
  await reload(settings);
  expect(await persian()).toContain('<html lang="en"');
});

test('a certificate is replaced without a restart; an expired one causes a warning, and an invalid one changes nothing', async () => {
  expect(log()).toMatch(/WARN startup the certificate of listener encrypted expired/);
  const certificate = putCertificate();
  expect(await shows(certificate)).toBe(false);
  const lines = await reload(settings);
  expect(lines).toMatch(/changed="http\.listeners\[1\]\.tls\.certificate http\.listeners\[1\]\.tls\.key"/);
  expect(lines).not.toMatch(/need a restart|expired/);
  expect(await shows(certificate)).toBe(true);
  const broken = putCertificate();
  writeFileSync(join(folder, 'key'), 'nothing', { mode: 0o600 });
  expect(await reload(settings)).toMatch(/ERROR reload http\.listeners\[1\]\.tls\.key: not a private key/);
  expect(await shows(certificate)).toBe(true);
  expect(await shows(broken)).toBe(false);
  putCertificate();
  await reload(settings);
});

test('the policy module is reloaded, and an unusable module changes nothing', async () => {
  const rules = join(folder, 'rules.mjs');
  const register = async () => {
    const metadata = { redirect_uris: ['https://new.example/cb'], client_uri: 'https://new.example/' };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${base}oauth2/registration`, {
      method: 'POST',
      headers,
      body: JSON.stringify(metadata),
    });
    const { error_description: said } = await response.json();
    return said ?? response.status;
  };
  const module = (text: string) => `export const clientRegistration = () => [{ code: 'no', msg: '${text}' }];`;
  const withRules = { ...settings, policy: { module: rules } };
  expect(await register()).toBe(201);
  writeFileSync(rules, module('not today'));
  expect(await reload(withRules)).toMatch(/changed="?policy\.module/);
  expect(await register()).toBe('not today');
  writeFileSync(rules, module('nor tomorrow'));
  await reload(withRules);
  expect(await register()).toBe('nor tomorrow');
  writeFileSync(rules, 'export const rules = 1;');
  expect(await reload(withRules)).toMatch(/ERROR reload policy\.module: .*rules\.mjs: unknown export \\?"rules\\?"/);
  expect(await register()).toBe('nor tomorrow');
  await reload(settings);
  expect(await register()).toBe(201);
});

const PROVIDER = {
  ...{ id: '01JD3Q5Z8W2N4K6M7P9R0S1T2W', human_name: 'Pier', client_id: 'harbour', scope: 'openid' },
  ...{ token_endpoint_auth_method: 'none', issuer: 'http://127.0.0.1:9' },
};

test('F-25: a reload that the database refuses at its end changes nothing and leaves no file open', async () => {
  const database = new Client({ host: join(folder, 'data/run'), user: 'latchkey', database: 'latchkey' });
  // If the test fails early, the server terminates the connection.
  database.on('error', () => {});
  await database.connect();
  const certificate = putCertificate();
  writeFileSync(join(folder, 'secret'), NEXT_SECRET, { mode: 0o600 });
  await reload({ ...settings, limits: { max_request_line: '1KiB' } });
  putCertificate();
  writeFileSync(join(folder, 'secret'), SECRET, { mode: 0o600 });
  const next = {
    ...settings,
    branding: { service_name: 'Changed' },
    limits: { max_request_line: '2KiB' },
    clients: [{ ...CLIENT, client_secret_file: join(folder, 'secret') }],
    upstream_oauth2: { providers: [PROVIDER] },
    logging: { output: join(folder, 'next-log'), level: 'error' },
  };
  await database.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise 'no room' using errcode = '53100'; end $$;
    create trigger refuse before insert on upstream_providers execute function refuse()`);
  expect(await reload(next)).toMatch(/ERROR reload reload failed/);
  expect(await page('login')).not.toMatch(/Changed|Pier/);
  expect((await fetch(`${base}login?${'x'.repeat(1500)}`)).status).toBe(414);
  expect([await accepts(SECRET), await accepts(NEXT_SECRET)]).toEqual([false, true]);
  expect(await shows(certificate)).toBe(true);
  expect(openFiles()).not.toContain(join(folder, 'next-log'));
  await database.query('drop function refuse cascade');
  await database.end();
  expect(await reload({ ...next, logging: settings['logging'] })).toContain('configuration reloaded');
  expect(await page('login')).toMatch(/Changed.*Pier/s);
  expect([await accepts(SECRET), await accepts(NEXT_SECRET)]).toEqual([true, false]);
  expect(await shows(certificate)).toBe(false);
  expect(await reload({ ...settings, clients: [] })).toMatch(/WARN config\.sync static clients .* clients=1/);
  await reload(settings);
});

function openFiles(): string[] {
  const descriptors = `/proc/${service.pid}/fd`;
  return readdirSync(descriptors).map((name) => {
    try {
      return readlinkSync(join(descriptors, name));
    } catch {
      // Closed after it was listed.
      return '';
    }
  });
}

test('settings that need a restart are logged at WARN and stay, and the others take effect', async () => {
  const lines = await reload({
    ...settings,
    http: { public_base: 'https://other.example/', listeners: [{ resources: ['health'], binds: [{ port: 1 }] }] },
    secrets: { encryption: 'a'.repeat(64) },
    data_dir: join(folder, 'other'),
    matrix: { secret: 'a-secret-of-at-least-16-characters', homeserver: 'example.test' },
    branding: { service_name: 'Beacon' },
  });
  const [, keys = ''] = /WARN reload changed settings require a restart.* keys="([^"]*)"/.exec(lines) ?? [];
  expect(keys.split(' ').sort()).toEqual([
    'data_dir',
    'homeserver.homeserver',
    'homeserver.kind',
    'http.listeners',
    'http.public_base',
    'protocol_name',
    'secrets.encryption',
  ]);
  expect(lines).toMatch(
    / changed="branding\.service_name branding\.imprint"|changed="branding\.imprint branding\.service_name"/,
  );
  expect(await page('login')).toContain('Beacon');
  expect(await page('.well-known/openid-configuration')).toContain(base.slice(0, -1));
  expect(existsSync(join(folder, 'other'))).toBe(false);
  expect(await reload(settings)).not.toContain('require a restart');
});

test('a request in progress finishes with the former settings, and none fails during the change', async () => {
  const broken: unknown[] = [];
  let isOver = false;
  const visitors = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const response = await fetch(`${base}login`).catch((error: unknown) => error);
      if (!(response instanceof Response) || response.status !== 200) broken.push(response);
      else await response.text();
    }
  });
  for (const name of ['One', 'Two', 'Three']) {
    await reload({ ...settings, branding: { service_name: name } });
    expect(await page('login')).toContain(name);
  }
  isOver = true;
  await Promise.all(visitors);
  expect(broken).toEqual([]);
});

test('a rotated log file is reopened, even when the configuration is invalid; its format changes', async () => {
  renameSync(join(folder, 'log'), join(folder, 'log.1'));
  expect(await reload('{')).toMatch(/ERROR reload reload failed/);
  const lines = await reload({ ...settings, logging: { output: join(folder, 'log'), format: 'json' } });
  expect(JSON.parse(lines.trim().split('\n').at(-1) ?? '')).toMatchObject({ event: 'reload', level: 'INFO' });
});

test('F-25: once the service stops, nothing is replaced or started', async () => {
  await reload({ ...settings, limits: { drain_delay: '2s' }, logging: { output: join(folder, 'log') } });
  const before = log().length;
  service.kill('SIGTERM');
  while (!log().slice(before).includes('SIGTERM received')) await pause(10);
  writeFileSync(file, JSON.stringify({ ...settings, branding: { service_name: 'Late' } }), { mode: 0o600 });
  service.kill('SIGHUP');
  await new Promise((resolve) => service.once('exit', resolve));
  expect(log().slice(before)).not.toContain('configuration reloaded');
});
