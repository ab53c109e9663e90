/** The invariants of security 5.3, as queries that find violations. */
import pg from 'pg';

/**
 * An account whose first event exists must have all others. The first one may have been deleted if clocks went ahead
 * for longer than the retention of events.
 */
const hasEvents = (user) =>
  `exists (select from audit_events own where own.user_id = ${user} and own.kind = 'registered')`;
const LIVE_REFRESH = 'consumed_at is null and revoked_at is null';

/** @param eventsOf condition on accounts whose events must exist */
const invariants = (eventsOf) => [
  [
    '1: no two active accounts with names that fold to the same, no address of two accounts',
    `select username_key from users where deactivated_at is null group by 1 having count(*) > 1
     union all select lower(username) from users where deactivated_at is null group by 1 having count(*) > 1
     union all select email_key from user_emails group by 1 having count(*) > 1
     union all select lower(email) from user_emails group by 1 having count(*) > 1`,
  ],
  [
    '2: what can be used once was, with exactly one effect',
    `with used as (
       select 'code' as kind, id::text, oauth2_session_id as session_id
         from oauth2_authorization_grants where exchanged_at is not null
       union all select 'device', id::text, oauth2_session_id
         from oauth2_device_code_grants where exchanged_at is not null
       union all select 'login token', id::text, compat_session_id from compat_sso_logins where exchanged_at is not null
     )
     select kind || ' ' || id from used where session_id is null
     union all select 'session of two: ' || session_id from used group by session_id having count(*) > 1
     union all select 'registration ' || r.username from user_registrations r
                where r.completed_at is not null and not exists (select from users u where u.username = r.username)
     union all select 'account of two registrations: ' || username from user_registrations
                where completed_at is not null group by username having count(*) > 1
     union all select 'registration token ' || t.id from user_registration_tokens t
                where t.times_used < (select count(*) from user_registrations r
                                       where r.registration_token_id = t.id and r.completed_at is not null)
     union all select 'recovery ' || s.id from user_recovery_sessions s
                 join user_recovery_tickets t on t.session_id = s.id
                where s.consumed_at is not null and ${eventsOf('t.user_id')}
                  -- Of an address the newest few are open.
                  and not exists (select from user_recovery_sessions newer
                                   where newer.email_key = s.email_key and newer.created_at = s.consumed_at)
                  and not exists (select from audit_events e where e.kind = 'password_recovered'
                                     and e.user_id = t.user_id and e.created_at = s.consumed_at)`,
  ],
  [
    '3: at most one live refresh token for each session',
    `select session_id::text from oauth2_refresh_tokens where ${LIVE_REFRESH} group by 1 having count(*) > 1
     union all select session_id::text from compat_refresh_tokens where ${LIVE_REFRESH} group by 1 having count(*) > 1`,
  ],
  [
    '4: no live token of an ended session, no live session of a deactivated account',
    // Access tokens end with the row of their session; the load checks those.
    `select 'refresh token ' || t.id from oauth2_refresh_tokens t join oauth2_sessions s on s.id = t.session_id
      where s.finished_at is not null and ${LIVE_REFRESH}
     union all select 'chat refresh token ' || t.id
       from compat_refresh_tokens t join compat_sessions s on s.id = t.session_id
      where s.finished_at is not null and ${LIVE_REFRESH}
     union all select 'personal token ' || t.id from personal_access_tokens t
       join personal_sessions s on s.id = t.session_id
      where s.revoked_at is not null and t.revoked_at is null
     union all select 'session of ' || u.username from users u join (
         select user_id from user_sessions where finished_at is null
         union all select user_id from oauth2_sessions where finished_at is null
         union all select user_id from compat_sessions where finished_at is null
         union all select actor_user_id from personal_sessions where revoked_at is null
       ) live on live.user_id = u.id
      where u.deactivated_at is not null`,
  ],
  [
    '5: each change of a credential is in the audit log, and each there was made',
    // The last one by transaction, because a clock may have been set back.
    `with changes as (
       select distinct on (user_id) user_id, created_at as at from audit_events
        where kind in ('password_changed', 'password_recovered') order by user_id, age(xmin), id desc
     ), locks as (
       select distinct on (user_id) user_id, kind, created_at as at from audit_events
        where kind in ('account_locked', 'account_unlocked') order by user_id, age(xmin), id desc
     )
     select 'password of ' || u.username from user_passwords p join users u on u.id = p.user_id
      where ${eventsOf('u.id')} and not exists (select from audit_events e where e.user_id = p.user_id and e.created_at = p.created_at
                           and e.kind in ('registered', 'password_changed', 'password_recovered'))
     union all select 'change for ' || u.username from changes c join users u on u.id = c.user_id
       left join user_passwords p on p.user_id = u.id
      where u.deactivated_at is null and p.created_at is distinct from c.at
     union all select 'address of ' || u.username from user_emails e join users u on u.id = e.user_id
      where ${eventsOf('u.id')} and not exists (select from audit_events a where a.user_id = e.user_id and a.kind in ('registered', 'email_added'))
     union all select 'account ' || u.username from users u
      where ${eventsOf('u.id')} and not exists (select from audit_events a where a.user_id = u.id and a.kind = 'registered')
     union all select 'lock of ' || u.username from users u left join locks l on l.user_id = u.id
      where ${eventsOf('u.id')} and u.locked_at is distinct from case l.kind when 'account_locked' then l.at end`,
  ],
  [
    '6: no job runs beyond its retries, or without a process',
    `select queue || ' ' || id from queue_jobs where failed_at is null and attempt > 11
        and created_at < now() - interval '73 hours'
     union all select 'abandoned: ' || queue || ' ' || id from queue_jobs
      where failed_at is null and worker is not null and due_at < now() - interval '130 seconds'`,
  ],
  [
    '7: what lives shortly is cleaned up in time',
    // Allows one hour until the next run.
    [
      ['user_pending_logins', 'expires_at', '1 day'],
      ['oauth2_authorization_grants', 'created_at', '7 days'],
      ['oauth2_device_code_grants', 'created_at', '7 days'],
      ['user_recovery_sessions', 'created_at', '7 days'],
      ['user_email_authentications', 'created_at', '7 days'],
      ['user_registrations', 'created_at', '30 days'],
      ['compat_sso_logins', 'created_at', '30 days'],
      ['oauth2_pushed_requests', 'expires_at', '7 days'],
      ['replayed_values', 'expires_at', '1 hour'],
      ['oauth2_access_tokens', 'expires_at', '30 days'],
      ['audit_events', 'created_at', '180 days'],
    ]
      .map(([table, column, kept]) => {
        const limit = `now() - interval '${kept}' - interval '2 hours'`;
        return `select '${table}' from (select from ${table} where ${column} < ${limit} limit 1) old`;
      })
      .join(' union all '),
  ],
];

