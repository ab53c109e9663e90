/**
 * Measures how the cost of introspection and refresh grows with the number of stored sessions (performance 3). Some of
 * the added sessions are known to the driver, so that requests reach every part of the tables.
 */
import { poolOf } from './contestants.js';
import { addSessions, uuidOf } from './data-set.js';
import { AUTHORIZATION, CLIENT_ID } from './latchkey.js';
import { measure } from './race.js';
import { mean, merged, percentile, rounded } from './statistics.js';

const WORKLOADS = ['introspect', 'refresh'];
const CONCURRENCY = 16;
const ROUNDS = 10;
const STEP = 500_000;
/** One session in this many is known. */
const KNOWN = 100;
const MAX_GROWTH = 1.3;

export async function measureGrowth({ contestants, driver, postgres, size, say }) {
  const [own] = contestants;
  const client = await postgres.connect();
  try {
    const before = await measureCosts({ own, client, driver, postgres, size, known: size.sessions / KNOWN });
    say(`growth: ${size.sessions} sessions: ${JSON.stringify(before)}`);
    const known = [];
    for (let from = 0; from < size.grownSessions; from += STEP) {
      const count = Math.min(STEP, size.grownSessions - from);
      // One transaction, because the IDs are computed from its time.
      await client.query('begin');
      await client.query(NEW_SESSIONS, [from, count, uuidOf(CLIENT_ID)]);
      for (const statement of NEW_TOKENS) await client.query(statement, [from, count]);
      await client.query('commit');
      known.push(...(await knownSessions(client, count / KNOWN)));
      say(`growth: ${from + count} sessions added`);
    }
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    const after = await measureCosts({ own, client, driver, postgres, size, sessions: known });
    say(`growth: ${size.sessions + size.grownSessions} sessions: ${JSON.stringify(after)}`);
    const growth = Object.fromEntries(
      WORKLOADS.map((workload) => [workload, rounded(after[workload].cpu / before[workload].cpu)]),
    );
    return { from: size.sessions, to: size.sessions + size.grownSessions, before, after, growth, goal: MAX_GROWTH };
  } finally {
    await client.end();
  }
}

/** Returns for each workload its processor time per request in server and database, in microseconds, and its p50. */
async function measureCosts({ own, client, driver, postgres, size, known, sessions }) {
  const used = sessions ?? (await knownSessions(client, known));
  const costs = {};
  for (const [index, workload] of WORKLOADS.entries()) {
    const half = used.filter((_, at) => at % WORKLOADS.length === index);
    const contestant = { ...own, name: 'growth', inputs: undefined };
    await driver.fillPool(`${contestant.name}:${poolOf(workload)}`, half);
    const order = { workload, contestant, driver, postgres, concurrency: CONCURRENCY };
    await measure({ ...order, count: size.warmUp });
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure({ ...order, count: size.requests[16] }));
    const cpu = mean(rounds.map(({ serverCpu, databaseCpu }) => serverCpu + databaseCpu));
    const latencies = merged(rounds.map((round) => round.latencies));
    costs[workload] = { cpu: rounded(cpu * 1000), p50: rounded(percentile(latencies, 0.5)) };
  }
  return costs;
}

/** Adds sessions whose tokens the driver knows. Their owners are spread over all users. */
async function knownSessions(client, count) {
  const { rows: users } = await client.query('select id as uuid from users order by random() limit $1', [count]);
  const task = { users, count: Math.ceil(count), scope: ['profile'], clientUuid: uuidOf(CLIENT_ID), now: Date.now() };
  const sessions = await addSessions(client, task);
  return sessions.map((session) => ({ ...session, authorization: AUTHORIZATION }));
}

/** Sessions of the last 90 days, each with a live token pair. `g` numbers them over all calls. */
const MADE = `
  with owners as (
    select id, row_number() over (order by id) - 1 as position, count(*) over () as total from users
  ), made as (
    select g, now() - interval '90 days' + g * interval '0.7 s' as at
      from generate_series($1::integer, $1::integer + $2::integer - 1) g
  )`;

/** IDs sort by time, like those of the service. */
function idOf(kind) {
  return `(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5('${kind}' || g::text), 1, 20))::uuid`;
}

const NEW_SESSIONS = `${MADE}
  insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, auth_time, acr, created_at)
  select ${idOf('session')}, owners.id, $3::uuid, array['profile'], sha256(('family' || g::text)::bytea), at,
         'urn:latchkey:acr:1', at
    from made join owners on owners.position = g % owners.total`;

const NEW_TOKENS = [
  `${MADE}
  insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at, first_used_at)
  select ${idOf('access')}, ${idOf('session')}, sha256(('access' || g::text)::bytea), array['profile'], at,
         now() + interval '1 day', at
    from made`,
  `${MADE}
  insert into oauth2_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
  select ${idOf('refresh')}, ${idOf('session')}, sha256(('refresh' || g::text)::bytea), ${idOf('access')}, at
    from made`,
];
