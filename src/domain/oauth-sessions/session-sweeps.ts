import {
  deleteOldestSql,
  type Sweep,
  secondsBefore,
  sweepAll,
  sweepSome,
  type WalkRow,
  walkSql,
} from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

/** With their tokens and grants. */
const sweepFinishedSessions = statement<never, { readonly finishedBefore: Date }>(
  'sweep-oauth2-sessions',
  deleteOldestSql('oauth2_sessions', 'id', 'finished_at', 't.finished_at < :finishedBefore::timestamptz'),
);

// Walks the primary key: an index on the time of the last activity would have to be written with every activity.
const forgetAddresses = statement<WalkRow, { readonly fromId: string; readonly inactiveSince: Date }>(
  'sweep-oauth2-session-ips',
  walkSql({
    table: 'oauth2_sessions',
    range: 't.id > :fromId::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
    action: 'update oauth2_sessions t set last_active_ip = null',
  }),
);

export const oauth2SessionSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-oauth2-sessions',
    minute: 15,
    sweep: (database, now, { finishedSessionsSeconds }) =>
      sweepAll(database, sweepFinishedSessions, { finishedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-session-ips',
    minute: 25,
    sweep: (database, now, { inactiveIpsSeconds }, from) =>
      sweepSome(database, forgetAddresses, { fromId: from.id, inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
