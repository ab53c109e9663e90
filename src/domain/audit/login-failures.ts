import { INSERT_AUDIT_EVENT } from './audit-event.ts';

/** Rows per account and hour. Further wrong passwords add no rows. */
const MAX_PER_HOUR = 10;

/**
 * CTEs that record a wrong password, for the account owner to read. They insert a row, or increment `count` in the
 * newest row if the last hour already has ten. They expect `:userId` (null if no account has the name),
 * `:auditEventId`, `:ip`, `:userAgent` and `:now`, and use index `audit_events_user`. Concurrent failures may each
 * exceed the limit by one row.
 */
export const LOGIN_FAILURE_CTES = `recent as materialized (
    select earlier.id from audit_events earlier
     where earlier.user_id = :userId::uuid and earlier.created_at > :now::timestamptz - interval '1 hour'
       and earlier.kind = 'login_failed'
     order by earlier.created_at desc, earlier.id desc limit ${MAX_PER_HOUR}
  ), counted as (
    update audit_events newest
       set detail = jsonb_build_object('count', coalesce((newest.detail ->> 'count')::integer, 1) + 1)
     where newest.id = (select recent.id from recent limit 1) and (select count(*) from recent) = ${MAX_PER_HOUR}
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'login_failed', :userId::uuid, null, null, :ip::inet, :userAgent::text, null, :now::timestamptz
     where :userId::uuid is not null and (select count(*) from recent) < ${MAX_PER_HOUR}
  )`;
