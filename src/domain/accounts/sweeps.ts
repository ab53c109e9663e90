import { deleteOldest, type SweepRow, secondsBefore, walkTable } from '#domain/clean-up/sweep.ts';

/** Longer than the maximum of `account.registration_ttl`. */
const MAX_OPEN_SECONDS = 24 * 3600;

/** The period that the alarm covers. */
const FAILURES_KEPT_SECONDS = 24 * 3600;

export const accountSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-user-registrations',
    minute: 45,
    batch: walkTable('sweep-user-registrations', {
      table: 'user_registrations',
      orderedBy: 'created_at',
      within: 't.created_at < :openBefore::timestamptz',
      isDue: '(t.completed_at is null or t.created_at < :completedBefore::timestamptz)',
      action: 'delete from user_registrations t',
    }),
    parameters: (now, { registrationsSeconds }) => ({
      openBefore: secondsBefore(now, MAX_OPEN_SECONDS),
      completedBefore: secondsBefore(now, registrationsSeconds),
    }),
  },
  {
    name: 'cleanup-user-email-authentications',
    minute: 50,
    batch: deleteOldest('sweep-user-email-authentications', {
      table: 'user_email_authentications',
      orderedBy: 'created_at',
      isDue: 't.created_at < :createdBefore::timestamptz',
    }),
    parameters: (now, { pendingFlowsSeconds }) => ({ createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
  {
    name: 'cleanup-user-registration-tokens',
    minute: 53,
    batch: walkTable('sweep-registration-tokens', {
      table: 'user_registration_tokens',
      orderedBy: 'created_at',
      within: 't.created_at < :overBefore::timestamptz',
      isDue: `(t.revoked_at < :overBefore::timestamptz or t.expires_at < :overBefore::timestamptz
        or (t.times_used >= t.usage_limit and t.last_used_at < :overBefore::timestamptz))`,
      action: 'delete from user_registration_tokens t',
    }),
    parameters: (now, { registrationTokensSeconds }) => ({ overBefore: secondsBefore(now, registrationTokensSeconds) }),
  },
  {
    name: 'cleanup-login-failures',
    minute: 54,
    batch: deleteOldest('sweep-login-failures', {
      table: 'login_failures',
      key: 'key',
      orderedBy: 'last_failed_at',
      isDue: 't.last_failed_at < :failedBefore::timestamptz',
    }),
    parameters: (now) => ({ failedBefore: secondsBefore(now, FAILURES_KEPT_SECONDS) }),
  },
];
