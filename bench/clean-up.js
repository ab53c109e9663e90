/**
 * Measures how long machine clients wait while a year's backlog of expired tokens is deleted: p99 of introspection,
 * compared with its p99 with the same rows but no cleanup (operations 6.4).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { poolOf } from './contestants.js';
import { merged, percentile, rounded } from './statistics.js';

const INTROSPECTIONS = 16;
/** Pause between two measurements: the cleanup takes minutes, and the load itself is not the subject. */
const PAUSE_MS = 2_000;
const IDLE_ROUNDS = 20;
const BATCH = 500_000;
/** A batch of 1,000 rows starts every 100 ms at most. */
const MS_PER_ROW_AT_MOST = 1;
const GOAL = 5;

export async function measureCleanUp({ contestants, driver, postgres, size, say }) {
  const [own] = contestants;
  const client = await postgres.connect();
  try {
    say(`filling in ${size.expiredTokens} expired tokens`);
    await fillExpired(client, size.expiredTokens);
    const pool = `${own.name}:${poolOf('introspect')}`;
    const items = await own.inputs('introspect');
    if (items !== undefined) await driver.fillPool(pool, items);
    const introspect = async () => {
      await pause(PAUSE_MS);
      const order = { workload: 'introspect', pool, port: own.port, concurrency: INTROSPECTIONS };
      return (await driver.drive({ ...order, count: size.requests[16] })).latencies;
    };
    await introspect();
    const idle = [];
    for (let round = 0; round < IDLE_ROUNDS; round += 1) idle.push(await introspect());
    const removed = async () => Number((await client.query(REMOVED)).rows[0].count);
    const before = await removed();
    const startedAt = performance.now();
    const deadline = startedAt + 60_000 + size.expiredTokens * MS_PER_ROW_AT_MOST;
    await own.run(['jobs', 'run', 'cleanup-oauth2-access-tokens']);
    const busy = [];
    let count = 0;
    do {
      busy.push(await introspect());
      count = (await removed()) - before;
      if (busy.length % 30 === 0) say(`${count} removed`);
      if (performance.now() > deadline) throw new Error(`only ${count} of ${size.expiredTokens} were removed in time`);
    } while (count < size.expiredTokens);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const p99 = (rounds) => rounded(percentile(merged(rounds), 0.99));
    const [idleP99, cleaningP99] = [p99(idle), p99(busy)];
    say(`introspect p99: ${idleP99} ms idle, ${cleaningP99} ms while ${count} rows were removed in ${seconds} s`);
    return { rows: count, seconds, idleP99, cleaningP99, ratio: rounded(cleaningP99 / idleP99), goal: GOAL };
  } finally {
    await client.end();
  }
}

/** Adds expired tokens to the existing sessions, as if each had been refreshed repeatedly until some weeks ago. */
async function fillExpired(client, count) {
  for (let start = 0; start < count; start += BATCH) {
    await client.query(EXPIRED, [start, Math.min(BATCH, count - start)]);
  }
  await client.query('vacuum analyze oauth2_access_tokens');
  await client.query('checkpoint');
}

const EXPIRED = `
  with owners as (
    select id, scope, row_number() over (order by id) - 1 as position from oauth2_sessions
  ), made as (
    -- The number of sessions comes from here, so that the two are joined by hashing and not row by row.
    select g, g % (select count(*) from oauth2_sessions) as position,
        now() - interval '90 days' + g * interval '0.5 s' as at
      from generate_series($1::integer, $1::integer + $2::integer - 1) g
  )
  insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at, first_used_at)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(g::text), 1, 20))::uuid,
    owners.id, sha256(g::text::bytea), owners.scope, at, at + interval '5 minutes', at
    from made join owners on owners.position = made.position`;

const REMOVED = `select n_tup_del as count from pg_stat_user_tables where relname = 'oauth2_access_tokens'`;
