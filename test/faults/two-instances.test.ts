import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { NetworkLink } from '../support/network-link.js';
import { startPostgresServer, type TestServer } from '../support/postgres-server.ts';
import { killProcess, Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64')}`;
const VISITORS = 4;
const CHECK_MS = 50;
const LONG_MS = 120_000;

interface Instance {
  readonly base: string;
  readonly program: Program;
  readonly cable: NetworkLink;
  process: ChildProcess;
  /** Whether the load balancer considers it up. */
  isUp: boolean;
}

let folder: string;
let database: TestServer;
let balancer: NodeJS.Timeout;
const instances: Instance[] = [];
/** Issued tokens. None of them may be lost. */
const acknowledged: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-instances-'));
  database = await startPostgresServer();
  const ports = [await freePort(), await freePort()];
  for (const [index, port] of ports.entries()) {
    const cable = new NetworkLink(database);
    const linkPort = await freePort();
    await cable.listen(linkPort);
    const base = `http://127.0.0.1:${port}/`;
    const settings = {
      data_dir: join(folder, `data-${index}`),
      database: { uri: `postgres://tests@127.0.0.1:${linkPort}/postgres?sslmode=disable` },
      http: {
        public_base: `http://127.0.0.1:${ports[0]}/`,
        listeners: [{ resources: ['oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      secrets: { encryption: 'ab'.repeat(32) },
      clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: SECRET }],
      limits: { drain_delay: `${4 * CHECK_MS}ms` },
      logging: { level: 'error' },
    };
    const program = new Program(folder, settings, { name: `latchkey-${index}.json` });
    instances.push({ base, program, cable, process: await program.serve(base), isUp: true });
  }
  balancer = setInterval(() => void Promise.all(instances.map(checkHealth)), CHECK_MS);
});

afterAll(async () => {
  clearInterval(balancer);
  for (const { cable } of instances) cable.mend();
  const codes = await Promise.all(instances.map(({ process }) => stopProcess(process)));
  for (const { cable } of instances) cable.close();
  await database.remove();
  rmSync(folder, { recursive: true, force: true });
  expect(codes).toEqual([0, 0]);
});

async function checkHealth(instance: Instance): Promise<void> {
  instance.isUp = await fetch(`${instance.base}health`, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

interface Outcome {
  readonly instance: Instance;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  readonly retryAfter: string | null;
}

let turn = 0;

/**
 * Forwards a request as a load balancer does: to an instance that is up, or to the other one if it refuses the
 * connection.
 */
async function askForToken(): Promise<Outcome> {
  turn += 1;
  const up = instances.filter(({ isUp }) => isUp);
  const order = up.length === 0 ? instances : [...up.slice(turn % up.length), ...up.slice(0, turn % up.length)];
  for (const instance of [...order, ...instances.filter((one) => !order.includes(one))]) {
    try {
      const response = await fetch(`${instance.base}oauth2/token`, {
        method: 'POST',
        // Load balancers differ in how they treat persistent connections.
        headers: { authorization: AUTHORIZATION, connection: 'close' },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      const body = await response.json();
      if (response.status === 200) acknowledged.push(String(body.access_token));
      return { instance, status: response.status, retryAfter: response.headers.get('retry-after') };
    } catch (error) {
      const isRefused = error instanceof Error && /ECONNREFUSED/.test(String(error.cause));
      if (!isRefused) return { instance, status: undefined, retryAfter: null };
    }
  }
  throw new Error('no instance takes connections');
}

/** Sends requests continuously while `happening` runs, and a little longer. @returns the outcomes */
async function underLoad(happening: () => Promise<void>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const visitors = Array.from({ length: VISITORS }, async () => {
    while (!isOver) outcomes.push(await askForToken());
  });
  await expect.poll(() => outcomes.length).toBeGreaterThan(20);
  await happening();
  const before = outcomes.length;
  await expect.poll(() => outcomes.length).toBeGreaterThan(before + 20);
  isOver = true;
  await Promise.all(visitors);
  return outcomes;
}

/** Expects an instance to know every issued token. */
async function expectNothingLost({ base }: Instance): Promise<void> {
  const tokens = acknowledged.splice(0);
  expect(tokens.length).toBeGreaterThan(20);
  while (tokens.length > 0) {
    const known = await Promise.all(
      tokens.splice(0, 50).map(async (token) => {
        const body = new URLSearchParams({ token });
        const headers = { authorization: AUTHORIZATION };
        const response = await fetch(`${base}oauth2/introspect`, { method: 'POST', headers, body });
        return (await response.json()).active;
      }),
    );
    expect(new Set(known)).toEqual(new Set([true]));
  }
}

const failures = (outcomes: readonly Outcome[]) => outcomes.filter(({ status }) => status !== 200);

function instanceAt(index: number): Instance {
  return instances[index] ?? expect.fail('no such instance');
}

test('kill -9 of one of two under load: only its requests in progress are cut, and nothing acknowledged is lost', {
  timeout: LONG_MS,
}, async () => {
  const victim = instanceAt(1);
  const outcomes = await underLoad(() => killProcess(victim.process));
  expect(failures(outcomes).length).toBeLessThanOrEqual(VISITORS);
  expect(failures(outcomes).every(({ instance, status }) => instance === victim && status === undefined)).toBe(true);
  await expectNothingLost(instanceAt(0));
  victim.process = await victim.program.serve(victim.base);
});

test('a rolling restart by SIGTERM under load: no request fails, and each exits with code 0 (operations 8.5)', {
  timeout: LONG_MS,
}, async () => {
  await expect.poll(() => instances.every(({ isUp }) => isUp)).toBe(true);
  const outcomes = await underLoad(async () => {
    for (const instance of instances) {
      expect(await stopProcess(instance.process)).toBe(0);
      instance.process = await instance.program.serve(instance.base);
      while (!instance.isUp) await pause(CHECK_MS);
    }
  });
  expect(failures(outcomes)).toEqual([]);
  await expectNothingLost(instanceAt(0));
});

/** Introspects a token continuously until `ended` settles. @returns responses that are neither correct nor 503 */
async function wrongResponsesUntil(ended: Promise<unknown>, token: string): Promise<unknown[]> {
  const wrong: unknown[] = [];
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const { base } of instances) {
      const body = new URLSearchParams({ token });
      const response = await fetch(`${base}oauth2/introspect`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, connection: 'close' },
        body,
      });
      const { active } = await response.json();
      if (!(response.status === 503 || (response.status === 200 && active === true)))
        wrong.push(response.status, active);
    }
  }
  return wrong;
}

test.each(['stop', 'quit', 'kill'] as const)(
  'a restart of the database under load (%s): correct responses or 503, nothing lost, and recovery within 5 s (F-06)',
  { timeout: LONG_MS },
  async (end) => {
    await expect.poll(() => instances.every(({ isUp }) => isUp)).toBe(true);
    await askForToken();
    const [known = ''] = acknowledged;
    const pids = instances.map(({ process }) => process.pid);
    let healedMs = 0;
    const running = underLoad(async () => {
      for (let round = 0; round < 2; round += 1) {
        await database[end]();
        await database.start();
        const startedAt = performance.now();
        const isHealed = async () => (await Promise.all(instances.map(tokenStatus))).every((status) => status === 200);
        while (!(await isHealed())) await pause(CHECK_MS);
        healedMs = Math.max(healedMs, performance.now() - startedAt);
      }
    });
    const wrong = await wrongResponsesUntil(running, known);
    const failed = failures(await running);
    expect(wrong).toEqual([]);
    expect(failed.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([]);
    expect(healedMs).toBeLessThan(5000);
    expect(instances.map(({ process }) => [process.pid, process.exitCode])).toEqual(pids.map((pid) => [pid, null]));
    await expectNothingLost(instanceAt(1));
  },
);

async function tokenStatus({ base }: Instance): Promise<number> {
  const response = await fetch(`${base}oauth2/token`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, connection: 'close' },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  await response.arrayBuffer();
  return response.status;
}

test('1,000 concurrent requests that wait for locks on 10 connections: 503 in time, and no connection leaks (S-146)', {
  timeout: LONG_MS,
}, async () => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}/`;
  const program = new Program(
    folder,
    {
      data_dir: join(folder, 'data-pool'),
      database: {
        uri: `postgres://tests@/postgres?host=${encodeURIComponent(database.host)}`,
        ...{ max_connections: 10, acquire_timeout: '1s', statement_timeout: '2s' },
      },
      http: {
        public_base: base,
        listeners: [{ resources: ['oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      secrets: { encryption: 'ab'.repeat(32) },
      clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: SECRET }],
      logging: { level: 'error' },
    },
    { name: 'pool.json' },
  );
  const child = await program.serve(base);
  const instance: Instance = { ...instanceAt(0), base, program, process: child };
  const blocker = new pg.Client(`postgresql://tests@${encodeURIComponent(database.host)}:${database.port}/postgres`);
  await blocker.connect();
  try {
    await blocker.query('begin; lock table oauth2_sessions in access exclusive mode');
    const began = performance.now();
    const statuses = await Promise.all(Array.from({ length: 1000 }, () => tokenStatus(instance)));
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(performance.now() - began).toBeLessThan(30_000);
    const { rows } = await blocker.query(
      `select count(*)::integer as count from pg_stat_activity where application_name = 'latchkey:${child.pid}'`,
    );
    expect(rows[0].count).toBeGreaterThan(0);
    expect(rows[0].count).toBeLessThanOrEqual(10);
    await blocker.query('rollback');
    const later = await Promise.all(Array.from({ length: 30 }, () => tokenStatus(instance)));
    expect(new Set(later)).toEqual(new Set([200]));
  } finally {
    await blocker.end();
    expect(await stopProcess(child)).toBe(0);
  }
});

