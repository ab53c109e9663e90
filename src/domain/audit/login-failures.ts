import { INSERT_AUDIT_EVENT } from './audit-event.ts';

/** Of one account within an hour: a flood of guesses makes no more rows. */
const MAX_PER_HOUR = 10;

/**
 * CTEs that record a wrong password of an account, for its owner to read: a row, or once more in the newest of ten rows
 * of the last hour, whose `count` goes up. Expects `:userId`, null for a name that no account has, `:auditEventId`,
 * `:ip`, `:userAgent` and `:now`. Index `audit_events_user`; failures at the same moment may pass the bound by as many.
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
