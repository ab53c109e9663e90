/**
 * Compares the response time of the account area's lists for users with very many sessions and a user with one. The
 * users alternate, so that other load on the machine affects all equally.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, print, separateOperations } from 'graphql';
import { root } from '../scripts/steps/places.js';
import { PASSWORD, uuidOf } from './data-set.js';
import { CLIENT_ID } from './latchkey.js';
import { cpuSeconds } from './processes.js';
import { median, merged, rounded } from './statistics.js';

const MANY = 10_000;
/** Requests of one user before the next one's turn. */
const TRIES_IN_TURN = 5;
/** Maximum ratio of the other users' median to that of the user with one session of each kind (performance 3). */
const GOAL = 1.5;

/** `live`: many live sessions. `ended`: the same number, but all ended except one. */
const PEOPLE = ['one', 'live', 'ended'];

/** Requested after the lists are displayed: counting takes longer with more sessions. */
const COUNTS = 'counts of sessions';
/** The same for connected applications. */
const FACTS = 'what connected applications are';
/** Finds the last password change among all events, which are as many as the sessions here. */
const SECURITY = 'security';
const WITHOUT_GOAL = new Set([COUNTS, FACTS, SECURITY]);

/** The first queries of the area's pages, unmodified, and the lists that they merge. */
const LISTS = {
  'browser sessions': ofArea('sessions', 'BrowserSessionList', { last: 6 }),
  'OAuth sessions': ofUser('oauth2Sessions(state: ACTIVE, last: 6) { nodes { id createdAt humanName } }'),
  'chat sessions': ofUser('compatSessions(state: ACTIVE, last: 6) { nodes { id createdAt humanName } }'),
  'all application sessions': ofArea('sessions', 'AppSessionsList', { last: 6 }),
  [COUNTS]: ofArea('sessions', 'SessionsOverview'),
  activity: ofArea('activity', 'SecurityEventList', { last: 20 }),
  'connected applications': ofArea('applications', 'ConnectedApplicationList', { last: 10 }),
  [FACTS]: ofArea('applications', 'ConnectedApplicationFacts', { last: 10 }),
  [SECURITY]: ofArea('security', 'SecurityOverview'),
};

export async function measureAccountLists({ contestants, driver, postgres, size, say }) {
  const [own] = contestants;
  const cookies = await signIn(own.port, postgres);
  const result = {};
  for (const [list, body] of Object.entries(LISTS)) {
    for (const person of PEOPLE) {
      await driver.fillPool(`${list}:${person}`, [{ cookie: cookies[person], body }]);
    }
    const drive = (person, count) =>
      driver.drive({ workload: 'account-list', pool: `${list}:${person}`, port: own.port, concurrency: 1, count });
    for (const person of PEOPLE) await drive(person, size.listWarmUp);
    const taken = new Map(PEOPLE.map((person) => [person, { latencies: [], cpu: 0 }]));
    const cpu = () => cpuSeconds(own.pid) + cpuSeconds(postgres.pid);
    for (let tries = 0; tries < size.tries; tries += TRIES_IN_TURN) {
      for (const [person, sums] of taken) {
        const before = cpu();
        sums.latencies.push((await drive(person, TRIES_IN_TURN)).latencies);
        sums.cpu += cpu() - before;
      }
    }
    const of = (read) => Object.fromEntries([...taken].map(([person, sums]) => [person, rounded(read(sums))]));
    const medians = of(({ latencies }) => median([...merged(latencies)]));
    const processorMs = of(({ cpu: spent }) => (spent * 1000) / size.tries);
    const ratio = rounded(Math.max(medians.live, medians.ended) / medians.one);
    result[list] = { tries: size.tries, medians, processorMs, ratio, ...(!WITHOUT_GOAL.has(list) && { goal: GOAL }) };
    say(`${list}: medians ${JSON.stringify(medians)} ms, processor ${JSON.stringify(processorMs)} ms`);
  }
  return result;
}

