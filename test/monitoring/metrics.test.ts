import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SigningKeySource } from '#domain/keys/read-signing-keys.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { type Family, parseExposition, sumOf } from '#test/support/exposition.ts';
import { sql } from '#test/support/fixtures.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { RESOURCES, startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { testSigningKeys } from '#test/support/signing-keys.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';
import { METRICS } from '#vocabulary/metric-table.ts';
import { codeOf, tableRows } from '../manual/tables.ts';
import { alertExpressions, dashboardExpressions, namesOf } from './packaged-expressions.ts';

const CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SECRET = 'confidential-secret';

const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AE';
const PASSWORD = 'right-hush-hush';
/** Values that appear only when something fails. */
const FROM_FAILURES = new Set(['5xx', 'failed', 'homeserver']);
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const TLS = selfSigned(['inner.example'], { to: '20991231235959Z' });

let service: TestService;
let keyFolder: string;
const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  keyFolder = mkdtempSync(join(tmpdir(), 'latchkey-keys-'));
  service = await startService(settings(), { signingKeys: [...testSigningKeys(), storedKey()] });
});
afterAll(async () => {
  await service.stop();
  rmSync(keyFolder, { recursive: true });
});

function settings() {
  const binds = [{ address: '127.0.0.1:0' }];
  return {
    http: {
      listeners: [
        { name: 'inner', resources: [...RESOURCES, 'prometheus'], binds },
        { name: 'outer', resources: ['health'], binds, tls: { certificate: TLS.cert, key: TLS.key } },
      ],
    },
    telemetry: { metrics: { exporter: 'prometheus' } },
    account: { password_registration_enabled: true, password_recovery_enabled: true },
    email: { transport: 'file' },
    rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
    upstream_oauth2: {
      providers: [
        {
          id: PROVIDER,
          issuer: peer.issuer,
          client_id: 'latchkey',
          client_secret: SECRET,
          token_endpoint_auth_method: 'client_secret_basic',
        },
      ],
    },
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: SECRET,
        grant_types: ['client_credentials'],
      },
    ],
  };
}

/** Returns a key whose file was written an hour ago. */
function storedKey(): SigningKeySource {
  const name = join(keyFolder, 'old.pem');
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(name, key);
  utimesSync(name, Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);
  return { name, kid: 'old-key', key, useForSigning: false };
}

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

async function scrape(): Promise<Map<string, Family>> {
  return parseExposition(await (await fetch(`${service.address}/metrics`)).text());
}

async function askToken(grantType: string, secret = SECRET): Promise<string> {
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: grantType }),
  });
  const body: unknown = await response.json();
  return typeof body === 'object' && body !== null && 'access_token' in body ? String(body.access_token) : '';
}

