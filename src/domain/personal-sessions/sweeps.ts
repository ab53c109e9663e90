/** Deletes outdated data (operations 6.4). */
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

/** Also deletes their tokens. */
const sweepRevokedSessions = statement<never, { readonly revokedBefore: Date }>(
  'sweep-personal-sessions',
  deleteOldestSql('personal_sessions', 'id', 'revoked_at', 't.revoked_at < :revokedBefore::timestamptz'),
);

const sweepReplacedTokens = statement<never, { readonly deadBefore: Date }>(
  'sweep-replaced-personal-tokens',
  deleteOldestSql('personal_access_tokens', 'id', 'revoked_at', 't.revoked_at < :deadBefore::timestamptz'),
);

const sweepExpiredTokens = statement<never, { readonly deadBefore: Date }>(
  'sweep-expired-personal-tokens',
  deleteOldestSql('personal_access_tokens', 'id', 'expires_at', 't.expires_at < :deadBefore::timestamptz'),
);

// Walks the primary key, because an index on the last activity would have to be updated with every activity.
const forgetAddresses = statement<WalkRow, { readonly fromId: string; readonly inactiveSince: Date }>(
  'sweep-personal-session-ips',
  walkSql({
    table: 'personal_sessions',
    range: 't.id > :fromId::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
    action: 'update personal_sessions t set last_active_ip = null',
  }),
);

export const personalSessionSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-personal-sessions',
    minute: 17,
    sweep: (database, now, { finishedSessionsSeconds }) =>
      sweepAll(database, sweepRevokedSessions, { revokedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-personal-access-tokens',
    minute: 18,
    sweep: async (database, now, { finishedSessionsSeconds }) => {
      const dead = { deadBefore: secondsBefore(now, finishedSessionsSeconds) };
      const replaced = await sweepAll(database, sweepReplacedTokens, dead);
      const expired = await sweepAll(database, sweepExpiredTokens, dead);
      return { rows: replaced.rows + expired.rows, next: replaced.next ?? expired.next };
    },
  },
  {
    name: 'cleanup-personal-session-ips',
    minute: 28,
    sweep: (database, now, { inactiveIpsSeconds }, from) =>
      sweepSome(database, forgetAddresses, { fromId: from.id, inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
