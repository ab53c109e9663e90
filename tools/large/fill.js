/**
 * Fills a migrated database as a large service leaves it after a year: users with addresses, groups, second factors and
 * days of activity; sessions of all kinds, most of them ended; clients; events; jobs. One user and one client have
 * thousands of sessions and events, one group has all users.
 */
import pg from 'pg';

const DAY_MS = 86_400_000;
/** Maximum age of sessions, and of events, which are kept for a year. */
const SESSION_AGE_MS = 80 * DAY_MS;
const EVENT_AGE_MS = 360 * DAY_MS;
/** Rows of one statement. */
const BATCH = 500_000;
const SESSION_KINDS = { user_sessions: 0.4, oauth2_sessions: 0.4, compat_sessions: 0.2 };

/** One in this many rows belongs to the first user, and one in that many to the first client. */
const OF_FIRST_USER = 50;
const OF_FIRST_CLIENT = 7;

/** Sorts by time, like the IDs of the service. */
const idAt = (table, number, ms) =>
  `(lpad(to_hex(${ms}), 12, '0') || substr(md5('${table}' || ${number}), 1, 20))::uuid`;
const at = (ms) => `to_timestamp((${ms}) / 1000.0)`;
const hash = (table, number) => `sha256(('${table}' || ${number})::text::bytea)`;
const word = (...words) => `(array['${words.join(`','`)}'])[1 + g % ${words.length}]`;

/** @returns SQL for the time of row g of `total`, spread evenly over `ageMs` before `now` */
function timeOf(total, ageMs, now) {
  return `(${now - ageMs}::bigint + g::bigint * ${Math.floor(ageMs / total)})`;
}

/**
 * @param server connection parameters
 * @param {{ users: number, sessions: number, clients: number, events: number }} counts
 * @param provider UUID of a configured sign-in provider
 * @returns the IDs (UUIDs) of the first user and the first client, and the UUIDs of ordinary ones
 */