/** Creates accounts with real session cookies, then adds old rows to them. */
async function signIn(port, postgres) {
  const client = await postgres.connect();
  try {
    const { rows } = await client.query(MAKE_ACCOUNTS, [PEOPLE.map(usernameOf)]);
    const cookies = {};
    for (const { username } of rows) {
      cookies[username] = await cookieOf(`http://127.0.0.1:${port}`, username);
    }
    for (const { id, username } of rows) {
      for (const statement of FILLINGS) {
        await client.query(statement, [id, uuidOf(CLIENT_ID), 1, false]);
        if (username === usernameOf('one')) continue;
        await client.query(statement, [id, uuidOf(CLIENT_ID), MANY - 1, username === usernameOf('ended')]);
      }
    }
    await client.query('vacuum analyze');
    return Object.fromEntries(PEOPLE.map((person) => [person, cookies[usernameOf(person)]]));
  } finally {
    await client.end();
  }
}

async function cookieOf(base, username) {
  const page = await fetch(new URL('/login', base));
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const answer = await fetch(new URL('/login', base), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookiesOf(page) },
    body: new URLSearchParams({ csrf, username, password: PASSWORD }),
  });
  if (answer.status !== 303) throw new Error(`${username} cannot sign in: ${answer.status}`);
  return cookiesOf(answer);
}

function cookiesOf(answer) {
  return answer.headers
    .getSetCookie()
    .map((text) => text.split(';', 1)[0])
    .join('; ');
}

function usernameOf(person) {
  return `lists-${person}`;
}

/** Returns a query of the bundled frontend. */
function ofArea(page, operation, variables = {}) {
  const document = parse(readFileSync(join(root, 'web/pages', page, `${page}.graphql`), 'utf8'));
  return JSON.stringify({ query: print(separateOperations(document)[operation]), variables });
}

function ofUser(fields) {
  return JSON.stringify({ query: `{ viewer { __typename ... on User { ${fields} } } }` });
}

const MAKE_ACCOUNTS = `
  with made as (
    insert into users (id, username, username_key, created_at)
    select gen_random_uuid(), name, name, now() from unnest($1::text[]) as n (name)
    returning id, username
  ), passwords as (
    insert into user_passwords (user_id, id, hash, scheme_version, created_at)
    select made.id, gen_random_uuid(), copied.hash, copied.scheme_version, now()
      from made, (select hash, scheme_version from user_passwords limit 1) copied
  )
  select id, username from made`;

/** IDs from an hour ago onward, in order of creation. The first session is the one that stays live. */
const ROWS = `(
    select g, now() - interval '1 hour' + $3 * interval '10 ms' + g * interval '10 ms' as at from generate_series(1, $3) g
  ) made`;
const NEW_ID = `(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20))::uuid`;
const AGENT = `'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'`;
const FILLINGS = [
  `insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, user_agent, created_at, last_active_at, finished_at)
   select ${NEW_ID}, $1, sha256(random()::text::bytea), at, 'urn:latchkey:acr:1', ${AGENT}, at, at, case when $4 then at end
     from ${ROWS} where $2::uuid is not null`,
  `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, auth_time, user_agent, created_at, last_active_at, finished_at)
   select ${NEW_ID}, $1, $2, '{openid,profile,email}', sha256(random()::text::bytea), at, ${AGENT}, at, at, case when $4 then at end
     from ${ROWS}`,
  `insert into compat_sessions (id, user_id, device_id, refresh_family, user_agent, created_at, last_active_at, finished_at)
   select ${NEW_ID}, $1, substr(md5(random()::text), 1, 10), sha256(random()::text::bytea), ${AGENT}, at, at, case when $4 then at end
     from ${ROWS} where $2::uuid is not null`,
  `insert into audit_events (id, user_id, kind, detail, user_agent, created_at)
   select ${NEW_ID}, $1, 'login', '{}', ${AGENT}, at from ${ROWS} where $2::uuid is not null and $4::boolean is not null`,
];
