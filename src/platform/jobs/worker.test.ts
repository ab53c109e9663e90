import { describe, expect, test } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { sql } from '#test/support/fixtures.ts';
import { runTask } from '#test/support/run-task.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { enqueueJob } from './enqueue.test-support.ts';
import { DONE, deleteFailedJobs, type JobOutcome } from './queue.ts';
import { never, queueOf, runDue, useJobTable } from './worker.test-support.ts';

const table = useJobTable();

const DAY = 86_400;

describe('a job is part of the transaction that enqueues it (operations 6.1)', () => {
  test('it runs once after the commit and is deleted when done', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const worker = table.worker([queue]);
    await table.database.transaction(async (transaction) => {
      await enqueueJob(transaction, { queue: 'greet', payload: { name: 'amira' }, now: table.clock.now() });
      expect(await runDue(worker)).toBe(0);
    });
    expect(await runDue(worker)).toBe(1);
    expect(runs).toMatchObject([{ payload: { name: 'amira' }, attempt: 1 }]);
    expect(await table.rows()).toEqual([]);
  });

  test('it never runs when the transaction is rolled back', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const failing = table.database.transaction(async (transaction) => {
      await enqueueJob(transaction, { queue: 'greet', payload: {}, now: table.clock.now() });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await runDue(table.worker([queue]))).toBe(0);
    expect(runs).toEqual([]);
  });

  test('a key has one waiting job; a running one does not count', async () => {
    const { queue } = queueOf(never);
    await table.enqueue({ dedupKey: 'amira', payload: { content: 'old' } });
    await table.enqueue({ dedupKey: 'amira', payload: { content: 'new' } });
    await table.enqueue({ dedupKey: 'bela' });
    await table.enqueue();
    await table.enqueue();
    expect(await table.rows()).toHaveLength(4);
    await table.worker([queue]).poll();
    await table.enqueue({ dedupKey: 'amira' });
    expect(await table.rows()).toHaveLength(5);
  });

  test('a waiting job does not start before a transaction that relies on it is committed', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const worker = table.worker([queue], { database: table.second });
    await table.enqueue({ dedupKey: 'amira' });
    await table.database.transaction(async (transaction) => {
      await enqueueJob(transaction, { queue: 'greet', payload: {}, dedupKey: 'amira', now: table.clock.now() });
      expect(await runDue(worker)).toBe(0);
    });
    expect(await runDue(worker)).toBe(1);
    expect(runs).toHaveLength(1);
  });

  test('it starts automatically within the poll interval, and its lines name the job and the request that queued it', async () => {
    const { queue, runs } = queueOf(() => DONE);
    table.worker([queue], { pollIntervalSeconds: 0.1 }).start();
    await runTask('POST-71', () => table.enqueue());
    await expect.poll(() => runs.length).toBe(1);
    await expect.poll(() => table.log.lines.length).toBe(1);
    expect(table.log.lines[0]).toMatchObject({ level: 'info', event: 'job.completed', taskId: 'job-greet-1' });
    expect(table.log.written[0]).toMatch(
      /job-greet-1 - greet \[polls: \d+, cpu: [\d.]+ms, db: [\d.]+ms, elapsed: [\d.]+ms, queries: 1, fetched: 0\] attempt=1 parent=POST-71/,
    );
  });
});

