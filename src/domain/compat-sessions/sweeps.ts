/** Ends unused sessions and deletes expired data (chat-compat 15). */
import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import {
  deleteOldest,
  endSessions,
  type SweepRow,
  secondsBefore,
  unusedSince,
  walkTable,
} from '#domain/clean-up/sweep.ts';
import { sessionEndParams, spreadOver } from '#domain/homeserver/device-sync-jobs.ts';
import { compatEndingCtes } from '#domain/oauth-sessions/end-compat-session.ts';
import { accessTokenIsKept, refreshTokenIsKept, type SessionTables } from '#domain/oauth-sessions/kept-tokens.ts';
import {
  compatRefreshTokenIsLive,
  compatRefreshTokenIsUnconsumed,
  compatSessionIsLive,
  ssoLoginIsUnexchanged,
} from '#domain/records/liveness/compat-sessions.ts';

const TABLES: SessionTables = {
  sessions: 'compat_sessions',
  refreshTokens: 'compat_refresh_tokens',
  sessionIsLive: compatSessionIsLive,
  refreshTokenIsLive: compatRefreshTokenIsLive,
  refreshTokenIsUnconsumed: compatRefreshTokenIsUnconsumed,
};

/** How long an expired sign-on can still be distinguished from an unknown one. */
const SSO_LOGIN_RETENTION_SECONDS = 86_400;

// The tokens are walked by the primary key, which is ordered by creation time.
export const compatSessionSweeps: readonly SweepRow[] = [
  {
    // Counts refreshes immediately: their tokens are stored before the activity is written.
    name: 'expire-unused-compat-sessions',
    minute: 6,
    everyMinutes: 15,
    batch: endSessions('expire-unused-compat-sessions', {
      table: 'compat_sessions',
      orderedBy: 'created_at',
      within: `${compatSessionIsLive('t')} and t.created_at < :unusedSince::timestamptz`,
      isDue: `${compatSessionIsLive('t')} and coalesce(t.last_active_at, t.created_at) < :unusedSince::timestamptz
        and not exists (select from compat_access_tokens token
                         where token.session_id = t.id and token.created_at >= :unusedSince::timestamptz)`,
      ending: `${compatEndingCtes('select due.id from due', ':now::timestamptz', "'inactive'", spreadOver(':now::timestamptz'))}, audited as (
      ${INSERT_AUDIT_EVENT}
      select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', user_id, null, id, null, null,
             '{"reason": "inactive"}'::jsonb, :now::timestamptz
        from compat_ended
    )`,
    }),
    parameters: (now, { unusedCompatSessionsSeconds: unused, syncsDevices }) =>
      unused === undefined
        ? undefined
        : { now: new Date(now), ...sessionEndParams(syncsDevices), unusedSince: unusedSince(now, unused) },
  },
  {
    name: 'cleanup-compat-access-tokens',
    minute: 8,
    batch: walkTable('sweep-compat-access-tokens', {
      table: 'compat_access_tokens',
      isDue: `(t.revoked_at < :deadBefore::timestamptz or t.expires_at < :deadBefore::timestamptz) and not ${accessTokenIsKept(TABLES)}`,
      action: 'delete from compat_access_tokens t',
    }),
    parameters: (now, { expiredTokensSeconds }) => ({ deadBefore: secondsBefore(now, expiredTokensSeconds) }),
  },
  {
    name: 'cleanup-compat-refresh-tokens',
    minute: 9,
    batch: walkTable('sweep-compat-refresh-tokens', {
      table: 'compat_refresh_tokens',
      isDue: `(t.consumed_at < :deadBefore::timestamptz or t.revoked_at < :deadBefore::timestamptz) and not ${refreshTokenIsKept(TABLES)}`,
      action: 'delete from compat_refresh_tokens t',
    }),
    parameters: (now, { expiredTokensSeconds }) => ({ deadBefore: secondsBefore(now, expiredTokensSeconds) }),
  },
  {
    // Also deletes their tokens and single sign-ons.
    name: 'cleanup-compat-sessions',
    minute: 11,
    batch: deleteOldest('sweep-compat-sessions', {
      table: 'compat_sessions',
      orderedBy: 'finished_at',
      isDue: 't.finished_at < :finishedBefore::timestamptz',
    }),
    parameters: (now, { finishedSessionsSeconds }) => ({ finishedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    // Sign-ons without a session; the others are deleted with their session.
    name: 'cleanup-compat-sso-logins',
    minute: 12,
    batch: deleteOldest('sweep-compat-sso-logins', {
      table: 'compat_sso_logins',
      orderedBy: 'created_at',
      isDue: `t.created_at < :createdBefore::timestamptz and ${ssoLoginIsUnexchanged('t')}`,
    }),
    parameters: (now) => ({ createdBefore: secondsBefore(now, SSO_LOGIN_RETENTION_SECONDS) }),
  },
  {
    name: 'cleanup-compat-session-ips',
    minute: 27,
    // Walks the primary key: an index on the last activity would have to be updated with every activity.
    batch: walkTable('sweep-compat-session-ips', {
      table: 'compat_sessions',
      isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
      action: 'update compat_sessions t set last_active_ip = null',
    }),
    parameters: (now, { inactiveIpsSeconds }) => ({ inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