describe('GET /metrics (operations 7.2)', () => {
  test('uses the Prometheus text format, and OpenMetrics on request', async () => {
    const plain = await fetch(`${service.address}/metrics`);
    expect(plain.status).toBe(200);
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(plain.headers.get('cache-control')).toBe('no-store');
    // As Prometheus 3 sends it.
    const accept =
      'application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
    const open = await fetch(`${service.address}/metrics`, { headers: { accept } });
    expect(open.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const families = parseExposition(await open.text(), 'openmetrics');
    expect(families.get('latchkey_oauth2_token_requests')?.type).toBe('counter');
    expect((await fetch(`${service.address}/metrics`, { method: 'HEAD' })).status).toBe(200);
    // The maximum in the endpoint reference.
    expect(Math.max(...service.requestLines().map(({ queries }) => queries))).toBeLessThanOrEqual(2);
  });

  test('every documented metric is present with its type, and no sample has an undocumented label', async () => {
    const families = await scrape();
    for (const [name, { kind, labels }] of Object.entries(METRICS)) {
      expect([name, families.get(name)?.type]).toEqual([name, kind]);
      for (const sample of families.get(name)?.samples ?? []) {
        const own = Object.keys(sample.labels).filter((label) => label !== 'le');
        expect([name, own.sort()]).toEqual([name, [...labels].sort()]);
      }
    }
    const others = [...families.keys()].filter((name) => !(name in METRICS));
    expect(others.every((name) => /^(process|nodejs)_/.test(name))).toBe(true);
    expect(others).toEqual(expect.arrayContaining(['nodejs_eventloop_lag_seconds', 'nodejs_gc_duration_seconds']));
    expect(sumOf(families, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  });

  test('counters start at 0', async () => {
    const families = await scrape();
    for (const [name, { kind }] of Object.entries(METRICS)) {
      if (kind === 'counter') expect([name, families.get(name)?.samples.length ?? 0]).not.toEqual([name, 0]);
    }
    const expired = { grant_type: 'device_code', result: 'expired_token' };
    expect(sumOf(families, 'latchkey_oauth2_token_requests_total', expired)).toBe(0);
  });

  test('requests are counted by route pattern, never by path', async () => {
    await fetch(`${service.address}/consent/01HZX7T3Q8V3M5N6P7R8S9T0AC`);
    await fetch(`${service.address}/no/such/hush-hush?token=hush-hush`);
    const families = await scrape();
    const count = (labels: Record<string, string>) =>
      sumOf(families, 'http_server_duration_seconds', labels, 'http_server_duration_seconds_count');
    expect(count({ listener: 'inner', method: 'GET', route: 'unmatched', status: '4xx' })).toBe(1);
    const routes = new Set(families.get('http_server_duration_seconds')?.samples.map(({ labels }) => labels['route']));
    const known = new Set(['unmatched', ...service.routes.map(({ path }) => path)]);
    expect([...routes].filter((route) => !known.has(route ?? ''))).toEqual([]);
    expect(sumOf(families, 'http_server_active_requests', { listener: 'inner', method: 'GET' })).toBe(1);
  });

  test('tokens, introspections and revocations are counted by result', async () => {
    const token = await askToken('client_credentials');
    await askToken('client_credentials', 'wrong');
    await askToken('made-up-hush-hush');
    const headers = { authorization: `Basic ${btoa(`${CLIENT_ID}:${SECRET}`)}` };
    const ask = (path: string, sent: string) =>
      fetch(service.address + path, { method: 'POST', headers, body: new URLSearchParams({ token: sent }) });
    await ask('/oauth2/introspect', token);
    await ask('/oauth2/introspect', 'hush-hush');
    await fetch(`${service.address}/oauth2/introspect`, { method: 'POST', body: new URLSearchParams({ token }) });
    await ask('/oauth2/revoke', token);
    const families = await scrape();
    const tokens = (grant_type: string, result: string) =>
      sumOf(families, 'latchkey_oauth2_token_requests_total', { grant_type, result });
    expect(tokens('client_credentials', 'success')).toBe(1);
    expect(tokens('client_credentials', 'invalid_client')).toBe(1);
    expect(tokens('other', 'unsupported_grant_type')).toBe(1);
    const introspections = (kind: string, result: string) =>
      sumOf(families, 'latchkey_oauth2_introspections_total', { kind, result });
    expect(introspections('access_token', 'active')).toBe(1);
    expect(introspections('unknown', 'inactive')).toBe(1);
    expect(introspections('access_token', 'refused')).toBe(1);
    const revoked = { kind: 'access_token', result: 'success' };
    expect(sumOf(families, 'latchkey_oauth2_revocations_total', revoked)).toBe(1);
    expect(families.get('db_query_duration_seconds')?.samples.length).toBeGreaterThan(0);
  });

  test('sign-ins are counted by result, without the names that were typed', async () => {
    await service.registerUser('amira', PASSWORD);
    for (const [username, password] of [
      ['amira', PASSWORD],
      ['amira', 'wrong-hush-hush'],
      ['nobody-hush-hush', 'wrong'],
    ] as const) {
      const browser = newBrowser();
      await browser.get('/login');
      await browser.submit({ username, password });
    }
    const families = await scrape();
    const attempts = (result: string) => sumOf(families, 'latchkey_login_attempts_total', { result });
    expect([attempts('success'), attempts('bad_password'), attempts('unknown_user')]).toEqual([1, 1, 1]);
    expect(sumOf(families, 'latchkey_password_hash_seconds', {}, 'latchkey_password_hash_seconds_count')).toBe(4);
    expect(sumOf(families, 'latchkey_activity_pending')).toBeGreaterThanOrEqual(0);
  });

  test('a sign-in that requires a code succeeds once the code was correct', async () => {
    const app = await giveAuthenticatorApp(service.core, await service.registerUser('basil', PASSWORD));
    const attempts = async () => sumOf(await scrape(), 'latchkey_login_attempts_total', { result: 'success' });
    const before = await attempts();
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username: 'basil', password: PASSWORD });
    await browser.follow();
    await browser.submit({ code: '000000' });
    expect(await attempts()).toBe(before);
    await browser.submit({ code: app.code() });
    expect(await attempts()).toBe(before + 1);
    expect(sumOf(await scrape(), 'latchkey_second_factor_total', { method: 'totp', result: 'success' })).toBe(1);
  });

  test('reauthentications, registrations and recoveries are counted by progress', async () => {
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.get('/reauth');
    await browser.submit({ password: 'wrong-hush-hush' }, { action: '/reauth' });
    await browser.submit({ password: PASSWORD }, { action: '/reauth' });
    const stranger = newBrowser();
    await stranger.get('/register/password');
    await stranger.submit({ username: 'hush-hush', email: '', password: '' });
    await stranger.get('/recover');
    await stranger.submit({ email: 'hush-hush@mail.example' });
    await stranger.get('/recover');
    await stranger.submit({ email: 'hush-hush' });
    const families = await scrape();
    const reauths = (result: string) => sumOf(families, 'latchkey_reauths_total', { method: 'password', result });
    expect([reauths('bad_password'), reauths('success'), reauths('locked')]).toEqual([1, 1, 0]);
    const rejected = { method: 'password', result: 'rejected' };
    expect(sumOf(families, 'latchkey_registrations_total', rejected)).toBe(1);
    const recoveries = (result: string) => sumOf(families, 'latchkey_recoveries_total', { method: 'email', result });
    expect([recoveries('started'), recoveries('rejected'), recoveries('success')]).toEqual([1, 1, 0]);
  });

  test('sign-ins through a provider are counted by its id, and requests to it by result', async () => {
    const browser = newBrowser();
    const comeBack = async (subject: string) => {
      await browser.get(`/upstream/authorize/${PROVIDER}`);
      await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: subject } }));
      await browser.follow();
    };
    await comeBack('hush-hush newcomer');
    await browser.submit({ username: 'layla' });
    await browser.follow();
    const set = await browser.submit({ action: 'set', display_name: 'Hush-hush' });
    expect((await browser.get(set.location ?? '')).status).toBe(303);
    browser.cookies.clear();
    await comeBack('hush-hush newcomer');
    expect((await browser.submit()).status).toBe(303);
    await browser.get(`/upstream/callback/${PROVIDER}?state=hush-hush&code=hush-hush`);
    const families = await scrape();
    const count = (name: string, result: string) => sumOf(families, name, { provider: PROVIDER, result });
    const callbacks = (result: string) => count('latchkey_upstream_callback_total', result);
    expect([callbacks('success'), callbacks('upstream_session_missing'), callbacks('error')]).toEqual([2, 1, 0]);
    expect(count('latchkey_upstream_login_total', 'success')).toBe(1);
    const registrations = (result: string) => count('latchkey_upstream_registration_total', result);
    expect([registrations('started'), registrations('success')]).toEqual([1, 1]);
    expect(sumOf(families, 'latchkey_registrations_total', { method: 'upstream', result: 'success' })).toBe(1);
    const requested = { server: `upstream:${PROVIDER}`, method: 'POST', status: '2xx' };
    const times = 'http_client_request_duration_seconds';
    expect(sumOf(families, times, requested, `${times}_count`)).toBe(2);
    const waiting = { server: `upstream:${PROVIDER}`, method: 'POST' };
    expect(sumOf(families, 'http_client_active_requests', waiting)).toBe(0);
    expect(new Set(families.get(times)?.samples.map(({ labels }) => labels['server']))).toEqual(
      new Set([`upstream:${PROVIDER}`]),
    );
  });

  test('chat client requests are counted by method and result', async () => {
    const chat = new ChatClient(service);
    const identifier = { type: 'm.id.user', user: 'amira' };
    const body = { type: 'm.login.password', identifier, password: PASSWORD, refresh_token: true };
    const { body: session } = await chat.post('/login', body);
    await chat.post('/login', { ...body, password: 'wrong-hush-hush' });
    await chat.post('/login', { type: 'm.login.token', token: 'hush-hush' });
    await chat.post('/login', { type: 'hush-hush' });
    const { body: refreshed } = await chat.post('/refresh', { refresh_token: session['refresh_token'] });
    await chat.post('/refresh', { refresh_token: 'hush-hush' });
    const authorization = `Bearer ${String(refreshed['access_token'])}`;
    expect((await chat.post('/logout/all', {}, { authorization })).status).toBe(200);
    await chat.post('/logout', {}, { authorization });
    await chat.post('/logout', {}, {});
    const families = await scrape();
    const count = (what: string, type: string, result: string) =>
      sumOf(families, `latchkey_compat_${what}_total`, { type, result });
    expect(count('login', 'password', 'success')).toBe(1);
    expect(count('login', 'password', 'refused')).toBe(1);
    expect(count('login', 'token', 'refused')).toBe(1);
    expect(count('login', 'other', 'invalid')).toBe(1);
    expect(count('refresh', 'compat', 'success')).toBe(1);
    expect(count('refresh', 'unknown', 'refused')).toBe(1);
    expect(count('logout_all', 'compat', 'success')).toBe(1);
    expect(count('logout', 'compat', 'refused')).toBe(1);
    expect(count('logout', 'unknown', 'refused')).toBe(1);
  });

  test('show when certificates expire, and the age of keys in files', async () => {
    const families = await scrape();
    const left = Date.parse('2099-12-31T23:59:59Z') / 1000 - Date.now() / 1000;
    const expiry = sumOf(families, 'latchkey_certificate_expiry_seconds', { listener: 'outer' });
    expect(Math.abs(expiry - left)).toBeLessThan(60);
    expect(families.get('latchkey_certificate_expiry_seconds')?.samples.length).toBe(1);
    const age = sumOf(families, 'latchkey_signing_key_age_seconds', { kid: 'old-key' });
    expect(Math.abs(age - 3600)).toBeLessThan(60);
    expect(families.get('latchkey_signing_key_age_seconds')?.samples.length).toBe(1);
  });

  test('contain nothing from a request (security S-164, operations 10.15)', async () => {
    const text = await (await fetch(`${service.address}/metrics`)).text();
    expect(text).not.toContain('hush');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(CLIENT_ID);
  });
});

