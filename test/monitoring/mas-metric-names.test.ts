/** Metrics under the names of Matrix Authentication Service, with `telemetry.metrics.names: mas` (decision 0054). */
import { describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { type Family, parseExposition, sumOf } from '#test/support/exposition.ts';
import { RESOURCES, startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { MAS_METRICS } from '#vocabulary/mas-metrics.ts';
import { METRICS } from '#vocabulary/metric-table.ts';

const CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SECRET = 'confidential-secret';
const PASSWORD = 'correct horse battery staple';
/** With the same name in MAS, or kept beside the name of MAS. */
const KEPT = new Set(['http_server_active_requests', 'http_client_active_requests', 'latchkey_build_info']);
const RESULTS = { success: 'right', mismatch: 'wrong' };

const service = await sharedByTests(
  startService({
    protocol_name: 'matrix',
    homeserver: { kind: 'none', homeserver: 'chat.example' },
    http: {
      listeners: [{ name: 'web', resources: [...RESOURCES, 'prometheus'], binds: [{ address: '127.0.0.1:0' }] }],
    },
    telemetry: { metrics: { exporter: 'prometheus', names: 'mas' } },
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_post',
        client_secret: SECRET,
        grant_types: ['client_credentials'],
      },
    ],
  }),
);

async function scrape(format: 'openmetrics' | 'prometheus' = 'prometheus'): Promise<Map<string, Family>> {
  const headers = format === 'openmetrics' ? { accept: 'application/openmetrics-text' } : {};
  return parseExposition(await (await fetch(`${service.address}/metrics`, { headers })).text(), format);
}

async function post(path: string, fields: Record<string, string>): Promise<Record<string, unknown>> {
  const body = new URLSearchParams({ client_id: CLIENT_ID, client_secret: SECRET, ...fields });
  const response = await fetch(service.address + path, { method: 'POST', body });
  return (await response.json()) as Record<string, unknown>;
}

describe('GET /metrics with the names of MAS', () => {
  test('has each renamed metric once, and all others under their own names', async () => {
    for (const format of ['prometheus', 'openmetrics'] as const) {
      const families = await scrape(format);
      const family = (name: string) => (format === 'openmetrics' ? name.replace(/_total$/, '') : name);
      for (const name of Object.keys(METRICS)) {
        const isKept = !(name in MAS_METRICS) || KEPT.has(name);
        expect([name, families.has(family(name))]).toEqual([name, isKept]);
      }
      expect(families.get(family('mas_compat_login_request_total'))?.type).toBe('counter');
      expect(families.get('job_worker_tick_duration_milliseconds')?.type).toBe('histogram');
      expect(families.get('db_connections_usage')?.type).toBe('gauge');
    }
    const info = (await scrape()).get('target_info')?.samples;
    expect(info).toEqual([
      { name: 'target_info', value: 1, labels: { service_name: 'mas-cli', service_version: expect.any(String) } },
    ]);
  });

  test('requests have the labels of MAS, the exact status, and whole milliseconds as bounds', async () => {
    await fetch(`${service.address}/no/such`);
    await fetch(`${service.address}/login`, { method: 'DELETE' });
    const families = await scrape();
    const { samples = [] } = families.get('http_server_duration') ?? {};
    const count = (labels: Record<string, string>) =>
      sumOf(families, 'http_server_duration', labels, 'http_server_duration_count');
    const labels = { http_request_method: 'GET', http_route: 'unmatched', http_response_status_code: '404' };
    expect(count({ ...labels, mas_listener_name: 'web', network_protocol_name: 'http' })).toBe(1);
    expect(count({ http_response_status_code: '405' })).toBe(1);
    expect(new Set(samples.map(({ labels: { le } }) => le))).toEqual(
      new Set([undefined, '5', '10', '25', '50', '100', '250', '500', '1000', '2500', '5000', '10000', '+Inf']),
    );
    const sum = sumOf(families, 'http_server_duration', {}, 'http_server_duration_sum');
    expect(sum).toBeGreaterThan(0.1);
    expect(sumOf(families, 'http_server_active_requests', { mas_listener_name: 'web' })).toBe(1);
  });

  test('sign-ins, tokens, introspections and registrations have the results of MAS, from 0', async () => {
    const before = await scrape();
    const active = { kind: 'oauth2_access_token', active: 'true' };
    expect(sumOf(before, 'mas_oauth2_introspection_request_total', active)).toBe(0);
    expect(sumOf(before, 'mas_user_password_registration_total')).toBe(0);
    await service.registerUser('amira', PASSWORD);
    for (const result of Object.values(RESULTS)) {
      const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
      await browser.get('/login');
      await browser.submit({ username: 'amira', password: result === 'right' ? PASSWORD : 'another one' });
    }
    const { access_token } = await post('/oauth2/token', { grant_type: 'client_credentials' });
    await post('/oauth2/token', { grant_type: 'client_credentials', client_secret: 'wrong-secret' });
    await post('/oauth2/introspect', { token: String(access_token) });
    await post('/oauth2/introspect', { token: 'mct_unknown' });
    await post('/oauth2/introspect', { token: String(access_token), client_secret: 'wrong-secret' });
    await fetch(`${service.address}/oauth2/registration`, { method: 'POST', body: '{}' });
    const families = await scrape();
    for (const result of Object.keys(RESULTS)) {
      expect(sumOf(families, 'mas_user_password_login_attempt_total', { result })).toBe(1);
    }
    const tokens = (successful: string) =>
      sumOf(families, 'mas_oauth2_token_request_total', { grant_type: 'client_credentials', successful });
    expect([tokens('success'), tokens('error')]).toEqual([1, 1]);
    expect(sumOf(families, 'mas_oauth2_introspection_request_total', active)).toBe(1);
    expect(sumOf(families, 'mas_oauth2_introspection_request_total', { active: 'false' })).toBe(1);
    expect(sumOf(families, 'mas_oauth2_introspection_request_total')).toBe(2);
    expect(sumOf(families, 'mas_oauth2_registration_request_total', { result: 'denied' })).toBe(1);
  });
});
