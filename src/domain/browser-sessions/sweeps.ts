import { type Sweep, secondsBefore, sweepSome, type WalkRow, walkSql } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

/** With their authentications; those that an OAuth session still refers to stay. */
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
    isDue: 'not exists (select from oauth2_sessions s where s.user_session_id = t.id)',
    action: 'delete from user_sessions t',
  }),
);

// Walks the primary key, as that of OAuth sessions does.
const forgetAddresses = statement<WalkRow, { readonly fromId: string; readonly inactiveSince: Date }>(
  'sweep-user-session-ips',
  walkSql({
    table: 'user_sessions',
    range: 't.id > :fromId::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
    action: 'update user_sessions t set last_active_ip = null',
  }),
);

export const browserSessionSweeps: readonly Sweep[] = [
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
