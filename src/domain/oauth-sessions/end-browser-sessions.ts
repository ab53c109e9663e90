import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { FINISHING_LISTED_CTES } from '#domain/browser-sessions/finish-browser-session.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { endingCtes } from './end-oauth2-session.ts';

export interface BrowserSessionsEnd {
  /** UUIDs. Sessions that are not live are ignored. */
  readonly sessionIds: readonly string[];
  /**
   * Whether to end all application and chat client sessions that belong to them as well, and notify the applications.
   */
  readonly isWithApplications: boolean;
  readonly reason: 'upstream_logout';
  /** Whether a homeserver is connected. */
  readonly syncsDevices: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface EndedSessions {
  readonly browserSessions: number;
  /** Sessions of applications and chat clients. */
  readonly applicationSessions: number;
}

/**
 * Ends browser sessions of any users, each with an audit event. Uses one statement, which also works outside a
 * transaction. Locks in the usual order, browser sessions before OAuth sessions.
 */
export async function endBrowserSessions(queryable: Queryable, end: BrowserSessionsEnd): Promise<EndedSessions> {
  const { sessionIds, isWithApplications, reason, now, syncsDevices } = end;
  const row = await queryable.first(endSessions, {
    sessionIds,
    isWithApplications,
    reason,
    now: new Date(now),
    ...sessionEndParams(syncsDevices),
  });
  return { browserSessions: row?.browser_sessions ?? 0, applicationSessions: row?.application_sessions ?? 0 };
}

const GREW_OUT_OF_THEM = `:isWithApplications::boolean
        and s.user_session_id = any (array(select finished.id from finished))`;

const endSessions = statement<
  { browser_sessions: number; application_sessions: number },
  SessionEndParams & {
    readonly sessionIds: readonly string[];
    readonly isWithApplications: boolean;
    readonly reason: string;
    readonly now: Date;
  }
>(
  'end-browser-sessions',
  `with recursive ${FINISHING_LISTED_CTES}, ${endingCtes(
    `select s.id from oauth2_sessions s where ${GREW_OUT_OF_THEM} and ${oauthSessionIsLive('s')}`,
    ':now::timestamptz',
    ':reason::text',
    {
      compat: {
        roots: `select s.id from compat_sessions s where ${GREW_OUT_OF_THEM} and ${compatSessionIsLive('s')}`,
        reason: ':reason::text',
      },
    },
  )}, all_ended as (
    select id, user_id, client_id from ended union all select id, user_id, null from compat_ended
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', e.user_id,
           case when count(e.id) = 1 then (array_agg(e.client_id))[1] end,
           case when count(e.id) = 1 then (array_agg(e.id))[1] end, null, null,
           jsonb_build_object('reason', :reason::text, 'sessions', count(e.id)), :now::timestamptz
      from all_ended e group by e.user_id
  )
  select (select count(finished.id) from finished)::integer as browser_sessions,
         (select count(id) from all_ended)::integer as application_sessions`,
);
