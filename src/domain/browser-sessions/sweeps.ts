import { statement } from '#db/statement.ts';
import { type Sweep, secondsBefore, sweepSome, type WalkRow, walkSql } from '#jobs/sweep.ts';

/** With their authentications; those that an OAuth session still refers to stay. */
const sweepFinishedSessions = statement<WalkRow, [fromAt: string, fromId: string, finishedBefore: Date]>(
  'sweep-user-sessions',
  walkSql({
    table: 'user_sessions',
    range: '(t.finished_at, t.id) > ($1::timestamptz, $2::uuid) and t.finished_at < $3::timestamptz',
    orderedBy: 'finished_at',
    isDue: 'not exists (select from oauth2_sessions s where s.user_session_id = t.id)',
    action: 'delete from user_sessions t',
  }),
);

// Walks the primary key, as that of OAuth sessions does.
const forgetAddresses = statement<WalkRow, [fromId: string, inactiveSince: Date]>(
  'sweep-user-session-ips',
  walkSql({
    table: 'user_sessions',
    range: 't.id > $1::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < $2::timestamptz',
    action: 'update user_sessions t set last_active_ip = null',
  }),
);

export const browserSessionSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-user-sessions',
    minute: 20,
    sweep: (database, now, { finishedSessionsSeconds }, from) =>
      sweepSome(database, sweepFinishedSessions, [from.at, from.id, secondsBefore(now, finishedSessionsSeconds)]),
  },
  {
    name: 'cleanup-user-session-ips',
    minute: 26,
    sweep: (database, now, { inactiveIpsSeconds }, from) =>
      sweepSome(database, forgetAddresses, [from.id, secondsBefore(now, inactiveIpsSeconds)]),
  },
];
