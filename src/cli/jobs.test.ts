import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { schedulePeriodicJobs } from '#platform/jobs/periodic-jobs.ts';
import { shownPayload } from '#platform/jobs/shown-payload.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { runCommand } from './run-command.test-support.ts';

let directory: string;
let testDatabase: TestDatabase;

beforeAll(async () => {
  // Each run adds an exit listener that flushes its log.
  process.setMaxListeners(100);
  testDatabase = await createTestDatabase();
  directory = mkdtempSync(join(tmpdir(), 'latchkey-jobs-'));
  const settings = {
    secrets: { encryption: 'ab'.repeat(32) },
    database: { uri: testDatabase.connectionString },
    logging: { output: join(directory, 'log') },
  };
  writeFileSync(join(directory, 'latchkey.yaml'), stringify(settings), { mode: 0o600 });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await testDatabase.drop();
});
beforeEach(async () => {
  await sql(testDatabase.database, 'truncate queue_jobs');
});

async function run(command: string) {
  const words = ['jobs', ...command.split(' ')];
  return await runCommand([...words, '-c', join(directory, 'latchkey.yaml')], { workingDirectory: directory });
}

type State = 'available' | 'scheduled' | 'running' | 'lapsed' | 'failed' | 'dead';

interface NewJob {
  readonly queue?: string;
  readonly payload?: object;
  readonly key?: string;
  readonly reason?: string;
}

/** Columns of a job by state: when it is due, number of attempts, worker, and whether it failed permanently. */
const COLUMNS: Readonly<Record<State, readonly [due: string, attempt: number, worker: string, failed: string]>> = {
  available: ["now() - interval '1 minute'", 0, 'null', 'null'],
  scheduled: ["now() + interval '1 hour'", 0, 'null', 'null'],
  running: ["now() + interval '1 minute'", 1, 'gen_random_uuid()', 'null'],
  lapsed: ["now() - interval '1 minute'", 1, 'gen_random_uuid()', 'null'],
  failed: ["now() + interval '1 minute'", 2, 'null', 'null'],
  dead: ["now() - interval '1 day'", 11, 'null', "now() - interval '1 hour'"],
};

async function insert(state: State, { queue = 'greet', payload = {}, key, reason }: NewJob = {}): Promise<string> {
  const id = newId(Date.now());
  const [due, attempt, worker, failed] = COLUMNS[state];
  await sql(
    testDatabase.database,
    `insert into queue_jobs (id, queue, payload, dedup_key, queued_by, attempt, created_at, due_at, worker, failed_at, failed_reason)
     values ($1, $2, $3, $4, 'POST-7', ${attempt}, now() - interval '2 days', ${due}, ${worker}, ${failed}, $5)`,
    [toUuid(id), queue, JSON.stringify(payload), key ?? null, reason ?? null],
  );
  return id;
}

async function stored(id: string) {
  const rows = await sql<{ id: string; attempt: number; is_dead: boolean; is_due: boolean; is_new: boolean }>(
    testDatabase.database,
    `select id, attempt, failed_at is not null as is_dead, due_at <= now() as is_due,
            created_at > now() - interval '1 minute' as is_new from queue_jobs`,
  );
  return rows.find((row) => fromUuid(row.id) === id);
}

