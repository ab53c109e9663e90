/**
 * Checks that response times do not reveal which accounts exist: wrong passwords for every kind of name, and recoveries
 * for every kind of address. The kinds alternate, so that other load on the machine affects all equally.
 */
import { cpuSeconds } from './processes.js';
import { median, merged, rounded } from './statistics.js';

/** Tries of one kind before the next one's turn. */
const TRIES_IN_TURN = 5;
/** Maximum distance of the medians (browser-flows 3.2.4): in milliseconds, or as a share of the lowest. */
const GOAL = { milliseconds: 5, share: 0.05 };

const KINDS = {
  login: ['known', 'unknown', 'without-password', 'locked', 'deactivated'],
  recover: ['known', 'unknown', 'without-password', 'locked', 'deactivated'],
};

export async function measureTiming({ contestants, driver, postgres, size, say }) {
  const [own] = contestants;
  const client = await postgres.connect();
  try {
    await makeAccounts(client);
  } finally {
    await client.end();
  }
  const result = {};
  for (const [form, kinds] of Object.entries(KINDS)) {
    const workload = form === 'login' ? 'wrong-password' : 'recover';
    for (const kind of kinds) {
      await driver.fillPool(`${form}:${kind}`, [{ username: `timing-${kind}`, email: `${kind}@timing.test` }]);
    }
    const drive = (kind) =>
      driver.drive({ workload, pool: `${form}:${kind}`, port: own.port, concurrency: 1, count: TRIES_IN_TURN });
    for (const kind of kinds) await drive(kind);
    const taken = new Map(kinds.map((kind) => [kind, { latencies: [], cpu: 0 }]));
    for (let tries = 0; tries < size.tries; tries += TRIES_IN_TURN) {
      for (const [kind, sums] of taken) {
        const before = cpuSeconds(own.pid);
        sums.latencies.push((await drive(kind)).latencies);
        sums.cpu += cpuSeconds(own.pid) - before;
      }
    }
    const of = (read) => Object.fromEntries([...taken].map(([kind, sums]) => [kind, rounded(read(sums))]));
    const medians = of(({ latencies }) => median([...merged(latencies)]));
    const processorMs = of(({ cpu }) => (cpu * 1000) / size.tries);
    const [lowest, highest] = [Math.min(...Object.values(medians)), Math.max(...Object.values(medians))];
    const allowed = rounded(Math.max(GOAL.milliseconds, GOAL.share * lowest));
    result[form] = { tries: size.tries, medians, processorMs, apart: rounded(highest - lowest), allowed };
    say(`${form}: medians ${JSON.stringify(medians)} ms, processor ${JSON.stringify(processorMs)} ms`);
  }
  return result;
}

/** Creates one account of each kind except for `unknown`. */
async function makeAccounts(client) {
  const kinds = KINDS.login.filter((kind) => kind !== 'unknown');
  await client.query(
    `with made as (
       insert into users (id, username, username_key, created_at, locked_at, deactivated_at)
       select gen_random_uuid(), 'timing-' || kind, 'timing-' || kind, now(),
              case kind when 'locked' then now() end, case kind when 'deactivated' then now() end
         from unnest($1::text[]) as k (kind)
       returning id, username
     ), addresses as (
       insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), id, replace(username, 'timing-', '') || '@timing.test',
              replace(username, 'timing-', '') || '@timing.test', now() from made
     )
     insert into user_passwords (user_id, id, hash, scheme_version, created_at)
     select made.id, gen_random_uuid(), copied.hash, copied.scheme_version, now()
       from made, (select hash, scheme_version from user_passwords limit 1) copied
      where made.username <> 'timing-without-password'`,
    [kinds],
  );
}
