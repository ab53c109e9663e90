/** Time zones of the machine, and date settings of the database (security F-14). */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { administer } from '../support/administer.ts';
import { createEmptyDatabase, type EmptyDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64')}`;
const LIFETIME_SECONDS = 300;
/** Less than any zone's offset from UTC. */
const NEAR_MS = 10 * 60_000;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/;

let folder: string;
let made: EmptyDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-zones-'));
  chmodSync(folder, 0o711);
  made = await createEmptyDatabase();
});

afterAll(async () => {
  await made.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Expects a recent timestamp in UTC. */
function expectNow(text: unknown): void {
  expect(text).toMatch(INSTANT);
  expect(Math.abs(Date.parse(String(text)) - Date.now())).toBeLessThan(NEAR_MS);
}

test.each([
  // The machine's zones: one with daylight saving time, one far from UTC, and one with an offset in quarter hours.
  ['America/New_York', 'Pacific/Apia', 'German, DMY', 'sql_standard'],
  ['Pacific/Apia', 'Asia/Kathmandu', 'SQL, DMY', 'iso_8601'],
  ['Asia/Kathmandu', 'America/New_York', 'Postgres, MDY', 'postgres_verbose'],
])(
  'F-14: machine in %s, database in %s with dates in style %s: times are reported in UTC, with unchanged lifetimes',
  async (...zones) => {
    const [machine, timezone, datestyle, intervalstyle] = zones;
    const name = new URL(made.connectionString).pathname.slice(1);
    for (const [setting, value] of Object.entries({ timezone, datestyle, intervalstyle })) {
      await administer(made.connectionString, `alter database ${name} set ${setting} = '${value}'`);
    }
    const port = await freePort();
    const base = `http://127.0.0.1:${port}/`;
    const logFile = join(folder, `${port}.log`);
    const listener = { resources: ['oauth', 'adminapi', 'health'], binds: [{ address: `127.0.0.1:${port}` }] };
    const program = new Program(folder, {
      data_dir: join(folder, 'data'),
      database: { uri: made.connectionString },
      http: { public_base: base, listeners: [listener] },
      clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: SECRET }],
      policy: { data: { admin_clients: [CLIENT_ID] } },
      experimental: { access_token_ttl: LIFETIME_SECONDS },
      logging: { output: logFile },
    });
    const service = await program.serve(base, { environment: { TZ: machine } });
    try {
      const post = async (path: string, fields: Readonly<Record<string, string>>) => {
        const headers = { authorization: AUTHORIZATION };
        const response = await fetch(base + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
        expect(response.status).toBe(200);
        return await response.json();
      };
      const token = await post('oauth2/token', { grant_type: 'client_credentials', scope: 'urn:mas:admin' });
      const told = await post('oauth2/introspect', { token: token.access_token });
      expect(told).toMatchObject({ active: true });
      expect(told.exp - told.iat).toBe(LIFETIME_SECONDS);
      expectNow(new Date(told.iat * 1000).toISOString());

      const headers = { authorization: `Bearer ${token.access_token}` };
      const since = new Date(Date.now() - NEAR_MS).toISOString();
      const sessions = await fetch(`${base}api/admin/v1/oauth2-sessions?filter[created-after]=${since}`, { headers });
      const { data } = await sessions.json();
      expect(data.length).toBeGreaterThan(0);
      for (const { attributes } of data) expectNow(attributes.created_at);
    } finally {
      expect(await stopProcess(service)).toBe(0);
    }
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expectNow(line.split(' ')[0]);
  },
);