/** Parses one JSON document per line. */
async function documents(command: string): Promise<Readonly<Record<string, unknown>>[]> {
  const { out } = await run(`${command} --json`);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('jobs list (operations 3.6)', () => {
  test('lists every job with its state', async () => {
    const states = ['available', 'scheduled', 'running', 'lapsed', 'failed', 'dead'] as const;
    const ids = new Map<unknown, State>();
    for (const state of states) ids.set(await insert(state), state);
    const listed = await documents('list');
    expect(new Map(listed.map(({ id, status }) => [ids.get(id), status]))).toEqual(
      new Map<unknown, string>([
        ['available', 'available'],
        ['scheduled', 'scheduled'],
        ['running', 'running'],
        // Its process was killed. The next worker takes it.
        ['lapsed', 'available'],
        ['failed', 'failed'],
        ['dead', 'dead'],
      ]),
    );
    for (const status of ['scheduled', 'running', 'failed', 'dead'] as const)
      expect((await documents(`list --status ${status}`)).map(({ id }) => ids.get(id))).toEqual([status]);
  });

  test('is a table, for one queue, of the requested length', async () => {
    await insert('dead', { queue: 'greet', reason: `it broke\u001b[2J ${'x'.repeat(100)}` });
    await insert('available', { queue: 'other' });
    await insert('available', { queue: 'other' });
    const { exitCode, out, err } = await run('list --queue greet');
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: 'total: 1\n' });
    const [head, row] = out.split('\n');
    expect(head).toMatch(/^ID {26}QUEUE {2}STATUS {2}ATTEMPT {2}CREATED {15}DUE {2}REASON$/);
    expect(row).toMatch(/^\w{26} {2}greet {2}dead {4}11 {7}[\dT:-]+Z {2}- {4}it broke\ufffd\[2J x{67}$/);
    expect((await run('list --queue other --limit 1')).err).toBe('only the first 1 are shown\n');
  });

  test('--queues lists the periodic jobs', async () => {
    const run_ = async () => ({ kind: 'done' }) as const;
    const queues = ['cleanup-b', 'cleanup-a'].map((name) => ({
      name,
      timeLimitSeconds: 1,
      minuteOfHour: 1,
      run: run_,
    }));
    await schedulePeriodicJobs(testDatabase.database, queues, Date.now());
    await insert('available', { queue: 'greet' });
    expect((await run('list --queues')).out).toBe('cleanup-a\ncleanup-b\n');
    expect(await documents('list --queues')).toEqual([{ queues: ['cleanup-a', 'cleanup-b'] }]);
  });
});

describe('jobs show', () => {
  test('shows the known fields without possible secrets', async () => {
    const payload = { user_id: 'someone', mail: { Code: '123456', to: ['a'] }, reset_token: 't', passwords: ['p'] };
    const id = await insert('dead', { payload, reason: 'it broke' });
    const [shown] = await documents(`show ${id.toLowerCase()}`);
    expect(shown).toMatchObject({
      id,
      queue: 'greet',
      status: 'dead',
      attempt: 11,
      scheduled_at: null,
      failed_reason: 'it broke',
      queued_by: 'POST-7',
      payload: {
        user_id: 'someone',
        mail: { Code: '<redacted>', to: ['a'] },
        reset_token: '<redacted>',
        passwords: '<redacted>',
      },
    });
    const { out } = await run(`show ${id}`);
    expect(out).toContain('status         dead\n');
    expect(out).not.toMatch(/123456|"t"|"p"/);
  });

  test('redacts in lists of objects and leaves other values unchanged', () => {
    expect(shownPayload([{ secret: 1 }, null, 'token', 3])).toEqual([{ secret: '<redacted>' }, null, 'token', 3]);
  });

  test.each(['show', 'retry', 'delete'])('%s: exit 1 without such a job, 2 for an invalid ID', async (command) => {
    const absent = await run(`${command} 01JD3Q5Z8W2N4K6M7P9R0S1T00`);
    expect(absent).toEqual({
      exitCode: 1,
      out: '',
      err: 'latchkey: job not found: it is complete or was deleted\n',
    });
    expect(await run(`${command} 7`)).toEqual({
      exitCode: 2,
      out: '',
      err: 'latchkey: 7 is not a job id\n',
    });
  });
});

