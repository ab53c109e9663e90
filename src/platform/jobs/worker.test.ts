import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { runTask } from '#test/support/run-task.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { enqueueJob, type NewJob } from './enqueue.test-support.ts';
import { DONE, deleteFailedJobs, type Job, type JobOutcome, type JobQueue } from './queue.ts';
import { JobWorker, type JobWorkerOptions } from './worker.ts';

let testDatabase: TestDatabase;
let second: OpenDatabase;
let clock: FakeClock;
let log: RecordingLog;
const workers: JobWorker[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const connection = parseConnectionUri(testDatabase.connectionString);
  second = await openDatabase({ connection, log: silentLog, clock: { now: () => Date.now() } });
});
afterAll(async () => {
  await second.close();
  await testDatabase.drop();
});
beforeEach(async () => {
  await sql(testDatabase.database, 'truncate queue_jobs');
  clock = new FakeClock();
  log = new RecordingLog();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
});

/** A queue whose runs are kept, and answered by `outcome`. */
function queueOf(outcome: (job: Job) => JobOutcome | Promise<JobOutcome>, more: Partial<JobQueue> = {}) {
  const runs: Job[] = [];
  const queue: JobQueue = {
    name: 'greet',
    timeLimitSeconds: 60,
    run: async (job) => {
      runs.push(job);
      return await outcome(job);
    },
    ...more,
  };
  return { queue, runs };
}

function workerOf(queues: readonly JobQueue[], more: Partial<JobWorkerOptions> = {}): JobWorker {
  const { database } = testDatabase;
  const worker = new JobWorker({
    ...{ database, clock, log, queues, concurrency: 10, pollIntervalSeconds: 1, maxRetries: 10 },
    ...more,
  });
  workers.push(worker);
  return worker;
}

async function enqueue(job: Partial<NewJob> = {}): Promise<void> {
  await enqueueJob(testDatabase.database, { queue: 'greet', payload: {}, now: clock.now(), ...job });
}

async function runDue(worker: JobWorker): Promise<number> {
  const taken = await worker.poll();
  await worker.idle();
  return taken;
}

function rows() {
  return sql<{ attempt: number; has_worker: boolean; seconds: number; failed: boolean; failed_reason: string | null }>(
    testDatabase.database,
    `select attempt, worker is not null as has_worker, failed_at is not null as failed, failed_reason,
       round(extract(epoch from due_at - '${new Date(clock.now()).toISOString()}'))::integer as seconds
     from queue_jobs order by due_at`,
  );
}

const never = () => new Promise<JobOutcome>(() => {});

describe('a job is a part of the change that needs it (operations 6.1)', () => {
  test('it runs once the change is committed, and is gone when it is done', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const worker = workerOf([queue]);
    await testDatabase.database.transaction(async (transaction) => {
      await enqueueJob(transaction, { queue: 'greet', payload: { name: 'amira' }, now: clock.now() });
      expect(await runDue(worker)).toBe(0);
    });
    expect(await runDue(worker)).toBe(1);
    expect(runs).toMatchObject([{ payload: { name: 'amira' }, attempt: 1 }]);
    expect(await rows()).toEqual([]);
  });

  test('it never runs when the change is rolled back', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const failing = testDatabase.database.transaction(async (transaction) => {
      await enqueueJob(transaction, { queue: 'greet', payload: {}, now: clock.now() });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await runDue(workerOf([queue]))).toBe(0);
    expect(runs).toEqual([]);
  });

  test('of the waiting ones with one key there is one; one that runs does not count', async () => {
    const { queue } = queueOf(never);
    await enqueue({ dedupKey: 'amira', payload: { content: 'old' } });
    await enqueue({ dedupKey: 'amira', payload: { content: 'new' } });
    await enqueue({ dedupKey: 'bela' });
    await enqueue();
    await enqueue();
    expect(await rows()).toHaveLength(4);
    await workerOf([queue]).poll();
    await enqueue({ dedupKey: 'amira' });
    expect(await rows()).toHaveLength(5);
  });

  test('a waiting one does not start before a change that relies on it is committed', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const worker = workerOf([queue], { database: second });
    await enqueue({ dedupKey: 'amira' });
    await testDatabase.database.transaction(async (transaction) => {
      await enqueueJob(transaction, { queue: 'greet', payload: {}, dedupKey: 'amira', now: clock.now() });
      expect(await runDue(worker)).toBe(0);
    });
    expect(await runDue(worker)).toBe(1);
    expect(runs).toHaveLength(1);
  });

  test('it starts by itself within the interval, and its lines name it and the request that queued it', async () => {
    const { queue, runs } = queueOf(() => DONE);
    workerOf([queue], { pollIntervalSeconds: 0.1 }).start();
    await runTask('POST-71', () => enqueue());
    await expect.poll(() => runs.length).toBe(1);
    await expect.poll(() => log.lines.length).toBe(1);
    expect(log.lines[0]).toMatchObject({ level: 'info', event: 'job.completed', taskId: 'job-greet-1' });
    expect(log.written[0]).toMatch(
      /job-greet-1 - greet \[polls: \d+, cpu: [\d.]+ms, db: [\d.]+ms, elapsed: [\d.]+ms, queries: 1, fetched: 0\] attempt=1 parent=POST-71/,
    );
  });
});