export async function fillLarge(server, counts, provider, { say }) {
  const client = new pg.Client(server);
  await client.connect();
  const now = Date.now();
  const userAt = timeOf(counts.users, EVENT_AGE_MS, now - DAY_MS);
  const idOfUser = (number) => idAt('users', number, userAt.replace('g::', `(${number})::`));
  const idOfClient = (number) => idAt('clients', number, `${now - EVENT_AGE_MS}::bigint + (${number})`);
  // Hashes spread the rows of a user over the whole time.
  const anyUser = idOfUser(
    `case when g % ${OF_FIRST_USER} = 0 then 1 else 1 + abs(hashint4(g)::bigint) % ${counts.users} end`,
  );
  const anyClient = idOfClient(
    `case when g % ${OF_FIRST_CLIENT} = 0 then 1 else 1 + abs(hashint4(g + 1)::bigint) % ${counts.clients} end`,
  );
  const address = `inet '10.0.0.0' + (abs(hashint4(g)::bigint) & 65535)`;
  const insert = async (table, total, columns) => {
    const started = performance.now();
    const names = Object.keys(columns).join(', ');
    for (let first = 1; first <= total; first += BATCH) {
      await client.query(
        `insert into ${table} (${names}) select ${Object.values(columns).join(', ')}
           from generate_series(${first}, ${Math.min(total, first + BATCH - 1)}) g`,
      );
    }
    say(`${table}: ${total} rows in ${Math.round((performance.now() - started) / 1000)} s`);
  };
  try {
    // The rows that others refer to are inserted too.
    await client.query(`set synchronous_commit = off; set session_replication_role = replica;
      set maintenance_work_mem = '512MB'`);
    await insert('users', counts.users, {
      id: idOfUser('g'),
      username: `'person-' || g`,
      username_key: `'person-' || g`,
      display_name: `${word('Amira', 'Bruno', 'Cleo', 'Dimitri')} || ' ' || g`,
      created_at: at(userAt),
      can_request_admin: 'g <= 10',
      locked_at: 'case when g % 200 = 0 then now() end',
      deactivated_at: 'case when g % 300 = 0 then now() end',
      groups: `array['everyone', 'team-' || g % 500]`,
    });
    await insert('user_groups', 502, {
      ...{ id: idAt('groups', 'g', `${now - EVENT_AGE_MS}::bigint + g`), created_at: 'now()' },
      name: `case g when 501 then 'everyone' when 502 then 'reported' else 'team-' || g - 1 end`,
    });
    await insert('user_emails', counts.users, {
      ...{ id: idAt('emails', 'g', userAt), user_id: idOfUser('g'), created_at: at(userAt), is_primary: 'true' },
      ...{ email: `'person-' || g || '@mail.example'`, email_key: `'person-' || g || '@mail.example'` },
    });
    await insert('user_totp_secrets', counts.users / 10, {
      ...{ id: idAt('totp', 'g', userAt), user_id: idOfUser('g * 10'), created_at: at(userAt) },
      ...{ secret_sealed: `''`, last_used_step: '0' },
    });
    await insert('user_active_days', counts.users * 5, {
      day: `(now() at time zone 'UTC')::date - g % 30`,
      user_id: idOfUser(`1 + g / 5 % ${counts.users}`),
    });
    await insert('upstream_links', counts.users / 2, {
      ...{ id: idAt('links', 'g', userAt), provider_id: `'${provider}'`, subject: 'g::text' },
      ...{ user_id: idOfUser('g * 2'), created_at: at(userAt), groups: `array['reported', 'team-' || g % 500]` },
      human_account_name: `'person-' || g`,
    });
    await insert('oauth2_clients', counts.clients, {
      ...{ id: idOfClient('g'), is_static: 'false', created_at: 'now()' },
      kind: `case when g % 3 = 0 then 'managed' end`,
      metadata: `jsonb_build_object('client_name', 'Application ' || g, 'client_uri', 'https://app-' || g || '.example',
        'redirect_uris', jsonb_build_array('https://app-' || g || '.example/callback'),
        'grant_types', jsonb_build_array('authorization_code', 'refresh_token'), 'token_endpoint_auth_method', 'none')`,
      disabled_at: 'case when g % 40 = 0 then now() end',
    });
    for (const [table, share] of Object.entries(SESSION_KINDS)) {
      const total = counts.sessions * share;
      const started = timeOf(total, SESSION_AGE_MS, now);
      await insert(table, total, {
        ...{ id: idAt(table, 'g', started), user_id: anyUser, created_at: at(started) },
        ...{ user_agent: `'Mozilla/5.0 (X11; Linux x86_64)'`, last_active_ip: address },
        last_active_at: `case when g % 5 > 0 then ${at(started)} + interval '1 hour' end`,
        finished_at: `case when g % 3 > 0 then least(now(), ${at(started)} + interval '1 day') end`,
        ...(table === 'user_sessions' && { key_hash: hash(table, 'g'), authenticated_at: at(started) }),
        ...(table === 'oauth2_sessions' && {
          client_id: anyClient,
          scope: `array['openid', ${word('email', 'groups')}]`,
        }),
        ...(table === 'compat_sessions' && { device_id: `'D' || g` }),
      });
    }
    await insert('personal_sessions', counts.clients, {
      ...{ id: idAt('personal', 'g', `${now - EVENT_AGE_MS}::bigint + g`), created_at: 'now()' },
      ...{ owner_user_id: idOfUser('1 + g % 10'), actor_user_id: idOfUser('1 + g % 10') },
      ...{ human_name: `'Script ' || g`, scope: `array['urn:mas:admin']` },
      revoked_at: 'case when g % 3 = 0 then now() end',
    });
    await insert('queue_jobs', counts.clients * 10, {
      ...{ id: idAt('jobs', 'g', `${now - DAY_MS}::bigint + g`), queue: word('send-mail', 'sync-devices') },
      ...{ payload: `'{}'`, created_at: 'now()', due_at: `now() + interval '1 year'` },
      failed_at: `case when g % 2 = 0 then now() end`,
      failed_reason: `case when g % 2 = 0 then 'refused' end`,
    });
    const occurred = timeOf(counts.events, EVENT_AGE_MS, now);
    const indexes = await dropIndexes(client, 'audit_events');
    await insert('audit_events', counts.events, {
      id: idAt('events', 'g', occurred),
      kind: `case when g % 100 = 0 then 'admin_action' else ${word(
        ...['login', 'login', 'login', 'session_started', 'session_started', 'session_ended', 'login_failed'],
      )} end`,
      user_id: `case when g % 20 > 0 then ${anyUser} end`,
      client_id: `case when g % 7 > 2 then ${anyClient} end`,
      ip: address,
      user_agent: `'Mozilla/5.0 (X11; Linux x86_64)'`,
      detail: `case when g % 100 = 0 then jsonb_build_object('operation', 'lockUser', 'target_type', 'user',
        'actor', case when g % 500 = 0 then 'operator' else 'admin' end) else jsonb_build_object('method', 'password') end`,
      created_at: at(occurred),
    });
    for (const definition of indexes) await client.query(definition);
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    const { rows } = await client.query(
      `with g as (select 1 as g) select ${idOfUser('1')} as user, ${idOfUser('17')} as "otherUser",
         ${idOfClient('1')} as client, ${idOfClient('18')} as "otherClient",
         (select id from user_groups where name = 'everyone') as everyone,
         (select id from user_groups where name = 'reported') as reported,
         (select id from user_groups where name = 'team-7') as team,
         (select id from user_sessions order by id limit 1) as "browserSession" from g`,
    );
    return rows[0];
  } finally {
    await client.end();
  }
}

/** Drops the indexes that no constraint needs, because updating them row by row takes longer than building them. */
async function dropIndexes(client, table) {
  const { rows } = await client.query(
    `select i.indexrelid::regclass as index, pg_get_indexdef(i.indexrelid) as definition
       from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
      where i.indrelid = $1::regclass and c.oid is null`,
    [table],
  );
  for (const { index } of rows) await client.query(`drop index ${index}`);
  return rows.map(({ definition }) => definition);
}
