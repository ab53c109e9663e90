import { INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { statement } from '#platform/postgres/statement.ts';

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
  {
    readonly now: Date;
    readonly subject: string;
    readonly userId: string | null;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly mostEvents: number;
  }
>(
  'record-login-failure',
  `with lazy as materialized (select set_config('synchronous_commit', 'off', true) as setting),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'login_failed', :userId::uuid, null, null, :ip::inet, :userAgent::text, null, :now::timestamptz
    where :userId::uuid is not null and :mostEvents::integer > (
      select count(*) from (
        select from audit_events earlier
        where earlier.user_id = :userId::uuid and earlier.created_at > :now::timestamptz - interval '24 hours'
          and earlier.kind = 'login_failed'
        limit :mostEvents::integer
      ) as counted
    )
  )
  insert into login_failures as failures (key, failed_at, last_failed_at)
  select :subject::text, array[:now::timestamptz], :now::timestamptz from lazy where lazy.setting = 'off'
  on conflict (key) do update set
    last_failed_at = :now::timestamptz,
    failed_at = case
      when failures.failed_at[cardinality(failures.failed_at) - 98] > :now::timestamptz - interval '24 hours' then '{}'
      else (failures.failed_at || :now::timestamptz)[cardinality(failures.failed_at) - 97 :]
    end
  returning cardinality(failures.failed_at) = 0 as is_alarm`,
);

/** Sets or replaces the password of a user. */
export const storePassword = statement<
  never,
  {
    readonly now: Date;
    readonly userId: string;
    readonly passwordId: string;
    readonly hash: string;
    readonly schemeVersion: number;
  }
>(
  'store-password',
  `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
  values (:userId::uuid, :passwordId::uuid, :hash::text, :schemeVersion::integer, :now::timestamptz)
  on conflict (user_id) do update set
    id = excluded.id, hash = excluded.hash, scheme_version = excluded.scheme_version, created_at = excluded.created_at`,
);
