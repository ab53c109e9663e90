/**
 * Measures the lists, files and figures of the admin API on a large database: 100,000 users, 500,000 sessions, 1,000
 * clients and 5,000,000 events. A list whose server time is above the goal fails (administration A-26), and so does an
 * export whose memory grows with its length.
 * Options: `--scale 0.1` (fewer rows), `--tries N`, `--only WORD` (requests that contain the word), `--json FILE`.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { cpuSeconds } from '../../bench/processes.js';
import { freePort } from '../../test/support/free-port.js';
import { Program, stopProcess } from '../../test/support/program.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../test/support/start-postgres.js';
import { Checks, say } from '../browser/checks.js';
import { loadTypeScript } from '../browser/load-typescript.js';
import { fillLarge } from './fill.js';
import { listRequests } from './list-requests.js';

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    tries: { type: 'string', default: '9' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const scale = Number(values.scale);
const tries = Number(values.tries);
const COUNTS = { users: 100_000, sessions: 500_000, clients: 1_000, events: 5_000_000 };
const EXPORTED = 1_000_000;
/** Maximum server time of a list (administration A-26), and memory that an export may add. */
const GOAL_MS = 200;
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;
const USER = 'large';
const ADMIN = { id: '01JD3Q5Z8W2N4K6M7P9R0S1T4V', secret: 'an-admin-secret-of-at-least-16-characters' };
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T10';
const REQUEST_MS = 120_000;

