import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Upper limit: an expired login has no further use. */
const MAX_KEPT_SECONDS = 24 * 3600;

const sweepPendingLogins = statement<never, { readonly expiredBefore: Date }>(
  'sweep-user-pending-logins',
  deleteOldestSql('user_pending_logins', 'id', 'expires_at', 't.expires_at < :expiredBefore::timestamptz'),
);

const sweepTrustedBrowsers = statement<never, { readonly expiredBefore: Date }>(
  'sweep-user-trusted-browsers',
  deleteOldestSql('user_trusted_browsers', 'nonce_hash', 'expires_at', 't.expires_at < :expiredBefore::timestamptz'),
);

export const pendingLoginSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-user-pending-logins',
    minute: 22,
    sweep: (database, now, { pendingFlowsSeconds }) => {
      const expiredBefore = secondsBefore(now, Math.min(pendingFlowsSeconds, MAX_KEPT_SECONDS));
      return sweepAll(database, sweepPendingLogins, { expiredBefore });
    },
  },
  {
    name: 'cleanup-user-trusted-browsers',
    minute: 22,
    sweep: (database, now) => sweepAll(database, sweepTrustedBrowsers, { expiredBefore: new Date(now) }),
  },
];
