import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { enrolmentIsExpired } from '#domain/records/liveness/one-time-codes.ts';
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

const sweepEnrolments = statement<never, { readonly now: Date }>(
  'sweep-totp-enrolments',
  deleteOldestSql('user_totp_enrolments', 'id', 'created_at', enrolmentIsExpired('t', ':now::timestamptz')),
);

export const secondFactorSweeps: readonly Sweep[] = [
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
  {
    name: 'cleanup-user-totp-enrolments',
    minute: 23,
    sweep: (database, now) => sweepAll(database, sweepEnrolments, { now: new Date(now) }),
  },
];
