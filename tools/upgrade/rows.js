import pg from 'pg';

const BATCH = 100_000;
/** Number of connections that fill one table. */
const AT_ONCE = 3;

/** Distributes a total number of rows over the tables. */
export function sharesOf(count) {
  const [users, user_sessions, oauth2_sessions, compat_sessions, oauth2_access_tokens] = SHARES.map((share) =>
    Math.round(count * share),
  );
  return { users, user_sessions, oauth2_sessions, compat_sessions, oauth2_access_tokens };
}

/**
 * Fills the tables that grow with use, as the older version would have left them: users, browser sessions, client
 * sessions, chat sessions and access tokens. Rows are in time order, as in production. Indexes are dropped and rebuilt
 * after the inserts, because updating them row by row would take hours.
 * @param {{ host: string, port: number, user: string, database: string }} server
 * @param {Readonly<Record<string, number>>} counts rows of each table
 * @param expired how many of the access tokens expired days ago, the oldest ones; default: none
 * @returns the IDs of the first and the last transaction that inserted rows
 */
export async function fillRows(server, counts, { say, expired = 0 }) {
  const [client, ...others] = await Promise.all(Array.from({ length: AT_ONCE }, () => connectForFilling(server)));
  try {
    const first = await transactionOf(client);
    const schema = await definitionsOf(client);
    const dropped = await dropIndexes(client);
    const totals = [counts.users, counts.oauth2_sessions, expired, Date.now()];
    for (const [table, statement] of Object.entries(STATEMENTS)) {
      const total = counts[table];
      await inParallel([client, ...others], batchesOf(total), async (connection, range) => {
        await connection.query(statement, [...range, total, ...totals]);
      });
      say(`${table}: ${total} rows`);
    }
    await inParallel([client, ...others.slice(1)], dropped, (connection, statement) => connection.query(statement));
    requireEqual(schema, await definitionsOf(client));
    const last = await transactionOf(client);
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    say(`${dropped.length} indexes built`);
    return { first, last };
  } finally {
    await Promise.all([client, ...others].map((connection) => connection.end()));
  }
}

/** Groups that the accounts of `fillAdministration` are in. */
const GROUPS = 500;
/** Events of each account. */
const EVENTS = 5;

/**
 * Adds the groups of the accounts that `fillRows` inserted, and the events of their sign-ins.
 * @param {{ host: string, port: number, user: string, database: string }} server
 * @param {number} users how many there are
 */
export async function fillAdministration(server, users, { say }) {
  const client = await connectForFilling(server);
  try {
    await client.query(
      `update users set groups = array['group-' || abs(hashtext(username) % ${GROUPS})] where username like 'person-%'`,
    );
    await client.query(
      `insert into audit_events (id, kind, user_id, client_id, ip, user_agent, detail, created_at)
       select gen_random_uuid(), (array['login', 'login_failed', 'session_started'])[1 + n % 3], u.id, ${CLIENT},
              inet '10.0.0.0' + (hashtext(u.username) & 65535), 'Mozilla/5.0', jsonb_build_object('method', 'password'),
              u.created_at + n * interval '1 minute'
         from users u, generate_series(1, ${EVENTS}) n where u.username like 'person-%'`,
    );
    await client.query('vacuum analyze users, audit_events');
    await client.query('checkpoint');
    say(`groups of ${users} accounts, and ${users * EVENTS} events`);
  } finally {
    await client.end();
  }
}

const TABLES = ['users', 'user_sessions', 'oauth2_sessions', 'compat_sessions', 'oauth2_access_tokens'];
const SHARES = [0.1, 0.2, 0.2, 0.2, 0.3];
const DAY_MS = 86_400_000;
/** Maximum age of all rows except tokens, so that nothing expires. */
const AGE_MS = 20 * DAY_MS;
const EXPIRED_FOR_MS = 10 * DAY_MS;

/** Creation time of a row, in milliseconds since the epoch. */
const began = (number, total) => `($7::bigint - ${AGE_MS} + (${number})::bigint * (${AGE_MS} / ${total}))`;
const timeOf = (milliseconds) => `to_timestamp(${milliseconds} / 1000.0)`;
/** Far cheaper than a cryptographic digest. */
const eightBytes = (table, number, part = 0) =>
  `int8send(hashint8extended((${number})::bigint, ${TABLES.indexOf(table) * 8 + part}))`;
const HASH = (table) => [1, 2, 3, 4].map((part) => eightBytes(table, 'g', part)).join(' || ');
/** Sorts by time, like the IDs of the service. */
const idAt = (table, number, milliseconds) =>
  `encode(int8send((${milliseconds}) << 16) || ${eightBytes(table, number)}, 'hex')::uuid`;
const ID = (table, number = 'g', total = '$3::bigint') => idAt(table, number, began(number, total));
const AT = timeOf(began('g', '$3::bigint'));
const USER = ID('users', 'g % $4::integer + 1', '$4::bigint');
const NUMBERS = `from generate_series($1::integer, $2::integer) g, (values
  ($3::integer, $4::integer, $5::integer, $6::integer, $7::bigint)) of_all`;
