import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { enqueueJob, type NewJob } from './enqueue.test-support.ts';
import type { Job, JobOutcome, JobQueue } from './queue.ts';
import { JobWorker, type JobWorkerOptions } from './worker.ts';

interface JobRow {
  readonly queue: string;
  readonly attempt: number;
  readonly has_worker: boolean;
  /** Time until it is due. */
  readonly seconds: number;
  readonly failed: boolean;
  readonly failed_reason: string | null;
}

/** Workers on a job table that is emptied before each test, with a fake clock. */
class JobTable {
  testDatabase!: TestDatabase;
  /** The database as another process opens it. */
  second!: OpenDatabase;
  clock = new FakeClock();
  log = new RecordingLog();
  readonly workers: JobWorker[] = [];

  get database() {
    return this.testDatabase.database;
  }

  worker(queues: readonly JobQueue[], more: Partial<JobWorkerOptions> = {}): JobWorker {
    const { database, clock, log } = this;
    const worker = new JobWorker({
      ...{ database, clock, log, queues, tracing: new ReceivedTraces(true) },
      ...{ concurrency: 10, pollIntervalSeconds: 1, maxRetries: 10 },
      ...more,
    });
    this.workers.push(worker);
    return worker;
  }

  async enqueue(job: Partial<NewJob> = {}): Promise<void> {
    await enqueueJob(this.database, { queue: 'greet', payload: {}, now: this.clock.now(), ...job });
  }

  rows(): Promise<JobRow[]> {
    return sql(
      this.database,
      `select queue, attempt, worker is not null as has_worker, failed_at is not null as failed, failed_reason,
         round(extract(epoch from due_at - '${new Date(this.clock.now()).toISOString()}'))::integer as seconds
       from queue_jobs order by due_at`,
    );
  }
}

/** Created before all tests of the file. */
export function useJobTable(): JobTable {
  const table = new JobTable();
  beforeAll(async () => {
    table.testDatabase = await createTestDatabase();
    const connection = parseConnectionUri(table.testDatabase.connectionString);
    table.second = await openDatabase({ connection, log: silentLog, clock: systemClock });
  });
  afterAll(async () => {
    await table.second.close();
    await table.testDatabase.drop();
  });
  beforeEach(async () => {
    await sql(table.database, 'truncate queue_jobs');
    table.clock = new FakeClock();
    table.log = new RecordingLog();
  });
  afterEach(async () => {
    await Promise.all(table.workers.splice(0).map((worker) => worker.stop(0)));
  });
  return table;
}

/** Creates a queue that records its runs and gets their outcomes from `outcome`. */
export function queueOf(outcome: (job: Job) => JobOutcome | Promise<JobOutcome>, more: Partial<JobQueue> = {}) {
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

/** @returns number of jobs taken, after all of them have ended */
export async function runDue(worker: JobWorker): Promise<number> {
  const taken = await worker.poll();
  await worker.idle();
  return taken;
}

/** A run that never ends. */
export const never = () => new Promise<JobOutcome>(() => {});