test.each([1, 10])(
  'a network that is silent for %i s between one instance and the database: delays or 503 there, no effect elsewhere (F-08)',
  { timeout: LONG_MS },
  async (seconds) => {
    const victim = instanceAt(1);
    await expect.poll(() => instances.every(({ isUp }) => isUp)).toBe(true);
    const outcomes = await underLoad(async () => {
      victim.cable.cut();
      const silence = pause(seconds * 1000);
      if (seconds > 1) {
        // Once the load balancer notices, new requests succeed.
        await expect.poll(() => victim.isUp).toBe(false);
        const served = await Promise.all(Array.from({ length: 20 }, askForToken));
        expect(served.filter(({ instance, status }) => instance === victim || status !== 200)).toEqual([]);
      }
      await silence;
      victim.cable.mend();
      await expect.poll(() => instances.every(({ isUp }) => isUp)).toBe(true);
    });
    const failed = failures(outcomes);
    if (seconds === 1) expect(failed).toEqual([]);
    expect(failed.filter(({ instance, status }) => instance !== victim || status !== 503)).toEqual([]);
    await expectNothingLost(victim);
  },
);

test('kill -9 of a process during a job: another runs it within two minutes (operations 6.1, 10.9)', {
  timeout: LONG_MS,
}, async () => {
  const queue = 'cleanup-audit-events';
  const [holder, observer] = [new pg.Client(database.uri), new pg.Client(database.uri)];
  await Promise.all([holder.connect(), observer.connect()]);
  const job = async () =>
    (
      await observer.query<{ taken: boolean; seconds: number }>(
        `select worker is not null as taken, extract(epoch from due_at - now())::float8 as seconds
           from queue_jobs where queue = $1 and failed_at is null`,
        [queue],
      )
    ).rows[0];
  try {
    // The job waits while another transaction locks its table.
    await holder.query('begin; lock table audit_events in access exclusive mode');
    await observer.query('update queue_jobs set due_at = now() where queue = $1', [queue]);
    const waiting = async () =>
      (
        await observer.query<{ pid: number }>(
          `select substr(application_name, 10)::integer as pid from pg_stat_activity
            where wait_event_type = 'Lock' and application_name like 'latchkey:%'`,
        )
      ).rows[0]?.pid;
    await expect.poll(waiting).toBeDefined();
    const pid = await waiting();
    const victim = instances.find(({ process }) => process.pid === pid) ?? expect.fail('nobody runs the job');
    await killProcess(victim.process);
    await holder.query('rollback');
    const left = await job();
    expect(left).toMatchObject({ taken: true });
    expect(left?.seconds).toBeLessThanOrEqual(120);
    // Expires the lease.
    await observer.query('update queue_jobs set due_at = now() where queue = $1', [queue]);
    await expect.poll(async () => (await job())?.taken).toBe(false);
    await expect.poll(async () => (await job())?.seconds).toBeGreaterThan(0);
    victim.process = await victim.program.serve(victim.base);
  } finally {
    await Promise.all([holder.end(), observer.end()]);
  }
});

test('a second SIGTERM cuts an unfinished request, also during limits.drain_delay: exit 1', async () => {
  const { base, process: service, program } = instanceAt(1);
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    'POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n',
  );
  await fetch(`${base}health`);
  const ended = new Promise((resolve) => service.once('exit', resolve));
  service.kill('SIGTERM');
  await expect.poll(async () => (await fetch(`${base}health`).catch(() => undefined))?.status).not.toBe(200);
  service.kill('SIGTERM');
  expect(await ended).toBe(1);
  socket.destroy();
  instanceAt(1).process = await program.serve(base);
});
