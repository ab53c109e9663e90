import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { DONE } from '#platform/jobs/queue.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import { completeOptions } from '#platform/postgres/database-options.ts';
import { PostgresDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { freePort } from '#test/support/free-port.js';
import { NetworkLink } from '#test/support/network-link.js';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { workGauges } from './process-gauges.ts';

let cable: NetworkLink;
let database: PostgresDatabase;

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  const { host = '127.0.0.1', port = 5432, ...target } = parseConnectionUri(testDatabase.connectionString);
  cable = new NetworkLink({ host, port });
  const linkPort = await freePort();
  await cable.listen(linkPort);
  const connection = { ...target, host: '127.0.0.1', port: linkPort };
  database = new PostgresDatabase(completeOptions({ connection, log: silentLog, clock: systemClock }));
});

afterAll(async () => {
  cable.close();
  await database.close();
});

test('F-09: gauges that a slow database does not provide in time are omitted, the others are present', async () => {
  const greet = { name: 'greet', timeLimitSeconds: 60, run: async () => DONE };
  const worker = new JobWorker({
    ...{ database, clock: systemClock, log: silentLog, tracing: new ReceivedTraces(true) },
    ...{ queues: [greet], concurrency: 1, pollIntervalSeconds: 1, maxRetries: 1 },
  });
  const read = workGauges({ jobsDatabase: database, clock: systemClock }, () => [worker]);
  const names = async () => {
    const found: string[] = [];
    await read((name) => found.push(name));
    return found;
  };
  const all = [
    'latchkey_jobs_active',
    'latchkey_jobs_queued',
    'latchkey_jobs_oldest_due_seconds',
    'latchkey_jobs_dead',
  ];
  expect(await names()).toEqual(all);
  cable.slowDown(20_000);
  expect(await names()).toEqual(['latchkey_jobs_active']);
});
