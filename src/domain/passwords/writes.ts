import { statement } from '#db/statement.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit-events/audit-event.ts';

/**
 * Adds a wrong password to those in a row. When the hundredth came within a day of the first of them, they are
 * forgotten and the alarm is raised; else the last 99 are kept.
 *
 * The owner of the account reads of the first ten of 24 hours among the events; a flood of guesses adds no more. The
 * commit does not wait for the disk: it would for accounts that exist only, and the time would tell which do. A crash
 * may take the event of the last moment with it, like the buckets and counts, which are not logged at all.
 */
export const recordLoginFailure = statement<
  { is_alarm: boolean },
  [
    now: Date,
    subject: string,
    userId: string | null,
    auditEventId: string,
    ip: string | null,
    userAgent: string | null,
    mostEvents: number,
  ]
>(
  'record-login-failure',
  `with lazy as materialized (select set_config('synchronous_commit', 'off', true) as setting),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select $4::uuid, 'login_failed', $3::uuid, null, null, $5::inet, $6::text, null, $1::timestamptz
    where $3::uuid is not null and $7::integer > (
      select count(*) from (
        select from audit_events earlier
        where earlier.user_id = $3::uuid and earlier.created_at > $1::timestamptz - interval '24 hours'
          and earlier.kind = 'login_failed'
        limit $7::integer
      ) as counted
    )
  )
  insert into login_failures as failures (key, failed_at, last_failed_at)
  select $2::text, array[$1::timestamptz], $1::timestamptz from lazy where lazy.setting = 'off'
  on conflict (key) do update set
    last_failed_at = $1::timestamptz,
    failed_at = case
      when failures.failed_at[cardinality(failures.failed_at) - 98] > $1::timestamptz - interval '24 hours' then '{}'
      else (failures.failed_at || $1::timestamptz)[cardinality(failures.failed_at) - 97 :]
    end
  returning cardinality(failures.failed_at) = 0 as is_alarm`,
);

/** Sets or replaces the password of a user. */
export const storePassword = statement<
  never,
  [now: Date, userId: string, passwordId: string, hash: string, schemeVersion: number]
>(
  'store-password',
  `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
  values ($2::uuid, $3::uuid, $4::text, $5::integer, $1::timestamptz)
  on conflict (user_id) do update set
    id = excluded.id, hash = excluded.hash, scheme_version = excluded.scheme_version, created_at = excluded.created_at`,
);