describe('jobs retry', () => {
  test('restarts a dead job as if it were new', async () => {
    const id = await insert('dead');
    expect(await run(`retry ${id}`)).toEqual({ exitCode: 0, out: 'the job is due now\n', err: '' });
    expect(await stored(id)).toMatchObject({ attempt: 0, is_dead: false, is_due: true, is_new: true });
  });

  test.each(['available', 'scheduled', 'running', 'failed'] as const)(
    'leaves one that is %s unchanged: exit 1',
    async (state) => {
      const id = await insert(state);
      const { exitCode, err } = await run(`retry ${id}`);
      expect({ exitCode, err }).toEqual({
        exitCode: 1,
        err: 'latchkey: the job is not dead: it is waiting or running\n',
      });
    },
  );

  test('leaves one for which another waits: exit 1', async () => {
    const id = await insert('dead', { key: 'alice' });
    await insert('scheduled', { key: 'alice' });
    const { exitCode, err } = await run(`retry ${id}`);
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: 'latchkey: a job for the same work is already waiting; delete this one\n',
    });
    expect(await stored(id)).toMatchObject({ is_dead: true });
  });

  test('--all-dead retries all, or those of a queue, and one per key', async () => {
    const ids = [];
    for (let count = 0; count < 101; count += 1) ids.push(await insert('dead'));
    const other = await insert('dead', { queue: 'other' });
    expect((await run('retry --all-dead --queue greet')).out).toBe('due now: 101\n');
    expect(await stored(other)).toMatchObject({ is_dead: true });
    await insert('dead', { queue: 'other', key: 'alice' });
    await insert('dead', { queue: 'other', key: 'alice' });
    expect(await documents('retry --all-dead')).toEqual([{ retried: 2, superseded: 1 }]);
  });

  test.each([
    ['retry', 'expected a job id or --all-dead'],
    ['retry 01JD3Q5Z8W2N4K6M7P9R0S1T00 --all-dead', 'expected a job id or --all-dead'],
    ['retry 01JD3Q5Z8W2N4K6M7P9R0S1T00 --queue greet', '--queue requires --all-dead'],
    ['list --status done', 'Allowed choices are available, scheduled, running, failed, dead.'],
  ])('jobs %s is a usage error (exit code 2)', async (command, message) => {
    const { exitCode, err } = await run(command);
    expect(exitCode).toBe(2);
    expect(err).toContain(message);
  });
});

describe('jobs delete', () => {
  test.each(['available', 'scheduled', 'lapsed', 'failed', 'dead'] as const)(
    'deletes a job that is %s',
    async (state) => {
      const id = await insert(state);
      expect(await run(`delete ${id}`)).toEqual({ exitCode: 0, out: 'deleted\n', err: '' });
      expect(await stored(id)).toBeUndefined();
    },
  );

  test('does not delete a running job: exit 1', async () => {
    const id = await insert('running');
    const { exitCode, err } = await run(`delete ${id}`);
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: 'latchkey: the job is running; retry when it has finished\n',
    });
    expect(await stored(id)).toBeDefined();
  });
});

describe('jobs run', () => {
  const queues = ['cleanup-audit-events', 'cleanup-queue-jobs'].map((name) => ({
    name,
    timeLimitSeconds: 1,
    minuteOfHour: 1,
    run: async () => ({ kind: 'done' }) as const,
  }));

  test('makes a periodic job due, even after it was given up', async () => {
    await schedulePeriodicJobs(testDatabase.database, queues, Date.now());
    expect(await run('run cleanup-queue-jobs')).toEqual({
      exitCode: 0,
      out: 'cleanup-queue-jobs is due now\n',
      err: '',
    });
    const [due] = await documents('list --status available');
    expect(due).toMatchObject({ queue: 'cleanup-queue-jobs' });
    await sql(testDatabase.database, 'update queue_jobs set failed_at = now()');
    await run('run cleanup-audit-events');
    const [audit] = await documents('list --status available');
    expect(audit).toMatchObject({ queue: 'cleanup-audit-events' });
    const recorded = await sql(
      testDatabase.database,
      `select detail from audit_events where kind = 'admin_action' order by id desc limit 1`,
    );
    expect(recorded).toEqual([
      { detail: { actor: 'operator', operation: 'jobs run', target_type: 'job', target: Object(audit).id } },
    ]);
  });

  test('does not change a running job: exit 1', async () => {
    await schedulePeriodicJobs(testDatabase.database, queues, Date.now());
    await sql(testDatabase.database, 'update queue_jobs set worker = gen_random_uuid()');
    const { exitCode, err } = await run('run cleanup-queue-jobs');
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: 'latchkey: cleanup-queue-jobs is already running\n' });
  });

  test('suggests the closest name for an unknown one: exit 2', async () => {
    await insert('available', { queue: 'cleanup-queue-jobs' });
    expect((await run('run cleanup-queue-job')).err).toContain(
      'queues are only known after the first start of the service',
    );
    await sql(testDatabase.database, 'truncate queue_jobs');
    await schedulePeriodicJobs(testDatabase.database, queues, Date.now());
    expect(await run('run cleanup-queue-job')).toEqual({
      exitCode: 2,
      out: '',
      err: 'latchkey: unknown recurring job cleanup-queue-job: did you mean cleanup-queue-jobs?\n',
    });
  });
});
