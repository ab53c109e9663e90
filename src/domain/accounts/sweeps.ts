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

/** Longer than the maximum of `account.registration_ttl`. */
const MAX_OPEN_SECONDS = 24 * 3600;

const sweepRegistrations = statement<
  WalkRow,
  { readonly fromAt: string; readonly fromId: string; readonly openBefore: Date; readonly completedBefore: Date }
>(
  'sweep-user-registrations',
  walkSql({
    table: 'user_registrations',
    range: '(t.created_at, t.id) > (:fromAt::timestamptz, :fromId::uuid) and t.created_at < :openBefore::timestamptz',
    orderedBy: 'created_at',
    isDue: '(t.completed_at is null or t.created_at < :completedBefore::timestamptz)',
    action: 'delete from user_registrations t',
  }),
);

const sweepEmailAuthentications = statement<never, { readonly createdBefore: Date }>(
  'sweep-user-email-authentications',
  deleteOldestSql('user_email_authentications', 'id', 'created_at', 't.created_at < :createdBefore::timestamptz'),
);

const sweepRegistrationTokens = statement<
  WalkRow,
  { readonly fromAt: string; readonly fromId: string; readonly overBefore: Date }
>(
  'sweep-registration-tokens',
  walkSql({
    table: 'user_registration_tokens',
    range: '(t.created_at, t.id) > (:fromAt::timestamptz, :fromId::uuid) and t.created_at < :overBefore::timestamptz',
    orderedBy: 'created_at',
    isDue: `(t.revoked_at < :overBefore::timestamptz or t.expires_at < :overBefore::timestamptz
      or (t.times_used >= t.usage_limit and t.last_used_at < :overBefore::timestamptz))`,
    action: 'delete from user_registration_tokens t',
  }),
);

/** The period that the alarm covers. */
const FAILURES_KEPT_SECONDS = 24 * 3600;

const sweepLoginFailures = statement<never, { readonly failedBefore: Date }>(
  'sweep-login-failures',
  deleteOldestSql('login_failures', 'key', 'last_failed_at', 't.last_failed_at < :failedBefore::timestamptz'),
);

export const accountSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-user-registrations',
    minute: 45,
    sweep: (database, now, { registrationsSeconds }, from) =>
      sweepSome(database, sweepRegistrations, {
        fromAt: from.at,
        fromId: from.id,
        openBefore: secondsBefore(now, MAX_OPEN_SECONDS),
        completedBefore: secondsBefore(now, registrationsSeconds),
      }),
  },
  {
    name: 'cleanup-user-email-authentications',
    minute: 50,
    sweep: (database, now, { pendingFlowsSeconds }) =>
      sweepAll(database, sweepEmailAuthentications, { createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
  {
    name: 'cleanup-user-registration-tokens',
    minute: 53,
    sweep: (database, now, { registrationTokensSeconds }, from) =>
      sweepSome(database, sweepRegistrationTokens, {
        fromAt: from.at,
        fromId: from.id,
        overBefore: secondsBefore(now, registrationTokensSeconds),
      }),
  },
  {
    name: 'cleanup-login-failures',
    minute: 54,
    sweep: (database, now) =>
      sweepAll(database, sweepLoginFailures, { failedBefore: secondsBefore(now, FAILURES_KEPT_SECONDS) }),
  },
];