describe('retries and dead letters (operations 6.2)', () => {
  test.each([
    ['asked for', () => ({ kind: 'retry', reason: 'answered 503' }) as const, 'answered 503'],
    [
      'an error',
      () => {
        throw new Error('no route to host');
      },
      'no route to host',
    ],
    [
      'the error message of the database',
      () => {
        throw new LatchkeyError('temporarily_unavailable', { cause: new Error('53100 no space') });
      },
      '53100 no space',
    ],
  ])('retries after 5, 10, 20 s with 20% jitter: %s', async (_case, outcome, reason) => {
    const { queue, runs } = queueOf(outcome);
    const worker = table.worker([queue]);
    await table.enqueue();
    for (const [attempt, seconds] of [5, 10, 20, 40].entries()) {
      expect(await runDue(worker)).toBe(1);
      const [row] = await table.rows();
      expect(row).toMatchObject({ attempt: attempt + 1, has_worker: false, failed: false, failed_reason: reason });
      expect(row?.seconds).toBeGreaterThanOrEqual(seconds * 0.8 - 1);
      expect(row?.seconds).toBeLessThanOrEqual(seconds * 1.2 + 1);
      table.clock.advanceSeconds(seconds * 0.7);
      expect(await runDue(worker)).toBe(0);
      table.clock.advanceSeconds(seconds * 0.6);
    }
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  test('jobs that failed together are not retried together', async () => {
    const { queue } = queueOf(() => ({ kind: 'retry', reason: 'answered 503' }));
    for (let count = 0; count < 40; count += 1) await table.enqueue();
    const worker = table.worker([queue], { maxRetries: 3 });
    while ((await runDue(worker)) > 0);
    table.clock.advanceSeconds(6);
    while ((await runDue(worker)) > 0);
    const delays = (await table.rows()).map(({ seconds }) => seconds);
    // 10 s, varied by up to 20%.
    expect(new Set(delays).size).toBeGreaterThan(2);
  });

  test('does not retry earlier than the other side requests, up to an hour', async () => {
    for (const [requested, seconds] of [
      [600, 600],
      [90_000, 3600],
    ]) {
      const { queue } = queueOf(() => ({ kind: 'retry', reason: 'busy', afterSeconds: requested }));
      await sql(table.database, 'truncate queue_jobs');
      await table.enqueue();
      await runDue(table.worker([queue]));
      expect(await table.rows()).toMatchObject([{ seconds }]);
    }
  });

  test('a postponed job runs at its time, and the postponement does not count as an attempt', async () => {
    let isTurn = false;
    const { queue, runs } = queueOf(() =>
      isTurn ? DONE : { kind: 'postponed', reason: 'enough for now', afterSeconds: 30 },
    );
    const worker = table.worker([queue], { maxRetries: 1 });
    await table.enqueue();
    for (let round = 0; round < 5; round += 1) {
      expect(await runDue(worker)).toBe(1);
      expect(await table.rows()).toMatchObject([{ attempt: 0, has_worker: false, failed: false, seconds: 30 }]);
      expect(await runDue(worker)).toBe(0);
      table.clock.advanceSeconds(30);
    }
    isTurn = true;
    await runDue(worker);
    expect(runs).toHaveLength(6);
    expect(await table.rows()).toEqual([]);
  });

  test('after the last retry a job is dead: kept with its reason, not run again, deleted later', async () => {
    const { queue, runs } = queueOf(() => ({ kind: 'retry', reason: 'answered 503' }));
    const worker = table.worker([queue], { maxRetries: 2 });
    await table.enqueue();
    for (let round = 0; round < 5; round += 1) {
      await runDue(worker);
      table.clock.advanceSeconds(3600);
    }
    expect(runs).toHaveLength(3);
    expect(await table.rows()).toMatchObject([{ failed: true, failed_reason: 'answered 503', attempt: 3 }]);
    expect(table.log.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'job.dead', fields: { reason: 'answered 503', attempt: 3 } },
    ]);
    const failedAt = table.clock.now() - 3 * 3_600_000;
    expect(await deleteFailedJobs(table.database, new Date(failedAt))).toEqual({ rows: 0, isLast: true });
    expect(await deleteFailedJobs(table.database, new Date(failedAt + 1))).toEqual({ rows: 1, isLast: true });
  });

  test('a job that no retry could fix is dead immediately', async () => {
    const { queue, runs } = queueOf(() => ({ kind: 'failed', reason: 'x'.repeat(10_000) }));
    const worker = table.worker([queue]);
    await table.enqueue();
    await runDue(worker);
    table.clock.advanceSeconds(3600);
    await runDue(worker);
    expect(runs).toHaveLength(1);
    expect((await table.rows())[0]?.failed_reason).toHaveLength(4096);
  });

  test('a reason that the database cannot store does not keep a job from being dead', async () => {
    const { queue, runs } = queueOf(() => ({ kind: 'failed', reason: `\0${'é'.repeat(4096)}` }));
    await table.enqueue();
    await runDue(table.worker([queue]));
    const [row] = await table.rows();
    expect(row).toMatchObject({ failed: true, has_worker: false });
    expect(row?.failed_reason).toMatch(/^ é+$/);
    expect(Buffer.byteLength(row?.failed_reason ?? '')).toBe(4095);
    expect(runs).toHaveLength(1);
  });

  test('a job that never ends is aborted at its time limit and retried; others continue (security F-24)', async () => {
    const stuck = queueOf(never, { name: 'stuck', timeLimitSeconds: 0.05 });
    const other = queueOf(() => DONE);
    const worker = table.worker([stuck.queue, other.queue]);
    await table.enqueue({ queue: 'stuck' });
    await table.enqueue();
    await runDue(worker);
    expect(other.runs).toHaveLength(1);
    expect(stuck.runs[0]?.signal.aborted).toBe(true);
    expect(await table.rows()).toMatchObject([
      { attempt: 1, has_worker: false, failed_reason: 'took longer than 0.05 s' },
    ]);
  });

  test('a retry gives way to a newer job with the same key', async () => {
    const { queue } = queueOf(async () => {
      await table.enqueue({ dedupKey: 'amira', payload: { content: 'newer' } });
      return { kind: 'retry', reason: 'busy' };
    });
    await table.enqueue({ dedupKey: 'amira' });
    await runDue(table.worker([queue]));
    expect(await sql(table.database, 'select payload from queue_jobs')).toEqual([{ payload: { content: 'newer' } }]);
  });

  test('processes a backlog within the concurrency limit', async () => {
    let atOnce = 0;
    let most = 0;
    const { queue, runs } = queueOf(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 2));
      atOnce -= 1;
      return DONE;
    });
    const worker = table.worker([queue], { concurrency: 3 });
    for (let count = 0; count < 20; count += 1) await table.enqueue();
    while ((await runDue(worker)) > 0);
    expect(runs).toHaveLength(20);
    expect(most).toBe(3);
  });
});

