import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METRICS } from '#platform/base/metric-table.ts';
import { Browser } from '#test/support/browser.ts';
import { type Family, parseExposition, sumOf } from '#test/support/exposition.ts';
import { RESOURCES, startService, type TestService } from '#test/support/service.ts';

const CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SECRET = 'confidential-secret';

let service: TestService;
beforeAll(async () => {
  service = await startService({
    http: {
      listeners: [{ name: 'inner', resources: [...RESOURCES, 'prometheus'], binds: [{ address: '127.0.0.1:0' }] }],
    },
    telemetry: { metrics: { exporter: 'prometheus' } },
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: SECRET,
        grant_types: ['client_credentials'],
      },
    ],
  });
});
afterAll(() => service.stop());

async function scrape(): Promise<Map<string, Family>> {
  return parseExposition(await (await fetch(`${service.address}/metrics`)).text());
}

async function askToken(grantType: string, secret = SECRET): Promise<string> {
  const answer = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: grantType }),
  });
  const body: unknown = await answer.json();
  return typeof body === 'object' && body !== null && 'access_token' in body ? String(body.access_token) : '';
}

describe('GET /metrics (operations 7.2)', () => {
  test('is text of Prometheus, and OpenMetrics for who asks for it', async () => {
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
    // As the page of endpoints promises.
    expect(Math.max(...service.requestLines().map(({ queries }) => queries))).toBeLessThanOrEqual(2);
  });

  test('every name of the table is there with its type, and no sample has a label that the table does not name', async () => {
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

  test('counters are there with 0 before anything happens', async () => {
    const families = await scrape();
    for (const [name, { kind }] of Object.entries(METRICS)) {
      if (kind === 'counter') expect([name, families.get(name)?.samples.length ?? 0]).not.toEqual([name, 0]);
    }
    const expired = { grant_type: 'device_code', result: 'expired_token' };
    expect(sumOf(families, 'latchkey_oauth2_token_requests_total', expired)).toBe(0);
  });

  test('requests are counted by the pattern of their route, never by their path', async () => {
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

  test('tokens, introspections and revocations are counted by how they end', async () => {
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

  test('sign-ins are counted by how they end, without the names that were typed', async () => {
    await service.registerUser('amira', 'right-hush-hush');
    for (const [username, password] of [
      ['amira', 'right-hush-hush'],
      ['amira', 'wrong-hush-hush'],
      ['nobody-hush-hush', 'wrong'],
    ] as const) {
      const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
      await browser.get('/login');
      await browser.submit({ username, password });
    }
    const families = await scrape();
    const attempts = (result: string) => sumOf(families, 'latchkey_login_attempts_total', { result });
    expect([attempts('success'), attempts('bad_password'), attempts('unknown_user')]).toEqual([1, 1, 1]);
    expect(sumOf(families, 'latchkey_password_hash_seconds', {}, 'latchkey_password_hash_seconds_count')).toBe(4);
    expect(sumOf(families, 'latchkey_activity_pending')).toBeGreaterThanOrEqual(0);
  });

  test('hold nothing that a request brought (security S-164, operations 10.15)', async () => {
    const text = await (await fetch(`${service.address}/metrics`)).text();
    expect(text).not.toContain('hush');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(CLIENT_ID);
  });
});

test('the resource without its exporter is a mistake of the configuration, at its place', async () => {
  const listeners = [{ resources: ['health', 'prometheus'], binds: [{ address: '127.0.0.1:0' }] }];
  await expect(startService({ http: { listeners } })).rejects.toThrow(
    /http\.listeners\[0\]\.resources\[1\]: "prometheus" needs telemetry\.metrics\.exporter to be "prometheus"/,
  );
});
