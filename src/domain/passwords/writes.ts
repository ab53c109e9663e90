import { statement } from '#db/statement.ts';

/**
 * Adds a wrong password to those in a row. When the hundredth came within a day of the first of them, they are
 * forgotten and the alarm is raised; else the last 99 are kept.
 */
export const recordLoginFailure = statement<{ is_alarm: boolean }, [now: Date, subject: string]>(
  'record-login-failure',
  `insert into login_failures as failures (key, failed_at, last_failed_at)
  values ($2::text, array[$1::timestamptz], $1::timestamptz)
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
