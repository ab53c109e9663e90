/** Deletes old sessions and tokens (operations 6.4), and ends client sessions without a user. */
import {
  deleteOldestSql,
  type Sweep,
  secondsBefore,
  sweepAll,
  sweepSome,
  type WalkRow,
  walkSql,
} from '#domain/clean-up/sweep.ts';
import {
  accessTokenIsLive,
  oauthSessionIsLive,
  refreshTokenIsLive,
  refreshTokenIsUnconsumed,
} from '#domain/records/liveness/oauth-sessions.ts';
import { statement } from '#platform/postgres/statement.ts';
import { accessTokenIsKept, refreshTokenIsKept, type SessionTables } from './kept-tokens.ts';

const TABLES: SessionTables = {
  sessions: 'oauth2_sessions',
  refreshTokens: 'oauth2_refresh_tokens',
  sessionIsLive: oauthSessionIsLive,
  refreshTokenIsLive,
  refreshTokenIsUnconsumed,
};

// Walks the index on `expires_at`: indexes contain only columns that never change during a token's life (decision
// 0001).
const sweepAccessTokens = statement<
  WalkRow,
  { readonly fromAt: string; readonly fromId: string; readonly revokedBefore: Date; readonly expiredBefore: Date }
>(
  'sweep-oauth2-access-tokens',
  walkSql({
    table: 'oauth2_access_tokens',
    range: '(t.expires_at, t.id) > (:fromAt::timestamptz, :fromId::uuid)',
    orderedBy: 'expires_at',
    isDue: `(t.revoked_at < :revokedBefore::timestamptz or t.expires_at < :expiredBefore::timestamptz) and not ${accessTokenIsKept(TABLES)}`,
    action: 'delete from oauth2_access_tokens t',
  }),
);

// Walks the primary key, which is ordered by creation time.
const sweepRefreshTokens = statement<WalkRow, { readonly fromId: string; readonly deadBefore: Date }>(
  'sweep-oauth2-refresh-tokens',
  walkSql({
    table: 'oauth2_refresh_tokens',
    range: 't.id > :fromId::uuid',
    isDue: `(t.consumed_at < :deadBefore::timestamptz or t.revoked_at < :deadBefore::timestamptz) and not ${refreshTokenIsKept(TABLES)}`,
    action: 'delete from oauth2_refresh_tokens t',
  }),
);

export const tokenSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-oauth2-access-tokens',
    minute: 0,
    sweep: (database, now, { revokedTokensSeconds, expiredTokensSeconds }, from) =>
      sweepSome(database, sweepAccessTokens, {
        fromAt: from.at,
        fromId: from.id,
        revokedBefore: secondsBefore(now, revokedTokensSeconds),
        expiredBefore: secondsBefore(now, expiredTokensSeconds),
      }),
  },
  {
    name: 'cleanup-oauth2-refresh-tokens',
    minute: 5,
    sweep: (database, now, { revokedTokensSeconds }, from) =>
      sweepSome(database, sweepRefreshTokens, {
        fromId: from.id,
        deadBefore: secondsBefore(now, revokedTokensSeconds),
      }),
  },
];

/** Also deletes their tokens and grants. */
const sweepFinishedSessions = statement<never, { readonly finishedBefore: Date }>(
  'sweep-oauth2-sessions',
  deleteOldestSql('oauth2_sessions', 'id', 'finished_at', 't.finished_at < :finishedBefore::timestamptz'),
);

// Client sessions without a user (`client_credentials`): each has one access token and no refresh token.
const endClientSessions = statement<
  WalkRow,
  { readonly fromId: string; readonly createdBefore: Date; readonly now: Date }
>(
  'sweep-oauth2-client-sessions',
  walkSql({
    table: 'oauth2_sessions',
    range: 't.id > :fromId::uuid',
    isDue: `t.user_id is null and ${oauthSessionIsLive('t')} and t.created_at < :createdBefore::timestamptz and not exists (
      select from oauth2_access_tokens a where a.session_id = t.id and ${accessTokenIsLive('a', ':now::timestamptz')}
    )`,
    action: `update oauth2_sessions t set finished_at = :now::timestamptz, finish_reason = 'expired'`,
  }),
);

// Walks the primary key: an index on the last activity would have to be updated with every activity.
const forgetAddresses = statement<WalkRow, { readonly fromId: string; readonly inactiveSince: Date }>(
  'sweep-oauth2-session-ips',
  walkSql({
    table: 'oauth2_sessions',
    range: 't.id > :fromId::uuid',
    isDue: 't.last_active_ip is not null and coalesce(t.last_active_at, t.created_at) < :inactiveSince::timestamptz',
    action: 'update oauth2_sessions t set last_active_ip = null',
  }),
);

/** A session and its token are committed together, so younger sessions need no check. */
const MIN_CLIENT_SESSION_AGE_SECONDS = 60;

export const oauth2SessionSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-oauth2-client-sessions',
    minute: 10,
    sweep: (database, now, _retention, from) =>
      sweepSome(database, endClientSessions, {
        fromId: from.id,
        createdBefore: secondsBefore(now, MIN_CLIENT_SESSION_AGE_SECONDS),
        now: new Date(now),
      }),
  },
  {
    name: 'cleanup-oauth2-sessions',
    minute: 15,
    sweep: (database, now, { finishedSessionsSeconds }) =>
      sweepAll(database, sweepFinishedSessions, { finishedBefore: secondsBefore(now, finishedSessionsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-session-ips',
    minute: 25,
    sweep: (database, now, { inactiveIpsSeconds }, from) =>
      sweepSome(database, forgetAddresses, { fromId: from.id, inactiveSince: secondsBefore(now, inactiveIpsSeconds) }),
  },
];