/**
 * @param connection options of `pg.Client`
 * @param secrets that no column may contain in plain text
 * @param filling first and last transaction whose rows contain no secrets; they are too many to search
 * @param eventsMayBeOver whether clocks went ahead for longer than the retention of events
 * @returns the violations
 */
export async function checkInvariants(connection, { secrets, filling, eventsMayBeOver }) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    // One snapshot, unaffected by concurrent changes.
    await client.query('begin isolation level repeatable read read only');
    const faults = [];
    for (const [invariant, statement] of invariants(eventsMayBeOver ? hasEvents : () => 'true')) {
      const { rows } = await client.query({ text: `${statement} limit 5`, rowMode: 'array' });
      if (rows.length > 0) faults.push(`invariant ${invariant}: ${rows.flat().join(', ')}`);
    }
    for (const table of await tablesWith(client, secrets, filling)) {
      faults.push(`invariant 8: no column holds a secret in clear: ${table}`);
    }
    return faults;
  } finally {
    await client.end();
  }
}

/** Binary columns are rendered in hexadecimal. */
async function tablesWith(client, secrets, { first = '0', last = '0' } = {}) {
  const patterns = secrets.flatMap((secret) => [`%${secret}%`, `%${Buffer.from(secret).toString('hex')}%`]);
  const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public'`);
  const found = [];
  for (const { tablename } of rows) {
    const statement = `select from "${tablename}" t
      where not age(t.xmin) between age($2::text::xid) and age($3::text::xid) and t::text like any ($1::text[]) limit 1`;
    const { rowCount } = await client.query(statement, [patterns, last, first]);
    if (rowCount > 0) found.push(tablename);
  }
  return found;
}
