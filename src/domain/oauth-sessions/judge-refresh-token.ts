import { admissionByClient } from '#domain/records/liveness/clients.ts';
import { refreshTokenIsLive, sessionUserIsUsable } from '#domain/records/liveness/oauth-sessions.ts';
import { type UserFactsRow, userFactsColumns } from '#domain/records/user-facts.ts';
import { happenedAfter, isRecent } from '#platform/base/clock.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { ms } from '#platform/postgres/statement.ts';

/** A presented refresh token, its successor and the successor's access token, as stored for every kind of session. */
export interface StoredTokenRow {
  readonly session_id: string;
  readonly is_finished: boolean;
  /** Null: the tag belongs to the session, but the token is not (or no longer) stored. */
  readonly token_id: string | null;
  readonly is_revoked: boolean;
  readonly consumed_at: number | null;
  readonly rotation_salt: Buffer | null;
  readonly replay_counter: number | null;
  readonly successor_id: string | null;
  readonly successor_hash: Buffer | null;
  readonly successor_consumed_at: number | null;
  readonly successor_is_revoked: boolean;
  readonly successor_was_used: boolean;
  /** The access token of the successor. */
  readonly access_token_id: string | null;
  readonly access_token_expires_at: number | null;
  readonly access_token_is_revoked: boolean;
  readonly access_token_was_used: boolean;
}

/**
 * The columns of a `StoredTokenRow`, for the session `s`, the presented token `t`, its successor `n` and the access
 * token `a`.
 */
export const STORED_TOKEN_COLUMNS = `s.id as session_id,
          s.finished_at is not null as is_finished,
          t.id as token_id,
          t.revoked_at is not null as is_revoked,
          ${ms('t.consumed_at')} as consumed_at,
          t.rotation_salt,
          t.replay_counter,
          n.id as successor_id,
          n.token_hash as successor_hash,
          ${ms('n.consumed_at')} as successor_consumed_at,
          n.revoked_at is not null as successor_is_revoked,
          n.first_used_at is not null as successor_was_used,
          a.id as access_token_id,
          ${ms('a.expires_at')} as access_token_expires_at,
          a.revoked_at is not null as access_token_is_revoked,
          a.first_used_at is not null as access_token_was_used`;

/** A session found by the family tag of a presented refresh token, and the stored data of that token. */
export interface RefreshTokenRow extends StoredTokenRow, Omit<UserFactsRow, 'username' | 'updated_at'> {
  readonly is_own_client: boolean;
  /** Whether the user may use the presenting client. Null: its cached record is outdated. */
  readonly client_admits: boolean | null;
  readonly user_is_usable: boolean;
  readonly user_id: string | null;
  readonly username: string | null;
  readonly updated_at: number | null;
  readonly can_request_admin: boolean | null;
  readonly auth_time: number | null;
  readonly acr: string | null;
  readonly amr: readonly string[];
  readonly session_created_at: number;
  readonly scope: readonly string[];
  /** Individually requested claims; see `claimsFromJson`. */
  readonly claims: unknown;
  readonly resources: readonly string[];
  /** Thumbprint of the key that the session is bound to. */
  readonly dpop_jkt: string | null;
  readonly access_token_scope: readonly string[] | null;
  readonly access_token_resources: readonly string[] | null;
  readonly access_token_jkt: string | null;
  readonly access_token_created_at: number | null;
}

interface PresentedBy {
  readonly tokenHash: Buffer;
  readonly clientId: string;
  readonly clientVersion: number;
}

const COLUMNS = `${STORED_TOKEN_COLUMNS},
          s.client_id = :clientId::uuid as is_own_client,
          ${admissionByClient(':clientId::uuid', ':clientVersion::integer', 'u')} as client_admits,
          ${sessionUserIsUsable('s', 'u')} as user_is_usable,
          s.user_id,
          ${userFactsColumns('s.scope', 's.claims')},
          u.can_request_admin,
          ${ms('s.auth_time')} as auth_time,
          s.acr,
          s.amr,
          ${ms('s.created_at')} as session_created_at,
          s.scope,
          s.claims,
          s.resources,
          s.dpop_jkt,
          a.scope as access_token_scope,
          a.resources as access_token_resources,
          a.dpop_jkt as access_token_jkt,
          ${ms('a.created_at')} as access_token_created_at`;

const SUCCESSOR = `left join oauth2_refresh_tokens n on n.id = t.successor_id
     left join oauth2_access_tokens a on a.id = n.access_token_id`;

/** Uses the unique indexes on `refresh_family` and `token_hash`, then primary keys. */
export const readRefreshToken = lookup<RefreshTokenRow, PresentedBy & { readonly family: Buffer }>(
  'refresh-token-by-hash',
  `select ${COLUMNS}
     from oauth2_sessions s
     left join users u on u.id = s.user_id
     left join oauth2_refresh_tokens t on t.token_hash = :tokenHash::bytea and t.session_id = s.id
     ${SUCCESSOR}
    where s.refresh_family = :family::bytea`,
);

/**
 * For a session with several imported tokens, which has no family until one of them is used. Of a token and its
 * successor that the client may not have received, both are live: the former one until the latter is used. Uses the
 * unique index on `token_hash`, then primary keys.
 */