describe('packaging/monitoring, after all of these requests', () => {
  test.each([...alertExpressions(), ...dashboardExpressions()])(
    '$where names metrics, labels and values that /metrics has',
    async (expression) => {
      const families = await scrape();
      const { series, labels } = namesOf(expression);
      expect(series.length).toBeGreaterThan(0);
      for (const { name, matchers } of series) {
        const family = families.get(name.replace(/_(?:bucket|count|sum)$/, '')) ?? families.get(name);
        expect(family, name).toBeDefined();
        const known = knownLabels(family, name);
        for (const label of [...labels, ...matchers.map((matcher) => matcher.label)]) {
          expect([name, [...known.keys()]]).toEqual([name, expect.arrayContaining([label])]);
        }
        for (const { label, values } of matchers) {
          const missing = values?.filter((value) => !known.get(label)?.has(value) && !FROM_FAILURES.has(value));
          expect([name, label, missing ?? []]).toEqual([name, label, []]);
        }
      }
    },
  );

  test('the guide lists all alerts with their expressions', () => {
    const listed = tableRows('docs/guides/monitoring.md').map(([, expression]) =>
      codeOf(expression).replaceAll('\\|', '|'),
    );
    expect(alertExpressions().map(({ text }) => text)).toEqual(expect.arrayContaining(listed));
    expect(listed.length).toBe(alertExpressions().length);
  });
});

