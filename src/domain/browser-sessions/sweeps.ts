import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import {
  type EndingWalkRow,
  endingWalkSql,
  type Sweep,
  secondsBefore,
  sweepEnding,
  sweepSome,
  unusedSince,
  type WalkRow,
  walkSql,
} from '#domain/clean-up/sweep.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Also deletes their authentications. Keeps sessions that a client session still refers to. */
const sweepFinishedSessions = statement<
  WalkRow,
  { readonly fromAt: string; readonly fromId: string; readonly finishedBefore: Date }
>(
  'sweep-user-sessions',
  walkSql({
    table: 'user_sessions',
    range:
      '(t.finished_at, t.id) > (:fromAt::timestamptz, :fromId::uuid) and t.finished_at < :finishedBefore::timestamptz',
    orderedBy: 'finished_at',
    isDue: `not exists (select from oauth2_sessions s where s.user_session_id = t.id)
      and not exists (select from compat_sessions c where c.user_session_id = t.id)`,
    action: 'delete from user_sessions t',
  }),
);

// Walks the primary key, like the sweep of OAuth sessions.
const forgetAddresses = statement<WalkRow, { readonly fromId: string; readonly inactiveSince: Date }>(
  'sweep-user-session-ips',
  walkSql({
    table: 'user_sessions',
    range: 't.id > :fromId::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
    action: 'update user_sessions t set last_active_ip = null',
  }),
);

/**
 * Ends only browser sessions: applications stay signed in, as when a request finds a session idle (browser-flows 2.5).
 */
const endOfUse = statement<EndingWalkRow, { readonly fromId: string; readonly now: Date; readonly unusedSince: Date }>(
  'expire-unused-user-sessions',
  endingWalkSql({
    table: 'user_sessions',
    range: 't.id > :fromId::uuid',
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
);

export const browserSessionSweeps: readonly Sweep[] = [
  {
    name: 'expire-unused-user-sessions',
    endsSessions: true,
    minute: 4,
    everyMinutes: 15,
    sweep: async (database, now, { unusedBrowserSessionsSeconds }, from) => {
      if (unusedBrowserSessionsSeconds === undefined) return { rows: 0, next: undefined };
      return await sweepEnding(database, endOfUse, {
        fromId: from.id,
        now: new Date(now),
        unusedSince: unusedSince(now, unusedBrowserSessionsSeconds),
      });
    },
  },
  {
    name: 'cleanup-user-sessions',
    minute: 20,
    sweep: (database, now, { finishedSessionsSeconds }, from) =>
      sweepSome(database, sweepFinishedSessions, {
        fromAt: from.at,
        fromId: from.id,
        finishedBefore: secondsBefore(now, finishedSessionsSeconds),
      }),
  },
  {
    name: 'cleanup-user-session-ips',
    minute: 26,
    sweep: (database, now, { inactiveIpsSeconds }, from) =>
      sweepSome(database, forgetAddresses, { fromId: from.id, inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
