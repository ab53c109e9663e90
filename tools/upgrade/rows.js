import pg from 'pg';

const BATCH = 250_000;

/** Of a number of rows in all, how many each table gets. */
export function sharesOf(count) {
  const [users, user_sessions, oauth2_sessions, compat_sessions, oauth2_access_tokens] = SHARES.map((share) =>
    Math.round(count * share),
  );
  return { users, user_sessions, oauth2_sessions, compat_sessions, oauth2_access_tokens };
}

/**
 * Fills the tables that grow with use, as the older version would have left them: people, browser sessions, sessions of
 * applications and chat clients, access tokens.
 * @param {{ host: string, port: number, user: string, database: string }} server
 * @param {Readonly<Record<string, number>>} counts rows of each table
 * @param expired of so many access tokens one has expired long ago; none by default
 */
export async function fillRows(server, counts, { say, expired = 0 }) {
  const client = new pg.Client(server);
  await client.connect();
  try {
    // What is filled in needs not outlive the test, and only what comes after it is measured.
    await client.query('set synchronous_commit = off');
    for (const [table, statement] of Object.entries(STATEMENTS)) {
      const rows = counts[table];
      for (let first = 1; first <= rows; first += BATCH) {
        const last = Math.min(first + BATCH - 1, rows);
        await client.query(statement, [first, last, counts.users, counts.oauth2_sessions, expired]);
      }
      say(`${table}: ${rows} rows`);
    }
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

const SHARES = [0.1, 0.2, 0.2, 0.2, 0.3];
const ID = (table, number = 'g') => `md5('${table}' || ${number})::uuid`;
const USER = `${ID('users', '(g % $3::integer + 1)')}, timestamptz '2026-01-01' + g * interval '2 s'`;
const NUMBERS =
  'from generate_series($1::integer, $2::integer) g, (values ($3::integer, $4::integer, $5::integer)) of_all';
/** Two thirds of all sessions have ended, not so long ago that a clean-up would take them away. */
const ENDED = `case when g % 3 > 0 then now() - interval '1 hour' end`;
const CLIENT = '(select id from oauth2_clients limit 1)';

const STATEMENTS = {
  users: `insert into users (id, username, username_key, created_at)
    select ${ID('users')}, 'person-' || g, 'person-' || g, timestamptz '2026-01-01' ${NUMBERS}`,
  user_sessions: `insert into user_sessions (id, key_hash, user_id, created_at, authenticated_at, finished_at)
    select ${ID('user_sessions')}, sha256(g::text::bytea), ${USER}, timestamptz '2026-01-01', ${ENDED} ${NUMBERS}`,
  oauth2_sessions: `insert into oauth2_sessions (id, client_id, scope, refresh_family, user_id, created_at, finished_at)
    select ${ID('oauth2_sessions')}, ${CLIENT}, '{openid}', sha256(g::text::bytea), ${USER}, ${ENDED} ${NUMBERS}`,
  compat_sessions: `insert into compat_sessions (id, device_id, user_id, created_at, finished_at)
    select ${ID('compat_sessions')}, 'D' || g, ${USER}, ${ENDED} ${NUMBERS}`,
  oauth2_access_tokens: `
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at)
    select ${ID('oauth2_access_tokens')}, ${ID('oauth2_sessions', '(g % $4::integer + 1)')},
      sha256(('token' || g)::bytea), '{openid}', at - interval '1 hour', at
      from (select g, now() + case when $5 > 0 and g % nullif($5, 0) = 0 then interval '-60 days' else interval '1 day' end
        as at ${NUMBERS}) tokens`,
};