/** Returns the labels of a metric with their values: those of its samples, and those that its declaration names. */
function knownLabels(family: Family | undefined, name: string): Map<string, Set<string>> {
  const known = new Map<string, Set<string>>();
  const add = (label: string, value?: string) => {
    const values = known.get(label) ?? new Set();
    if (value !== undefined) values.add(value);
    known.set(label, values);
  };
  for (const { labels } of family?.samples ?? []) {
    for (const [label, value] of Object.entries(labels)) add(label, value);
  }
  const declared = Object.entries(METRICS).find(([metric]) => name === metric || name.startsWith(`${metric}_`));
  for (const label of [...(declared?.[1].labels ?? []), ...(name.endsWith('_bucket') ? ['le'] : [])]) add(label);
  return known;
}

test('the resource without its exporter is a configuration error with its position', async () => {
  const listeners = [{ resources: ['health', 'prometheus'], binds: [{ address: '127.0.0.1:0' }] }];
  await expect(startService({ http: { listeners } })).rejects.toThrow(
    /http\.listeners\[0\]\.resources\[1\]: "prometheus" requires telemetry\.metrics\.exporter "prometheus"/,
  );
});

test('active sessions are counted by kind', async () => {
  const other = await startService(settings(), { like: service });
  try {
    const families = parseExposition(await (await fetch(`${other.address}/metrics`)).text());
    const sessions = (kind: string) => sumOf(families, 'latchkey_sessions_active', { kind });
    const live = 'select count(*)::integer as count from user_sessions where finished_at is null';
    const [row] = await sql<{ count: number }>(service.database, live);
    expect(row?.count).toBeGreaterThan(0);
    expect(sessions('browser')).toBe(row?.count);
    // The chat client has signed out.
    expect([sessions('compat'), sessions('oauth2'), sessions('personal')]).toEqual([0, 0, 0]);
  } finally {
    await other.stop();
  }
});