describe('retry and dead letters (operations 6.2)', () => {
  test.each([
    ['asked for', () => ({ kind: 'retry', reason: 'answered 503' }) as const, 'answered 503'],
    [
      'an error',
      () => {
        throw new Error('no route to host');
      },
      'no route to host',
    ],
  ])('again after 5, 10, 20 s, give or take a fifth: %s', async (_case, outcome, reason) => {
    const { queue, runs } = queueOf(outcome);
    const worker = workerOf([queue]);
    await enqueue();
    for (const [attempt, seconds] of [5, 10, 20, 40].entries()) {
      expect(await runDue(worker)).toBe(1);
      const [row] = await rows();
      expect(row).toMatchObject({ attempt: attempt + 1, has_worker: false, failed: false, failed_reason: reason });
      expect(row?.seconds).toBeGreaterThanOrEqual(seconds * 0.8 - 1);
      expect(row?.seconds).toBeLessThanOrEqual(seconds * 1.2 + 1);
      clock.advanceSeconds(seconds * 0.7);
      expect(await runDue(worker)).toBe(0);
      clock.advanceSeconds(seconds * 0.6);
    }
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  test('not before the other side wants it, up to an hour', async () => {
    for (const [asked, seconds] of [
      [600, 600],
      [90_000, 3600],
    ]) {
      const { queue } = queueOf(() => ({ kind: 'retry', reason: 'busy', afterSeconds: asked }));
      await sql(testDatabase.database, 'truncate queue_jobs');
      await enqueue();
      await runDue(workerOf([queue]));
      expect(await rows()).toMatchObject([{ seconds }]);
    }
  });

  test('after the last retry it is dead: kept with its reason, not run again, deleted in time', async () => {
    const { queue, runs } = queueOf(() => ({ kind: 'retry', reason: 'answered 503' }));
    const worker = workerOf([queue], { maxRetries: 2 });
    await enqueue();
    for (let round = 0; round < 5; round += 1) {
      await runDue(worker);
      clock.advanceSeconds(3600);
    }
    expect(runs).toHaveLength(3);
    expect(await rows()).toMatchObject([{ failed: true, failed_reason: 'answered 503', attempt: 3 }]);
    expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'job.dead', fields: { reason: 'answered 503', attempt: 3 } },
    ]);
    const failedAt = clock.now() - 3 * 3_600_000;
    expect(await deleteFailedJobs(testDatabase.database, new Date(failedAt))).toEqual({ rows: 0, isLast: true });
    expect(await deleteFailedJobs(testDatabase.database, new Date(failedAt + 1))).toEqual({ rows: 1, isLast: true });
  });

  test('one that no retry could help is dead at once', async () => {
    const { queue, runs } = queueOf(() => ({ kind: 'failed', reason: 'x'.repeat(10_000) }));
    const worker = workerOf([queue]);
    await enqueue();
    await runDue(worker);
    clock.advanceSeconds(3600);
    await runDue(worker);
    expect(runs).toHaveLength(1);
    expect((await rows())[0]?.failed_reason).toHaveLength(4096);
  });

  test('one that never ends is aborted at its limit and retried; others go on (security F-24)', async () => {
    const stuck = queueOf(never, { name: 'stuck', timeLimitSeconds: 0.05 });
    const other = queueOf(() => DONE);
    const worker = workerOf([stuck.queue, other.queue]);
    await enqueue({ queue: 'stuck' });
    await enqueue();
    await runDue(worker);
    expect(other.runs).toHaveLength(1);
    expect(stuck.runs[0]?.signal.aborted).toBe(true);
    expect(await rows()).toMatchObject([{ attempt: 1, has_worker: false, failed_reason: 'took longer than 0.05 s' }]);
  });

  test('a retry that meets a newer job with its key gives way to it', async () => {
    const { queue } = queueOf(async () => {
      await enqueue({ dedupKey: 'amira', payload: { content: 'newer' } });
      return { kind: 'retry', reason: 'busy' };
    });
    await enqueue({ dedupKey: 'amira' });
    await runDue(workerOf([queue]));
    expect(await sql(testDatabase.database, 'select payload from queue_jobs')).toEqual([
      { payload: { content: 'newer' } },
    ]);
  });

  test('a backlog is worked off with no more at once than allowed', async () => {
    let atOnce = 0;
    let most = 0;
    const { queue, runs } = queueOf(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 2));
      atOnce -= 1;
      return DONE;
    });
    const worker = workerOf([queue], { concurrency: 3 });
    for (let count = 0; count < 20; count += 1) await enqueue();
    while ((await runDue(worker)) > 0);
    expect(runs).toHaveLength(20);
    expect(most).toBe(3);
  });
});

