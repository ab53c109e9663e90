import { describe, expect, test } from 'vitest';
import { DONE } from './queue.ts';
import { unknownJobsQueue } from './unknown-jobs.ts';
import { never, queueOf, runDue, useJobTable } from './worker.test-support.ts';

const table = useJobTable();

const HOUR_SECONDS = 3600;
const NEWER = 'of-a-newer-version';

/** The workers of a process that knows these queues. */
function processOf(...names: readonly string[]) {
  const queues = names.map((name) => queueOf(never, { name }).queue);
  const { clock, database, log } = table;
  const hourly = unknownJobsQueue({ database, clock, log, knownQueues: () => [...names, hourly.name] });
  return { jobs: table.worker(queues), hourly: table.worker([hourly]) };
}

/** Advances the clock hour by hour and runs the hourly work. */
async function pass(hours: number, { hourly }: ReturnType<typeof processOf>): Promise<void> {
  await runDue(hourly);
  for (let hour = 0; hour < hours; hour += 1) {
    table.clock.advanceSeconds(HOUR_SECONDS);
    await runDue(hourly);
  }
}

async function jobsOf(name: string) {
  return (await table.rows()).filter(({ queue }) => queue === name);
}

describe('jobs of a queue unknown to this version (operations 6.1)', () => {
  test('are left to newer versions for a day, then marked dead with one log line', async () => {
    const old = processOf('greet');
    await table.enqueue({ queue: NEWER });
    await table.enqueue({ queue: NEWER });
    await table.enqueue({ queue: NEWER, dueAt: table.clock.now() + 30 * HOUR_SECONDS * 1000 });
    await pass(24, old);
    expect(await runDue(old.jobs)).toBe(0);
    expect((await jobsOf(NEWER)).map(({ attempt, failed }) => [attempt, failed])).toEqual(
      Array.from({ length: 3 }, () => [0, false]),
    );
    await pass(3, old);
    expect((await jobsOf(NEWER)).map(({ failed, failed_reason: reason }) => [failed, reason])).toEqual([
      [true, 'no running version knows its queue'],
      [true, 'no running version knows its queue'],
      [false, null],
    ]);
    expect(table.log.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'job.dead', fields: { queue: NEWER, jobs: 2 } },
    ]);
  });

  test('are not touched while they run or wait for a retry on a process of the newer version', async () => {
    const old = processOf('greet');
    const running = queueOf(never, { name: NEWER });
    const newer = table.worker([running.queue], { database: table.second });
    await table.enqueue({ queue: NEWER });
    await newer.poll();
    for (let minute = 0; minute < 26 * 60; minute += 1) {
      table.clock.advanceSeconds(60);
      await newer.renew();
      if (minute % 30 === 0) await runDue(old.hourly);
    }
    expect(await jobsOf(NEWER)).toMatchObject([{ failed: false, has_worker: true }]);
  });

  test('a job of a known queue may wait for days', async () => {
    const old = processOf('greet');
    await table.enqueue();
    await pass(50, old);
    expect(await jobsOf('greet')).toMatchObject([{ failed: false }]);
  });

  test('hourly jobs that died this way restart with the version that knows them', async () => {
    const tidy = queueOf(() => DONE, { name: 'tidy', minuteOfHour: 15 });
    await runDue(table.worker([tidy.queue]));
    const old = processOf('greet');
    await pass(26, old);
    expect(await jobsOf('tidy')).toMatchObject([{ failed: true }]);
    const newer = table.worker([tidy.queue]);
    await runDue(newer);
    expect(await jobsOf('tidy')).toMatchObject([{ failed: false, failed_reason: null }]);
    table.clock.advanceSeconds(HOUR_SECONDS);
    await runDue(newer);
    expect(tidy.runs).toHaveLength(1);
  });
});
