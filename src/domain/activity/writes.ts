import { type Statement, statement } from '#platform/postgres/statement.ts';

/** One member for each session, in the same order. */
export interface ActivityParams {
  readonly ids: readonly string[];
  readonly times: readonly Date[];
  readonly ips: readonly (string | null)[];
  readonly userAgents: readonly (string | null)[];
}

export const recordBrowserSessionActivity = activityStatement('record-browser-session-activity', 'user_sessions');
export const recordOAuth2SessionActivity = activityStatement('record-oauth2-session-activity', 'oauth2_sessions');

/**
 * Rows are locked in the order of their ids, so that batches of several instances never wait for one another in a
 * circle. An older time never replaces a newer one, and an unknown address or user agent keeps the stored one.
 */
function activityStatement(label: string, table: string): Statement<never, ActivityParams> {
  return statement(
    label,
    `with seen as (
       select id, at, ip, user_agent
         from unnest(:ids::uuid[], :times::timestamptz[], :ips::inet[], :userAgents::text[]) as seen (id, at, ip, user_agent)
     ), locked as (
       select id from ${table} where id = any(:ids::uuid[]) order by id for no key update
     )
     update ${table} s
        set last_active_at = seen.at, last_active_ip = coalesce(seen.ip, s.last_active_ip),
            user_agent = coalesce(seen.user_agent, s.user_agent)
       from locked join seen on seen.id = locked.id
      where s.id = locked.id and (s.last_active_at is null or s.last_active_at < seen.at)`,
  );
}