describe('several processes', () => {
  test('each job is run by one of them', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const both = [workerOf([queue]), workerOf([queue], { database: second })];
    for (let count = 0; count < 40; count += 1) await enqueue({ payload: { count } });
    for (let round = 0; round < 10; round += 1) await Promise.all(both.map(runDue));
    expect(runs).toHaveLength(40);
    expect(new Set(runs.map(({ payload }) => JSON.stringify(payload))).size).toBe(40);
  });

  test('the job of a process that died is taken over within two minutes, and one that lives keeps its own', async () => {
    const dead = queueOf(never);
    const alive = queueOf(never, { name: 'slow' });
    await enqueue();
    await enqueue({ queue: 'slow' });
    await workerOf([dead.queue]).poll();
    const living = workerOf([alive.queue]);
    await living.poll();
    const taking = queueOf(() => DONE);
    const slow = queueOf(() => DONE, { name: 'slow' });
    const other = workerOf([taking.queue, slow.queue], { database: second });
    for (let seconds = 0; seconds < 120; seconds += 20) {
      clock.advanceSeconds(20);
      await living.renew();
      await runDue(other);
    }
    expect(taking.runs).toMatchObject([{ attempt: 2 }]);
    expect(slow.runs).toEqual([]);
    expect(alive.runs[0]?.signal.aborted).toBe(false);
  });

  test('one whose process dies each time is dead in the end', async () => {
    const crashing = queueOf(never);
    await enqueue();
    for (let round = 0; round < 3; round += 1) {
      await workerOf([crashing.queue], { maxRetries: 2 }).poll();
      clock.advanceSeconds(61);
    }
    const { queue, runs } = queueOf(() => DONE);
    await runDue(workerOf([queue], { maxRetries: 2 }));
    expect(runs).toEqual([]);
    expect(await rows()).toMatchObject([{ failed: true, failed_reason: 'its process ended each time' }]);
  });

  test('a process that stood still and lost its job is told, and changes nothing more', async () => {
    const slow = queueOf(never);
    await enqueue();
    const first = workerOf([slow.queue]);
    await first.poll();
    clock.advanceSeconds(61);
    const { queue, runs } = queueOf(never);
    await workerOf([queue], { database: second }).poll();
    await first.renew();
    await first.idle();
    expect(slow.runs[0]?.signal.aborted).toBe(true);
    expect(runs[0]?.signal.aborted).toBe(false);
    expect(await rows()).toMatchObject([{ attempt: 2, has_worker: true }]);
  });

  test('jobs of a queue that this version does not know are left', async () => {
    await enqueue({ queue: 'of-a-newer-version' });
    expect(await runDue(workerOf([queueOf(() => DONE).queue]))).toBe(0);
    expect(await rows()).toMatchObject([{ attempt: 0, has_worker: false, failed: false }]);
  });
});