export const readImportedToken = lookup<RefreshTokenRow, PresentedBy>(
  'imported-refresh-token-by-hash',
  `select ${COLUMNS}
     from oauth2_refresh_tokens t
     join oauth2_sessions s on s.id = t.session_id and s.refresh_family is null
     left join users u on u.id = s.user_id
     ${SUCCESSOR}
    where t.token_hash = :tokenHash::bytea and ${refreshTokenIsLive('t')}
      and (n.id is null or n.first_used_at is null and a.first_used_at is null)`,
);

/** The columns that determine the verdict. */
type JudgedRow = StoredTokenRow &
  Pick<RefreshTokenRow, 'is_own_client' | 'user_is_usable' | 'session_created_at' | 'scope' | 'access_token_scope'>;

/** The verdict on a presented refresh token: the rows of oauth 9.4. Judging writes nothing. */
export type RefreshVerdict =
  /** Not yet used: consume it and store its successor. */
  | { readonly kind: 'rotate'; readonly tokenId: string }
  /** Return the stored pair once more. */
  | { readonly kind: 'repeat'; readonly successor: StoredSuccessor; readonly accessTokenExpiresAt: number }
  /**
   * Return the stored refresh token with a fresh access token; `mayBeUsed`: even if the pair was used in the meantime.
   */
  | { readonly kind: 'renew'; readonly successor: StoredSuccessor; readonly mayBeUsed: boolean }
  | { readonly kind: 'refuse'; readonly reason: RefreshRefusal }
  /** Two parties hold tokens of this session, so one of them was stolen. */
  | { readonly kind: 'reuse' };

export type RefreshRefusal =
  | 'unknown'
  | 'other-client'
  | 'session-ended'
  | 'session-expired'
  | 'user'
  | 'revoked'
  /**
   * The request was sent before the client used the successor, but processed later. The client has already retried it.
   */
  | 'overtaken';

export interface StoredSuccessor {
  readonly tokenId: string;
  readonly salt: Buffer;
  readonly replayCounter: number;
  readonly refreshTokenId: string;
  readonly refreshTokenHash: Buffer;
  readonly accessTokenId: string;
  readonly scope: readonly string[];
}

/** An attempt of this request that another request preempted. */
export interface LostAttempt {
  readonly verdict: RefreshVerdict;
  readonly replayCounter: number | null;
}

/**
 * Returns whether another request rotated the token or renewed its pair since the attempt. A renewal can also fail
 * because the pair was used in the meantime. That is not a race, but possibly a reuse.
 */
export function hasLostRace(lost: LostAttempt | undefined, replayCounter: number | null | undefined): boolean {
  return lost !== undefined && (lost.verdict.kind === 'rotate' || lost.replayCounter !== replayCounter);
}

export interface RefreshRules {
  readonly graceSeconds: number;
  /** Returns when the session reaches its maximum lifetime, in milliseconds since the epoch. */
  readonly sessionExpiry: (sessionCreatedAt: number) => number;
}

/**
 * @param now arrival time of the request, which may have waited for the database since
 * @param isBeaten another request just consumed this token or renewed its pair; return what the winner stored,
 * regardless of the grace period
 */
export function judgeRefreshToken(
  row: JudgedRow | undefined,
  rules: RefreshRules,
  now: number,
  isBeaten: boolean,
): RefreshVerdict {
  if (row === undefined) return refuse('unknown');
  if (!row.is_own_client) return refuse('other-client');
  if (row.is_finished) return refuse('session-ended');
  if (now >= rules.sessionExpiry(row.session_created_at)) return refuse('session-expired');
  if (!row.user_is_usable) return refuse('user');
  // A token of this session that was already cleaned up.
  if (row.token_id === null) return { kind: 'reuse' };
  if (row.is_revoked) return refuse('revoked');
  if (row.consumed_at === null) return { kind: 'rotate', tokenId: row.token_id };

  if (row.successor_id === null) return { kind: 'reuse' };
  if (row.successor_consumed_at !== null) {
    return happenedAfter(row.successor_consumed_at, now) ? refuse('overtaken') : { kind: 'reuse' };
  }
  const successor = storedSuccessor(row);
  if (successor === undefined || row.successor_is_revoked) return refuse('revoked');

  const expiresAt = row.access_token_expires_at ?? 0;
  const isAccessTokenLive = !row.access_token_is_revoked && now < expiresAt;
  if (isBeaten || isRecent(row.consumed_at, rules.graceSeconds * 1000, now)) {
    return isAccessTokenLive
      ? { kind: 'repeat', successor, accessTokenExpiresAt: expiresAt }
      : { kind: 'renew', successor, mayBeUsed: true };
  }
  if (row.successor_was_used || row.access_token_was_used) return { kind: 'reuse' };
  return { kind: 'renew', successor, mayBeUsed: false };
}

function storedSuccessor(row: JudgedRow): StoredSuccessor | undefined {
  const { token_id: tokenId, rotation_salt: salt, successor_id: refreshTokenId } = row;
  const { successor_hash: refreshTokenHash, access_token_id: accessTokenId, replay_counter: replayCounter } = row;
  if (tokenId === null || salt === null || refreshTokenId === null || refreshTokenHash === null) return undefined;
  if (accessTokenId === null || replayCounter === null) return undefined;
  const scope = row.access_token_scope ?? row.scope;
  return { tokenId, salt, replayCounter, refreshTokenId, refreshTokenHash, accessTokenId, scope };
}

function refuse(reason: RefreshRefusal): RefreshVerdict {
  return { kind: 'refuse', reason };
}