const { fromUuid, parseId, toUuid } = await loadTypeScript('src/platform/base/ids.ts');
const folder = mkdtempSync(join(tmpdir(), 'latchkey-large-'));
// PostgreSQL does not run as root and uses a different account, which needs access.
chmodSync(folder, 0o711);
const checks = new Checks();
const counts = Object.fromEntries(Object.entries(COUNTS).map(([name, count]) => [name, Math.round(count * scale)]));
const postgres = await startPostgres({
  ...{ folder: join(folder, 'postgres'), programs: findInstalledPrograms(), account: postgresAccount(), user: USER },
  // The rows can be made again.
  isDurable: false,
  settings: {
    ...{ max_connections: '60', shared_buffers: '512MB', max_wal_size: '4GB', track_io_timing: 'on' },
    ...{ shared_preload_libraries: 'pg_stat_statements' },
  },
});
const server = { host: postgres.host, port: postgres.port, user: USER, database: 'postgres' };
const port = await freePort();
const base = `http://127.0.0.1:${port}/`;
const logFile = join(folder, 'latchkey.log');
const program = new Program(folder, settings());
const database = new pg.Client(server);
let service;
try {
  await program.run(['database', 'migrate']);
  // Stores the configured clients and the provider.
  service = await program.serve(base);
  await stopProcess(service);
  const ids = await fillLarge(server, counts, toUuid(parseId(PROVIDER)), { say });
  await database.connect();
  await database.query('create extension pg_stat_statements');
  service = await program.serve(base);
  const token = await accessToken();
  const rows = [];
  for (const request of await wantedRequests(token, ids)) rows.push(await measure(token, request));
  await reportLists(rows);
  const exported = values.only === '' ? await measureExports(token) : [];
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ counts, rows, exported }, null, 2));
} finally {
  await database.end();
  if (service !== undefined) await stopProcess(service);
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = checks.close();

function settings() {
  const connection = { socket: postgres.host, port: postgres.port, username: USER, database: 'postgres' };
  return {
    ...{ data_dir: join(folder, 'data'), database: connection },
    http: {
      public_base: base,
      listeners: [{ resources: ['oauth', 'adminapi', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    secrets: { encryption: 'c'.repeat(64) },
    clients: [
      {
        ...{ client_id: ADMIN.id, client_auth_method: 'client_secret_basic', client_secret: ADMIN.secret },
        grant_types: ['client_credentials'],
      },
    ],
    upstream_oauth2: {
      providers: [
        { id: PROVIDER, issuer: 'https://login.example', client_id: 'x', token_endpoint_auth_method: 'none' },
      ],
    },
    policy: { data: { admin_clients: [ADMIN.id] } },
    // No clean-up or other job runs beside the measurement, and no token expires.
    experimental: { access_token_ttl: 86_400 },
    logging: { output: logFile },
  };
}

async function accessToken() {
  const { access_token } = await (
    await fetch(`${base}oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${ADMIN.id}:${ADMIN.secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'urn:mas:admin' }),
    })
  ).json();
  return access_token;
}

async function wantedRequests(token, ids) {
  // As many as an administrator creates; their values can only be read if the service has sealed them.
  const invitation = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  };
  const body = JSON.stringify({ usage_limit: 1, note: 'A guest' });
  let registrationToken;
  for (let made = 0; made < 100; made += 1) {
    const response = await fetch(`${base}api/admin/v1/user-registration-tokens`, { ...invitation, body });
    registrationToken = (await response.json()).data.id;
  }
  const ulids = Object.fromEntries(Object.entries(ids).map(([name, uuid]) => [name, fromUuid(uuid)]));
  const description = await (await fetch(`${base}api/spec.json`)).json();
  const requests = listRequests(description, { ...ulids, registrationToken, provider: PROVIDER, admin: ADMIN.id });
  return requests.filter((request) => request.includes(values.only));
}

/** Sends a request several times, and reads from the log and the statistics what it cost. */
async function measure(token, request) {
  await database.query('select pg_stat_statements_reset()');
  const from = linesOf(request).length;
  // The first request also plans the statements and opens connections.
  await send(token, request);
  const processorBefore = cpuSeconds(service.pid) + cpuSeconds(postgres.pid());
  for (let count = 0; count < tries; count += 1) await send(token, request);
  const processorMs = ((cpuSeconds(service.pid) + cpuSeconds(postgres.pid()) - processorBefore) * 1000) / tries;
  const lines = await untilLogged(request, from + tries + 1);
  const { rows } = await database.query(
    `select round(sum(shared_blks_hit + shared_blks_read) / $1)::integer as pages
       from pg_stat_statements where query not like '%pg_stat_statements%'`,
    [tries],
  );
  // The first one also plans the statements and opens connections.
  const costs = lines
    .slice(from)
    .slice(tries > 1 ? 1 : 0)
    .map(costsOf);
  const elapsed = costs.map((cost) => cost.elapsed).sort((a, b) => a - b);
  const ofShare = (share) => elapsed[Math.min(elapsed.length - 1, Math.floor(elapsed.length * share))];
  const row = {
    request: decodeURIComponent(request.replace('api/admin/v1/', '')),
    ...{ p50: ofShare(0.5), p95: ofShare(0.95), processor: Math.round(processorMs) },
    ...{
      statements: Math.max(...costs.map(({ queries }) => queries)),
      fetched: costs[0].fetched,
      pages: rows[0].pages,
    },
  };
  say(Object.values(row).join('\t'));
  return row;
}

async function send(token, request) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(base + request, { headers, signal: AbortSignal.timeout(REQUEST_MS) });
  if (response.status !== 200) throw new Error(`${request}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

function linesOf(request) {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes(' http.server.response ') && line.includes(` /${pathOf(request)} HTTP`));
}

/** The log contains no query. */
function pathOf(request) {
  return request.split('?')[0];
}

async function untilLogged(request, count) {
  for (;;) {
    const lines = linesOf(request);
    if (lines.length >= count) return lines;
    await pause(50);
  }
}

function costsOf(line) {
  const [, elapsed, queries, fetched] = /elapsed: ([\d.]+)ms, queries: (\d+), fetched: (\d+)/.exec(line);
  return { elapsed: Number(elapsed), queries: Number(queries), fetched: Number(fetched) };
}

/**
 * The rows are in memory, so the processor time of the service and the database is the server time on a machine that
 * does nothing else. On a busy one, the median contains the time that others had the processors.
 */
async function reportLists(rows) {
  say(`load of the machine: ${loadavg()[0].toFixed(1)} on ${cpus().length} processors`);
  await checks.that(`every list takes at most ${GOAL_MS} ms of server time`, () => {
    const slow = rows.filter(({ p50, processor }) => Math.min(p50, processor) > GOAL_MS);
    if (slow.length > 0) throw new Error(slow.map((row) => JSON.stringify(row)).join('\n'));
  });
}

async function measureExports(token) {
  const results = [];
  for (const type of ['text/csv', 'application/x-ndjson']) {
    const total = Math.min(EXPORTED, counts.events);
    await checks.that(`an export of ${total} events as ${type} needs bounded memory`, async () => {
      const before = residentBytes();
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, residentBytes());
      }, 50);
      const started = performance.now();
      const response = await fetch(`${base}api/admin/v1/audit-events?limit=${total}`, {
        headers: { authorization: `Bearer ${token}`, accept: type },
      });
      let bytes = 0;
      let lines = 0;
      for await (const part of response.body) {
        bytes += part.length;
        for (const byte of part) if (byte === 10) lines += 1;
      }
      clearInterval(watch);
      const seconds = (performance.now() - started) / 1000;
      const megabytes = (count) => Math.round(count / 1024 / 1024);
      const result = {
        ...{ type, lines, seconds: Math.round(seconds), megabytes: megabytes(bytes) },
        ...{ residentBefore: megabytes(before), residentPeak: megabytes(peak) },
      };
      results.push(result);
      say(JSON.stringify(result));
      if (lines < total) throw new Error(`only ${lines} lines`);
      if (peak - before > MAX_GROWTH_BYTES) throw new Error(`memory grew by ${megabytes(peak - before)} MiB`);
    });
  }
  return results;
}

function residentBytes() {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))[1]) * 1024;
}
