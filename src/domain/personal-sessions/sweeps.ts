/** Deletes outdated data (operations 6.4). */
import { deleteOldest, type SweepRow, secondsBefore, walkTable } from '#domain/clean-up/sweep.ts';

const deleteReplacedTokens = deleteOldest('sweep-replaced-personal-tokens', {
  table: 'personal_access_tokens',
  orderedBy: 'revoked_at',
  isDue: 't.revoked_at < :deadBefore::timestamptz',
});

const deleteExpiredTokens = deleteOldest('sweep-expired-personal-tokens', {
  table: 'personal_access_tokens',
  orderedBy: 'expires_at',
  isDue: 't.expires_at < :deadBefore::timestamptz',
});

export const personalSessionSweeps: readonly SweepRow[] = [
  {
    // Also deletes their tokens.
    name: 'cleanup-personal-sessions',
    minute: 17,
    batch: deleteOldest('sweep-personal-sessions', {
      table: 'personal_sessions',
      orderedBy: 'revoked_at',
      isDue: 't.revoked_at < :revokedBefore::timestamptz',
    }),
    parameters: (now, { finishedSessionsSeconds }) => ({ revokedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-personal-access-tokens',
    minute: 18,
    batch: async (...batch) => {
      const replaced = await deleteReplacedTokens(...batch);
      const expired = await deleteExpiredTokens(...batch);
      return { rows: replaced.rows + expired.rows, next: replaced.next ?? expired.next };
    },
    parameters: (now, { finishedSessionsSeconds }) => ({ deadBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-personal-session-ips',
    minute: 28,
    // Walks the primary key, because an index on the last activity would have to be updated with every activity.
    batch: walkTable('sweep-personal-session-ips', {
      table: 'personal_sessions',
      isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
      action: 'update personal_sessions t set last_active_ip = null',
    }),
    parameters: (now, { inactiveIpsSeconds }) => ({ inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
