import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import {
  deleteOldest,
  endSessions,
  type SweepRow,
  secondsBefore,
  unusedSince,
  walkTable,
} from '#domain/clean-up/sweep.ts';
import { browserSessionIsLive, importedSessionIsExpired } from '#domain/records/liveness/browser-sessions.ts';

export const browserSessionSweeps: readonly SweepRow[] = [
  {
    // Ends only browser sessions: applications stay signed in, as when a request finds a session idle (browser-flows
    // 2.5).
    name: 'expire-unused-user-sessions',
    minute: 4,
    everyMinutes: 15,
    batch: endSessions('expire-unused-user-sessions', {
      table: 'user_sessions',
      isDue: `${browserSessionIsLive('t')} and coalesce(t.last_active_at, t.created_at) < :unusedSince::timestamptz`,
      ending: `ended as (
    update user_sessions set finished_at = :now::timestamptz, finish_reason = 'inactive'
     where id in (select due.id from due) and ${browserSessionIsLive('user_sessions')}
    returning id, user_id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', user_id, null, id, null, null,
           '{"reason": "inactive"}'::jsonb, :now::timestamptz
      from ended
  )`,
    }),
    parameters: (now, { unusedBrowserSessionsSeconds: unused }) =>
      unused === undefined ? undefined : { now: new Date(now), unusedSince: unusedSince(now, unused) },
  },
  {
    // Also deletes their authentications. Keeps sessions that a client session still refers to.
    name: 'cleanup-user-sessions',
    minute: 20,
    batch: walkTable('sweep-user-sessions', {
      table: 'user_sessions',
      orderedBy: 'finished_at',
      within: 't.finished_at < :finishedBefore::timestamptz',
      isDue: `not exists (select from oauth2_sessions s where s.user_session_id = t.id)
        and not exists (select from compat_sessions c where c.user_session_id = t.id)`,
      action: 'delete from user_sessions t',
    }),
    parameters: (now, { finishedSessionsSeconds }) => ({ finishedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    // The sessions stay, but the browser must sign in again.
    name: 'cleanup-imported-browser-sessions',
    minute: 21,
    batch: deleteOldest('sweep-imported-browser-sessions', {
      table: 'imported_browser_sessions',
      key: 'user_session_id',
      orderedBy: 'expires_at',
      isDue: importedSessionIsExpired('t', ':now::timestamptz'),
    }),
    parameters: (now) => ({ now: new Date(now) }),
  },
  {
    name: 'cleanup-user-session-ips',
    minute: 26,
    // Walks the primary key, like the sweep of OAuth sessions.
    batch: walkTable('sweep-user-session-ips', {
      table: 'user_sessions',
      isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
      action: 'update user_sessions t set last_active_ip = null',
    }),
    parameters: (now, { inactiveIpsSeconds }) => ({ inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