/** Two thirds of all sessions have ended, too recently for a cleanup to delete them. */
const ENDED = `case when g % 3 > 0 then now() - interval '1 hour' end`;
const CLIENT = '(select id from oauth2_clients limit 1)';
/** Expired tokens did so between two and twelve days ago; the others expire within two days. */
const EXPIRY = `case when g <= $6::integer
  then $7::bigint - ${2 * DAY_MS + EXPIRED_FOR_MS} + g * ${EXPIRED_FOR_MS}::bigint / $6::bigint
  else $7::bigint + ${DAY_MS} + g * (${DAY_MS} / $3::bigint) end`;

/**
 * Parameters: first and last row; rows of the table, of users and of sessions; expired tokens; and the current time.
 */
const STATEMENTS = {
  users: `insert into users (id, username, username_key, created_at)
    select ${ID('users')}, 'person-' || g, 'person-' || g, ${AT} ${NUMBERS}`,
  user_sessions: `insert into user_sessions (id, key_hash, user_id, created_at, authenticated_at, finished_at)
    select ${ID('user_sessions')}, ${HASH('user_sessions')}, ${USER}, ${AT}, ${AT}, ${ENDED} ${NUMBERS}`,
  oauth2_sessions: `insert into oauth2_sessions (id, client_id, scope, refresh_family, user_id, created_at, finished_at)
    select ${ID('oauth2_sessions')}, ${CLIENT}, '{openid}', ${HASH('oauth2_sessions')}, ${USER}, ${AT}, ${ENDED}
      ${NUMBERS}`,
  compat_sessions: `insert into compat_sessions (id, device_id, user_id, created_at, finished_at)
    select ${ID('compat_sessions')}, 'D' || g, ${USER}, ${AT}, ${ENDED} ${NUMBERS}`,
  oauth2_access_tokens: `
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at)
    select ${idAt('oauth2_access_tokens', 'g', `at - ${DAY_MS}`)},
      ${ID('oauth2_sessions', 'g % $5::integer + 1', '$5::bigint')},
      ${HASH('oauth2_access_tokens')}, '{openid}', ${timeOf(`(at - ${DAY_MS})`)}, ${timeOf('at')}
      from (select g, ${EXPIRY} as at ${NUMBERS}) tokens`,
};

async function connectForFilling(server) {
  const client = new pg.Client(server);
  await client.connect();
  // The rows need no durability, and the rows that they reference are inserted too.
  await client.query(`set synchronous_commit = off; set session_replication_role = replica;
    set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 1`);
  return client;
}

function* batchesOf(total) {
  for (let first = 1; first <= total; first += BATCH) yield [first, Math.min(first + BATCH - 1, total)];
}

async function inParallel(connections, items, work) {
  const waiting = items[Symbol.iterator]();
  const workers = connections.map(async (connection) => {
    for (let { done, value } = waiting.next(); done !== true; { done, value } = waiting.next()) {
      await work(connection, value);
    }
  });
  await Promise.all(workers);
}

/**
 * Drops all indexes except those that foreign keys need.
 * @returns statements that recreate them
 */
async function dropIndexes(client) {
  const { rows } = await client.query(
    `select i.indrelid::regclass as relation, i.indexrelid::regclass as index, c.conname as constraint,
        pg_get_indexdef(i.indexrelid) as index_definition, pg_get_constraintdef(c.oid) as constraint_definition
       from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
      where i.indrelid = any ($1::regclass[])
        and not exists (select from pg_constraint f where f.conindid = i.indexrelid and f.contype = 'f')
      order by pg_relation_size(i.indrelid), i.indexrelid`,
    [TABLES],
  );
  const statements = [];
  for (const { relation, index, constraint, index_definition, constraint_definition } of rows) {
    if (constraint === null) {
      await client.query(`drop index ${index}`);
      statements.push(index_definition);
    } else {
      await client.query(`alter table ${relation} drop constraint "${constraint}"`);
      statements.push(`alter table ${relation} add constraint "${constraint}" ${constraint_definition}`);
    }
  }
  return statements;
}

async function definitionsOf(client) {
  const { rows } = await client.query(
    `select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = any ($1::regclass[])
     union all select conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where conrelid = any ($1::regclass[])
     union all select attrelid::regclass || '.' || attname || ' ' || attnotnull from pg_attribute
                where attrelid = any ($1::regclass[]) and attnum > 0
     order by 1`,
    [TABLES],
  );
  return rows.map(({ definition }) => definition);
}

function requireEqual(before, after) {
  const changed = [...before.filter((one) => !after.includes(one)), ...after.filter((one) => !before.includes(one))];
  if (changed.length > 0) throw new Error(`the schema is no longer as it was: ${changed.join('; ')}`);
}

async function transactionOf(client) {
  const { rows } = await client.query('select pg_current_xact_id()::text as id');
  return rows[0].id;
}
