/** All races of a run, and their assertions besides speed: statements per request, and a row for each issued token. */
import { meanStatements } from './latchkey.js';
import { loadAverage } from './machine.js';
import { ownResidentMb } from './processes.js';
import { race, warmUp } from './race.js';
import { HASHING, RACES } from './settings.js';
import { ratioOfCpu, ratioOfRates, summarise } from './statistics.js';

/** Rows that one request adds or updates, by workload: an acknowledged token that is not stored fails the run. */
const ROWS_OF = {
  refresh: { table: 'oauth2_refresh_tokens', filter: 'true' },
  'refresh-openid': { table: 'oauth2_refresh_tokens', filter: 'true' },
  'code-exchange': { table: 'oauth2_refresh_tokens', filter: 'true' },
  'device-poll': { table: 'oauth2_device_code_grants', filter: 'polled_at is not null' },
  'client-credentials': { table: 'oauth2_sessions', filter: 'user_id is null' },
  'client-assertion': { table: 'oauth2_sessions', filter: 'user_id is null' },
  registration: { table: 'oauth2_clients', filter: 'not is_static' },
  'password-login': { table: 'user_sessions', filter: 'true' },
  'chat-login': { table: 'compat_sessions', filter: 'true' },
  'chat-refresh': { table: 'compat_refresh_tokens', filter: 'true' },
};

export async function raceAll({ contestants, driver, postgres, size, wants, say }) {
  const client = await postgres.connect();
  const results = [];
  try {
    for (const plan of RACES.filter(({ workload }) => wants(workload))) {
      const isLogin = HASHING.has(plan.workload);
      const counts = isLogin ? size.logins : size.requests;
      const field = contestants.filter(({ name, kind }) => kind === 'latchkey' || name in plan.peers);
      const count = isLogin ? size.logins[16] : size.warmUp;
      await warmUp({ workload: plan.workload, contestants: field, count, driver, postgres });
      // Otherwise connections that planned a statement while its table was empty keep that plan until autovacuum runs.
      if (plan.workload in ROWS_OF) await client.query(`analyze ${ROWS_OF[plan.workload].table}`);
      for (const [concurrency, count] of Object.entries(counts)) {
        const task = { ...plan, concurrency: Number(concurrency), count, rounds: size.rounds };
        results.push(await raceOne({ ...task, field, driver, postgres, client, say }));
      }
    }
  } finally {
    await client.end();
  }
  return results;
}

/**
 * Runs a race and asserts that every request has a log line, uses at most `statements`, and stores the row that it
 * acknowledged.
 */
export async function validRace({ workload, statements, contestants, client, ...rest }) {
  const services = contestants.filter(({ kind }) => kind === 'latchkey');
  const rowsBefore = await countRows(client, workload);
  const positions = [];
  for (const service of services) positions.push(await service.logPosition());
  const measured = await race({ workload, contestants, ...rest });
  const requests = rest.count * rest.rounds;
  let queries = 0;
  for (const [index, service] of services.entries()) {
    const lines = await service.requestLinesSince(positions[index]);
    const counted = lines.filter((line) => workload !== 'password-login' || line.includes('"POST '));
    assertEqual(counted.length, requests, `${workload}: lines in the log`);
    if (index === 0) queries = meanStatements(counted);
  }
  const rows = (await countRows(client, workload)) - rowsBefore;
  if (workload in ROWS_OF) assertEqual(rows, services.length * requests, `${workload}: rows stored`);
  // The client is reloaded from the database every minute.
  if (queries > statements + 0.01) throw new Error(`${workload}: ${queries} statements per request`);
  return { measured, queries };
}

async function raceOne({ workload, peers, concurrency, field, say, ...rest }) {
  const [own, rival] = field.filter(({ kind }) => kind === 'latchkey');
  const { measured, queries } = await validRace({ workload, concurrency, contestants: field, ...rest });
  const ownRounds = measured.get(own.name);
  const against = (name) => ({
    rate: ratioOfRates(ownRounds, measured.get(name)),
    cpu: ratioOfCpu(ownRounds, measured.get(name)),
  });
  const result = {
    workload,
    concurrency,
    requestsPerRound: rest.count,
    statementsPerRequest: queries,
    loadAverage: loadAverage(),
    contestants: Object.fromEntries(
      field.map(({ name, pid }) => [name, { ...summarise(measured.get(name)), residentMb: ownResidentMb(pid) }]),
    ),
    ratios: Object.fromEntries(Object.entries(peers).map(([name, { goal }]) => [name, { ...against(name), goal }])),
    noise: against(rival.name),
  };
  say(describe(result));
  return result;
}

function describe({ workload, concurrency, contestants, noise }) {
  const rates = Object.entries(contestants).map(([name, { rate, serverCpu }]) => `${name} ${rate}/s ${serverCpu}s`);
  return `${workload} at ${concurrency}: ${rates.join(', ')}; against itself ${noise.rate.median}`;
}

async function countRows(client, workload) {
  const counted = ROWS_OF[workload];
  if (counted === undefined) return 0;
  const { rows } = await client.query(`select count(*)::integer as n from ${counted.table} where ${counted.filter}`);
  return rows[0].n;
}

function assertEqual(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: ${actual} in place of ${expected}`);
}