describe('stopping (operations 8.5)', () => {
  test('what runs may end; nothing more is taken', async () => {
    let finish = (_outcome: JobOutcome): void => {};
    const { queue, runs } = queueOf(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const worker = workerOf([queue]);
    await enqueue();
    await worker.poll();
    await enqueue();
    const stopped = worker.stop(5_000);
    expect(await worker.poll()).toBe(0);
    finish(DONE);
    await stopped;
    expect(runs).toHaveLength(1);
    expect(await rows()).toMatchObject([{ attempt: 0, has_worker: false }]);
  });

  test('what does not end is aborted and due at once, without counting', async () => {
    const { queue, runs } = queueOf(never);
    await enqueue();
    const worker = workerOf([queue]);
    await worker.poll();
    await worker.stop(0);
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(await rows()).toMatchObject([{ attempt: 0, has_worker: false, seconds: 0, failed: false }]);
  });
});

describe('hourly work', () => {
  const hourly = (outcome: () => JobOutcome) => queueOf(outcome, { name: 'tidy', minuteOfHour: 15 });

  test('runs once at its minute, on however many instances', async () => {
    const { queue, runs } = hourly(() => DONE);
    const both = [workerOf([queue]), workerOf([queue], { database: second })];
    const runsAt: number[] = [];
    await Promise.all(both.map(runDue));
    for (let minute = 0; minute < 180; minute += 1) {
      clock.advanceSeconds(60);
      const before = runs.length;
      await Promise.all(both.map(runDue));
      if (runs.length > before) runsAt.push(new Date(clock.now()).getUTCMinutes());
    }
    expect(runs).toHaveLength(3);
    expect(runsAt).toEqual([15, 15, 15]);
    expect(await rows()).toHaveLength(1);
  });

  test('runs once after a time in which no process ran', async () => {
    const { queue, runs } = hourly(() => DONE);
    await runDue(workerOf([queue]));
    clock.advanceSeconds(7 * 3600);
    const worker = workerOf([queue]);
    await runDue(worker);
    await runDue(worker);
    expect(runs).toHaveLength(1);
  });

  test('continues at once when it is not finished, where it was', async () => {
    const { queue, runs } = hourly(() =>
      runs.length < 3 ? { kind: 'unfinished', payload: { position: runs.length } } : DONE,
    );
    const worker = workerOf([queue]);
    await runDue(worker);
    clock.advanceSeconds(3600);
    while ((await runDue(worker)) > 0);
    expect(runs.map(({ payload }) => payload)).toEqual([{}, { position: 1 }, { position: 2 }]);
  });

  test('comes back an hour later when its retries are used up', async () => {
    const { queue, runs } = hourly(() => ({ kind: 'retry', reason: 'no' }));
    const worker = workerOf([queue], { maxRetries: 1 });
    await runDue(worker);
    clock.advanceSeconds(3600);
    await runDue(worker);
    clock.advanceSeconds(10);
    await runDue(worker);
    expect(runs).toHaveLength(2);
    expect(log.lines.at(-1)).toMatchObject({ event: 'job.dead' });
    clock.advanceSeconds(3600);
    await runDue(worker);
    expect(runs).toHaveLength(3);
  });
});

test('a database that is away ends nothing', async () => {
  const { queue, runs } = queueOf(() => DONE);
  const connection = parseConnectionUri(testDatabase.connectionString);
  const lost = await openDatabase({ connection, log: silentLog, clock, acquireTimeoutSeconds: 0.05 });
  const worker = workerOf([queue], { database: lost });
  await lost.close();
  expect(await worker.poll()).toBe(0);
  expect(runs).toEqual([]);
});
