/** Ends unused sessions and deletes expired data (chat-compat 15). */
import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import {
  deleteOldestSql,
  type EndingWalkRow,
  endingWalkSql,
  type Sweep,
  secondsBefore,
  sweepAll,
  sweepEnding,
  sweepSome,
  unusedSince,
  type WalkRow,
  walkSql,
} from '#domain/clean-up/sweep.ts';
import { type SessionEndParams, sessionEndParams, spreadOver } from '#domain/homeserver/device-sync-jobs.ts';
import { compatEndingCtes } from '#domain/oauth-sessions/end-compat-session.ts';
import { accessTokenIsKept, refreshTokenIsKept, type SessionTables } from '#domain/oauth-sessions/kept-tokens.ts';
import {
  compatRefreshTokenIsLive,
  compatRefreshTokenIsUnconsumed,
  compatSessionIsLive,
  ssoLoginIsUnexchanged,
} from '#domain/records/liveness/compat-sessions.ts';
import { statement } from '#platform/postgres/statement.ts';

const TABLES: SessionTables = {
  sessions: 'compat_sessions',
  refreshTokens: 'compat_refresh_tokens',
  sessionIsLive: compatSessionIsLive,
  refreshTokenIsLive: compatRefreshTokenIsLive,
  refreshTokenIsUnconsumed: compatRefreshTokenIsUnconsumed,
};

// Both walk the primary key, which is ordered by creation time.
const sweepAccessTokens = statement<WalkRow, { readonly fromId: string; readonly deadBefore: Date }>(
  'sweep-compat-access-tokens',
  walkSql({
    table: 'compat_access_tokens',
    range: 't.id > :fromId::uuid',
    isDue: `(t.revoked_at < :deadBefore::timestamptz or t.expires_at < :deadBefore::timestamptz) and not ${accessTokenIsKept(TABLES)}`,
    action: 'delete from compat_access_tokens t',
  }),
);

const sweepRefreshTokens = statement<WalkRow, { readonly fromId: string; readonly deadBefore: Date }>(
  'sweep-compat-refresh-tokens',
  walkSql({
    table: 'compat_refresh_tokens',
    range: 't.id > :fromId::uuid',
    isDue: `(t.consumed_at < :deadBefore::timestamptz or t.revoked_at < :deadBefore::timestamptz) and not ${refreshTokenIsKept(TABLES)}`,
    action: 'delete from compat_refresh_tokens t',
  }),
);

/** Deletes sign-ons without a session; the others are deleted with their session. */
const sweepSsoLogins = statement<never, { readonly createdBefore: Date }>(
  'sweep-compat-sso-logins',
  deleteOldestSql(
    'compat_sso_logins',
    'id',
    'created_at',
    `t.created_at < :createdBefore::timestamptz and ${ssoLoginIsUnexchanged('t')}`,
  ),
);
/** How long an expired sign-on can still be distinguished from an unknown one. */
const SSO_LOGIN_RETENTION_SECONDS = 86_400;

/** Also deletes their tokens and single sign-ons. */
const sweepFinishedSessions = statement<never, { readonly finishedBefore: Date }>(
  'sweep-compat-sessions',
  deleteOldestSql('compat_sessions', 'id', 'finished_at', 't.finished_at < :finishedBefore::timestamptz'),
);

// Walks the primary key: an index on the last activity would have to be updated with every activity.
const forgetAddresses = statement<WalkRow, { readonly fromId: string; readonly inactiveSince: Date }>(
  'sweep-compat-session-ips',
  walkSql({
    table: 'compat_sessions',
    range: 't.id > :fromId::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
    action: 'update compat_sessions t set last_active_ip = null',
  }),
);

/** Counts refreshes immediately: their tokens are stored before the activity is written. */
const endUnused = statement<
  EndingWalkRow,
  SessionEndParams & {
    readonly fromAt: string;
    readonly fromId: string;
    readonly now: Date;
    readonly unusedSince: Date;
  }
>(
  'expire-unused-compat-sessions',
  endingWalkSql({
    table: 'compat_sessions',
    range: `(t.created_at, t.id) > (:fromAt::timestamptz, :fromId::uuid) and ${compatSessionIsLive('t')}
      and t.created_at < :unusedSince::timestamptz`,
    orderedBy: 'created_at',
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
);

export const compatSessionSweeps: readonly Sweep[] = [
  {
    name: 'expire-unused-compat-sessions',
    endsSessions: true,
    minute: 6,
    everyMinutes: 15,
    sweep: async (database, now, { unusedCompatSessionsSeconds, syncsDevices }, from) => {
      if (unusedCompatSessionsSeconds === undefined) return { rows: 0, next: undefined };
      return await sweepEnding(database, endUnused, {
        fromAt: from.at,
        fromId: from.id,
        now: new Date(now),
        ...sessionEndParams(syncsDevices),
        unusedSince: unusedSince(now, unusedCompatSessionsSeconds),
      });
    },
  },
  {
    name: 'cleanup-compat-access-tokens',
    minute: 8,
    sweep: (database, now, { expiredTokensSeconds }, from) =>
      sweepSome(database, sweepAccessTokens, { fromId: from.id, deadBefore: secondsBefore(now, expiredTokensSeconds) }),
  },
  {
    name: 'cleanup-compat-refresh-tokens',
    minute: 9,
    sweep: (database, now, { expiredTokensSeconds }, from) =>
      sweepSome(database, sweepRefreshTokens, {
        fromId: from.id,
        deadBefore: secondsBefore(now, expiredTokensSeconds),
      }),
  },
  {
    name: 'cleanup-compat-sessions',
    minute: 11,
    sweep: (database, now, { finishedSessionsSeconds }) =>
      sweepAll(database, sweepFinishedSessions, { finishedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-compat-sso-logins',
    minute: 12,
    sweep: (database, now) =>
      sweepAll(database, sweepSsoLogins, { createdBefore: secondsBefore(now, SSO_LOGIN_RETENTION_SECONDS) }),
  },
  {
    name: 'cleanup-compat-session-ips',
    minute: 27,
    sweep: (database, now, { inactiveIpsSeconds }, from) =>
      sweepSome(database, forgetAddresses, { fromId: from.id, inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
