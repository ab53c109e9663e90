import { deleteOldest, type SweepRow, secondsBefore } from '#domain/clean-up/sweep.ts';
import { enrolmentIsExpired } from '#domain/records/liveness/one-time-codes.ts';

/** Upper limit: an expired login has no further use. */
const MAX_KEPT_SECONDS = 24 * 3600;

export const secondFactorSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-user-pending-logins',
    minute: 22,
    batch: deleteOldest('sweep-user-pending-logins', {
      table: 'user_pending_logins',
      orderedBy: 'expires_at',
      isDue: 't.expires_at < :expiredBefore::timestamptz',
    }),
    parameters: (now, { pendingFlowsSeconds }) => ({
      expiredBefore: secondsBefore(now, Math.min(pendingFlowsSeconds, MAX_KEPT_SECONDS)),
    }),
  },
  {
    name: 'cleanup-user-trusted-browsers',
    minute: 22,
    batch: deleteOldest('sweep-user-trusted-browsers', {
      table: 'user_trusted_browsers',
      key: 'nonce_hash',
      orderedBy: 'expires_at',
      isDue: 't.expires_at < :expiredBefore::timestamptz',
    }),
    parameters: (now) => ({ expiredBefore: new Date(now) }),
  },
  {
    name: 'cleanup-user-totp-enrolments',
    minute: 23,
    batch: deleteOldest('sweep-totp-enrolments', {
      table: 'user_totp_enrolments',
      orderedBy: 'created_at',
      isDue: enrolmentIsExpired('t', ':now::timestamptz'),
    }),
    parameters: (now) => ({ now: new Date(now) }),
  },
];
