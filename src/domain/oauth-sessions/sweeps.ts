/** Deletes old sessions and tokens (operations 6.4), and ends client sessions without a user. */
import { deleteOldest, type SweepRow, secondsBefore, walkTable } from '#domain/clean-up/sweep.ts';
import {
  accessTokenIsLive,
  oauthSessionIsLive,
  refreshTokenIsLive,
  refreshTokenIsUnconsumed,
} from '#domain/records/liveness/oauth-sessions.ts';
import { accessTokenIsKept, refreshTokenIsKept, type SessionTables } from './kept-tokens.ts';

const TABLES: SessionTables = {
  sessions: 'oauth2_sessions',
  refreshTokens: 'oauth2_refresh_tokens',
  sessionIsLive: oauthSessionIsLive,
  refreshTokenIsLive,
  refreshTokenIsUnconsumed,
};

export const tokenSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-oauth2-access-tokens',
    minute: 0,
    // Walks the index on `expires_at`: indexes contain only columns that never change during a token's life (decision
    // 0001).
    batch: walkTable('sweep-oauth2-access-tokens', {
      table: 'oauth2_access_tokens',
      orderedBy: 'expires_at',
      isDue: `(t.revoked_at < :revokedBefore::timestamptz or t.expires_at < :expiredBefore::timestamptz) and not ${accessTokenIsKept(TABLES)}`,
      action: 'delete from oauth2_access_tokens t',
    }),
    parameters: (now, { revokedTokensSeconds, expiredTokensSeconds }) => ({
      revokedBefore: secondsBefore(now, revokedTokensSeconds),
      expiredBefore: secondsBefore(now, expiredTokensSeconds),
    }),
  },
  {
    name: 'cleanup-oauth2-refresh-tokens',
    minute: 5,
    // Walks the primary key, which is ordered by creation time.
    batch: walkTable('sweep-oauth2-refresh-tokens', {
      table: 'oauth2_refresh_tokens',
      isDue: `(t.consumed_at < :deadBefore::timestamptz or t.revoked_at < :deadBefore::timestamptz) and not ${refreshTokenIsKept(TABLES)}`,
      action: 'delete from oauth2_refresh_tokens t',
    }),
    parameters: (now, { revokedTokensSeconds }) => ({ deadBefore: secondsBefore(now, revokedTokensSeconds) }),
  },
];

/** A session and its token are committed together, so younger sessions need no check. */
const MIN_CLIENT_SESSION_AGE_SECONDS = 60;

export const oauth2SessionSweeps: readonly SweepRow[] = [
  {
    // Client sessions without a user (`client_credentials`): each has one access token and no refresh token.
    name: 'cleanup-oauth2-client-sessions',
    minute: 10,
    batch: walkTable('sweep-oauth2-client-sessions', {
      table: 'oauth2_sessions',
      isDue: `t.user_id is null and ${oauthSessionIsLive('t')} and t.created_at < :createdBefore::timestamptz and not exists (
        select from oauth2_access_tokens a where a.session_id = t.id and ${accessTokenIsLive('a', ':now::timestamptz')}
      )`,
      action: `update oauth2_sessions t set finished_at = :now::timestamptz, finish_reason = 'expired'`,
    }),
    parameters: (now) => ({
      createdBefore: secondsBefore(now, MIN_CLIENT_SESSION_AGE_SECONDS),
      now: new Date(now),
    }),
  },
  {
    // Also deletes their tokens and grants.
    name: 'cleanup-oauth2-sessions',
    minute: 15,
    batch: deleteOldest('sweep-oauth2-sessions', {
      table: 'oauth2_sessions',
      orderedBy: 'finished_at',
      isDue: 't.finished_at < :finishedBefore::timestamptz',
    }),
    parameters: (now, { finishedSessionsSeconds }) => ({ finishedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-session-ips',
    minute: 25,
    // Walks the primary key: an index on the last activity would have to be updated with every activity.
    batch: walkTable('sweep-oauth2-session-ips', {
      table: 'oauth2_sessions',
      isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
      action: 'update oauth2_sessions t set last_active_ip = null',
    }),
    parameters: (now, { inactiveIpsSeconds }) => ({ inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