describe('multiple processes', () => {
  test('a process takes five jobs of a backlog, or as many as it has slots, and leaves the rest to others', async () => {
    const { queue } = queueOf(never);
    for (let count = 0; count < 20; count += 1) await table.enqueue();
    const roomy = table.worker([queue], { concurrency: 8 });
    expect([await roomy.poll(), await roomy.poll(), await roomy.poll()]).toEqual([5, 3, 0]);
    const small = table.worker([queue], { concurrency: 2, database: table.second });
    expect([await small.poll(), await small.poll()]).toEqual([2, 0]);
  });

  test('F-09: a completion that the database did not store is stored later, and the job does not run again', async () => {
    let refused = 0;
    const { queue, runs } = queueOf(() => DONE);
    const { database: open } = table;
    const database: Queryable = {
      first: (...query) => open.first(...query),
      rows: (...query) => open.rows(...query),
      execute: async (statement, parameters) => {
        if (statement.label !== 'complete-job' || refused === 2) return await open.execute(statement, parameters);
        refused += 1;
        throw new LatchkeyError('temporarily_unavailable');
      },
    };
    await table.enqueue();
    const worker = table.worker([queue], { database });
    await worker.poll();
    await worker.idle();
    expect([refused, runs.length, await table.rows()]).toEqual([2, 1, []]);
    expect(table.log.lines.map(({ event }) => event)).toEqual(['job.completed']);
  });

  test('a backlog does not wait for the next interval: each slot is reused once it is free', async () => {
    const { queue, runs } = queueOf(() => DONE);
    for (let count = 0; count < 20; count += 1) await table.enqueue();
    table.worker([queue], { concurrency: 2, pollIntervalSeconds: 3_600 }).start();
    await expect.poll(() => runs.length).toBe(20);
  });

  test('each job runs on one of them', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const both = [table.worker([queue]), table.worker([queue], { database: table.second })];
    for (let count = 0; count < 40; count += 1) await table.enqueue({ payload: { count } });
    for (let round = 0; round < 10; round += 1) await Promise.all(both.map(runDue));
    expect(runs).toHaveLength(40);
    expect(new Set(runs.map(({ payload }) => JSON.stringify(payload))).size).toBe(40);
  });

  test('jobs of a dead process are taken over within two minutes, and a live one keeps its own', async () => {
    const dead = queueOf(never);
    const alive = queueOf(never, { name: 'slow' });
    await table.enqueue();
    await table.enqueue({ queue: 'slow' });
    await table.worker([dead.queue]).poll();
    const living = table.worker([alive.queue]);
    await living.poll();
    const taking = queueOf(() => DONE);
    const slow = queueOf(() => DONE, { name: 'slow' });
    const other = table.worker([taking.queue, slow.queue], { database: table.second });
    for (let seconds = 0; seconds < 120; seconds += 20) {
      table.clock.advanceSeconds(20);
      await living.renew();
      await runDue(other);
    }
    expect(taking.runs).toMatchObject([{ attempt: 2 }]);
    expect(slow.runs).toEqual([]);
    expect(alive.runs[0]?.signal.aborted).toBe(false);
  });

  test('F-14: a job written while the clock was ahead runs within two minutes after the clock was set back', async () => {
    const { queue, runs } = queueOf(() => DONE);
    const hourly = queueOf(() => DONE, { name: 'hourly', minuteOfHour: 30 });
    const worker = table.worker([queue, hourly.queue]);
    table.clock.advanceSeconds(400 * DAY);
    await runDue(worker);
    await table.enqueue();
    table.clock.advanceSeconds(-400 * DAY);
    await worker.renew();
    expect(await runDue(worker)).toBe(0);
    table.clock.advanceSeconds(61);
    expect(await runDue(worker)).toBe(2);
    expect([runs.length, hourly.runs.length]).toEqual([1, 1]);
    expect((await table.rows()).every(({ seconds }) => seconds <= 3600)).toBe(true);
  });

  test('F-14: the job of a process that died while the clock was ahead is taken over within two minutes', async () => {
    await table.enqueue();
    table.clock.advanceSeconds(3600);
    await table.worker([queueOf(never).queue]).poll();
    table.clock.advanceSeconds(-3600);
    const { queue, runs } = queueOf(() => DONE);
    const worker = table.worker([queue]);
    await worker.renew();
    table.clock.advanceSeconds(61);
    await runDue(worker);
    expect(runs).toMatchObject([{ attempt: 2 }]);
  });

  test('F-14: a job due later but not written in the future waits for its time', async () => {
    const { queue } = queueOf(() => ({ kind: 'postponed', reason: 'not yet', afterSeconds: DAY }));
    const worker = table.worker([queue]);
    await table.enqueue();
    await runDue(worker);
    await worker.renew();
    expect((await table.rows())[0]?.seconds).toBe(DAY);
  });

  test('a job whose process dies each time is dead eventually', async () => {
    const crashing = queueOf(never);
    await table.enqueue();
    for (let round = 0; round < 3; round += 1) {
      await table.worker([crashing.queue], { maxRetries: 2 }).poll();
      table.clock.advanceSeconds(61);
    }
    const { queue, runs } = queueOf(() => DONE);
    await runDue(table.worker([queue], { maxRetries: 2 }));
    expect(runs).toEqual([]);
    expect(await table.rows()).toMatchObject([{ failed: true, failed_reason: 'the process exited during every run' }]);
  });

  test('a paused process that lost its job is notified and changes nothing more', async () => {
    const slow = queueOf(never);
    await table.enqueue();
    const first = table.worker([slow.queue]);
    await first.poll();
    table.clock.advanceSeconds(61);
    const { queue, runs } = queueOf(never);
    await table.worker([queue], { database: table.second }).poll();
    await first.renew();
    await first.idle();
    expect(slow.runs[0]?.signal.aborted).toBe(true);
    expect(runs[0]?.signal.aborted).toBe(false);
    expect(await table.rows()).toMatchObject([{ attempt: 2, has_worker: true }]);
  });
});

