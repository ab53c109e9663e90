/**
 * Measures a long steady load (performance 3): the memory that is in use after full collections must not grow, and
 * tables must stay as large as their live rows require. The load leaves most of the machine idle, as in real use.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AUTHORIZATION, startLatchkey } from './latchkey.js';
import { ownResidentMb } from './processes.js';
import { median, rounded } from './statistics.js';

/** Requests per second of each workload, for a total of a hundred. */
const MIX = { introspect: 40, userinfo: 20, refresh: 20, 'client-credentials': 10, 'login-page': 10 };
const CONNECTIONS = 8;
/** Share of the duration after which memory is compared. */
const FIRST = 1 / 12;
/** Full collections that a figure is the median of. */
const COLLECTIONS = 5;
const MAX_GROWTH = 1.05;
/** A line of V8: milliseconds since the start, and megabytes in use before and after a full collection. */
const COLLECTION = /^\[\d+:\w+\]\s+(\d+) ms: Mark-Compact.*? -> ([\d.]+) /gm;

export async function measureSteady({ checkout, folder, database, driver, data, postgres, size, say }) {
  const service = await startLatchkey({ name: 'steady', checkout, folder, database, flags: ['--trace-gc'] });
  const client = await postgres.connect();
  try {
    const sessions = (list) => list.map((session) => ({ ...session, authorization: AUTHORIZATION }));
    for (const workload of Object.keys(MIX)) {
      const items = sessions(workload === 'refresh' ? data.sessionsWithoutOpenid : data.sessions);
      await driver.fillPool(`steady:${workload}`, items);
    }
    const seconds = size.steadySeconds;
    // On a busy machine some requests are left out.
    const order = { port: service.port, connections: CONNECTIONS, seconds, leavesOut: true };
    const report = setInterval(() => say(`steady: ${ownResidentMb(service.pid)} MB resident`), 300_000);
    const offered = await Promise.all(
      Object.entries(MIX).map(([workload, rate]) =>
        driver.offer({ ...order, workload, pool: `steady:${workload}`, rate }),
      ),
    );
    clearInterval(report);
    const residentMb = ownResidentMb(service.pid);
    // Autovacuum runs every minute.
    await pause(Math.min(90_000, seconds * 100));
    const collections = collectionsOf(join(folder, 'steady.out'));
    const until = (ms) => collections.filter((one) => one.atMs <= ms).slice(-COLLECTIONS);
    const [first, last] = [until(seconds * 1000 * FIRST), until(Number.POSITIVE_INFINITY)].map((some) =>
      some.length === 0 ? undefined : rounded(median(some.map(({ usedMb }) => usedMb))),
    );
    const { rows } = await client.query(DEAD_ROWS);
    const result = {
      ...{ seconds, requests: offered.reduce((sum, { done }) => sum + done, 0), residentMb },
      refused: offered.reduce((sum, { refused }) => sum + refused, 0),
      leftOut: offered.reduce((sum, { leftOut }) => sum + leftOut, 0),
      collections: collections.length,
      ...{ usedMbFirst: first, usedMbLast: last, growth: rounded(last / first), goal: MAX_GROWTH },
      deadRows: Object.fromEntries(rows.map(({ relname, share }) => [relname, Number(share)])),
    };
    say(`steady: ${JSON.stringify(result)}`);
    return result;
  } finally {
    await client.end();
    await service.stop();
  }
}

function collectionsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(COLLECTION)].map(([, atMs, usedMb]) => ({
    atMs: Number(atMs),
    usedMb: Number(usedMb),
  }));
}

/** Dead rows as a share of the live ones, for tables that the load changes. */
const DEAD_ROWS = `
  select relname, round(n_dead_tup::numeric / greatest(n_live_tup, 1), 3) as share
    from pg_stat_user_tables where n_tup_upd + n_tup_del > 1000 order by relname`;
