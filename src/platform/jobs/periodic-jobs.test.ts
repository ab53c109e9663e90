import { describe, expect, test } from 'vitest';
import { DONE, type JobOutcome } from './queue.ts';
import { never, queueOf, runDue, useJobTable } from './worker.test-support.ts';

const table = useJobTable();

describe('hourly jobs', () => {
  const hourly = (outcome: () => JobOutcome) => queueOf(outcome, { name: 'tidy', minuteOfHour: 15 });

  test('run once at their minute, on any number of instances', async () => {
    const { queue, runs } = hourly(() => DONE);
    const both = [table.worker([queue]), table.worker([queue], { database: table.second })];
    const runsAt: number[] = [];
    await Promise.all(both.map(runDue));
    for (let minute = 0; minute < 180; minute += 1) {
      table.clock.advanceSeconds(60);
      const before = runs.length;
      await Promise.all(both.map(runDue));
      if (runs.length > before) runsAt.push(new Date(table.clock.now()).getUTCMinutes());
    }
    expect(runs).toHaveLength(3);
    expect(runsAt).toEqual([15, 15, 15]);
    expect(await table.rows()).toHaveLength(1);
  });

  test('run once after a period in which no process ran', async () => {
    const { queue, runs } = hourly(() => DONE);
    await runDue(table.worker([queue]));
    table.clock.advanceSeconds(7 * 3600);
    const worker = table.worker([queue]);
    await runDue(worker);
    await runDue(worker);
    expect(runs).toHaveLength(1);
  });

  test('continue immediately where they stopped when they are unfinished', async () => {
    const { queue, runs } = hourly(() =>
      runs.length < 3 ? { kind: 'unfinished', payload: { position: runs.length } } : DONE,
    );
    const worker = table.worker([queue]);
    await runDue(worker);
    table.clock.advanceSeconds(3600);
    while ((await runDue(worker)) > 0);
    expect(runs.map(({ payload }) => payload)).toEqual([{}, { position: 1 }, { position: 2 }]);
  });

  test('run again an hour later when their retries are exhausted', async () => {
    const { queue, runs } = hourly(() => ({ kind: 'retry', reason: 'no' }));
    const worker = table.worker([queue], { maxRetries: 1 });
    await runDue(worker);
    table.clock.advanceSeconds(3600);
    await runDue(worker);
    table.clock.advanceSeconds(10);
    await runDue(worker);
    expect(runs).toHaveLength(2);
    expect(table.log.lines.at(-1)).toMatchObject({ event: 'job.dead' });
    table.clock.advanceSeconds(3600);
    await runDue(worker);
    expect(runs).toHaveLength(3);
  });

  test('do not pile up while a run takes longer than an hour', async () => {
    const { queue, runs } = queueOf(never, { name: 'tidy', minuteOfHour: 15 });
    const both = [table.worker([queue]), table.worker([queue], { database: table.second })];
    await Promise.all(both.map(runDue));
    table.clock.advanceSeconds(3600);
    await both[0]?.poll();
    await expect.poll(() => runs.length).toBe(1);
    for (let minute = 0; minute < 150; minute += 1) {
      // Renew the lease every third of its duration.
      for (let third = 0; third < 3; third += 1) {
        table.clock.advanceSeconds(20);
        await both[0]?.renew();
      }
      await Promise.all(both.map((worker) => worker.poll()));
    }
    expect(runs).toHaveLength(1);
    expect(await table.rows()).toHaveLength(1);
  });
});