describe('stopping (operations 8.5)', () => {
  test('running jobs may finish; no new ones are taken', async () => {
    let finish = (_outcome: JobOutcome): void => {};
    const { queue, runs } = queueOf(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const worker = table.worker([queue]);
    await table.enqueue();
    await worker.poll();
    await table.enqueue();
    const stopped = worker.stop(5_000);
    expect(await worker.poll()).toBe(0);
    finish(DONE);
    await stopped;
    expect(runs).toHaveLength(1);
    expect(await table.rows()).toMatchObject([{ attempt: 0, has_worker: false }]);
  });

  test('jobs that do not finish are aborted and due immediately, without counting an attempt', async () => {
    const { queue, runs } = queueOf(never);
    await table.enqueue();
    const worker = table.worker([queue]);
    await worker.poll();
    await worker.stop(0);
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(await table.rows()).toMatchObject([{ attempt: 0, has_worker: false, seconds: 0, failed: false }]);
  });
});

test('an unavailable database does not end anything', async () => {
  const { queue, runs } = queueOf(() => DONE);
  const connection = parseConnectionUri(table.testDatabase.connectionString);
  const lost = await openDatabase({ connection, log: silentLog, clock: table.clock, acquireTimeoutSeconds: 0.05 });
  const worker = table.worker([queue], { database: lost });
  await lost.close();
  expect(await worker.poll()).toBe(0);
  expect(runs).toEqual([]);
});
