import type { RefreshTokenRow } from './statements/read-refresh-token.ts';

/** What a presented refresh token amounts to: the rows of oauth.md 9.4. Nothing is written by judging. */
export type RefreshVerdict =
  /** Never used: consume it and store its successor. */
  | { readonly kind: 'rotate'; readonly tokenId: string }
  /** The answer with the same pair once more. */
  | { readonly kind: 'repeat'; readonly successor: StoredSuccessor; readonly accessTokenExpiresAt: number }
  /** The same refresh token with a fresh access token; `mayBeUsed`: also if the pair was used meanwhile. */
  | { readonly kind: 'renew'; readonly successor: StoredSuccessor; readonly mayBeUsed: boolean }
  | { readonly kind: 'refuse'; readonly reason: RefreshRefusal }
  /** Stolen, then: whoever holds the newer token and whoever presents this one are not the same. */
  | { readonly kind: 'reuse' };

export type RefreshRefusal = 'unknown' | 'other-client' | 'session-ended' | 'session-expired' | 'user' | 'revoked';

export interface StoredSuccessor {
  readonly tokenId: string;
  readonly salt: Buffer;
  readonly replayCounter: number;
  readonly refreshTokenId: string;
  readonly refreshTokenHash: Buffer;
  readonly accessTokenId: string;
  readonly scope: readonly string[];
}

export interface RefreshRules {
  readonly graceSeconds: number;
  /** When the session ends of age, milliseconds since the epoch. */
  readonly sessionExpiry: (sessionCreatedAt: number) => number;
}

/**
 * @param hasLostRace another request just consumed this token or renewed its pair: whatever the grace, this one is
 * answered with what the winner stored
 */
export function judgeRefreshToken(
  row: RefreshTokenRow | undefined,
  rules: RefreshRules,
  now: number,
  hasLostRace: boolean,
): RefreshVerdict {
  if (row === undefined) return refuse('unknown');
  if (!row.is_own_client) return refuse('other-client');
  if (row.is_finished) return refuse('session-ended');
  if (now >= rules.sessionExpiry(row.session_created_at)) return refuse('session-expired');
  if (!row.user_is_usable) return refuse('user');
  // A token of this session that is older than those kept.
  if (row.token_id === null) return { kind: 'reuse' };
  if (row.is_revoked) return refuse('revoked');
  if (row.consumed_at === null) return { kind: 'rotate', tokenId: row.token_id };

  if (row.successor_id === null || row.successor_is_consumed) return { kind: 'reuse' };
  const successor = storedSuccessor(row);
  if (successor === undefined || row.successor_is_revoked) return refuse('revoked');

  const expiresAt = row.access_token_expires_at ?? 0;
  const isAccessTokenLive = !row.access_token_is_revoked && now < expiresAt;
  if (hasLostRace || now - row.consumed_at <= rules.graceSeconds * 1000) {
    return isAccessTokenLive
      ? { kind: 'repeat', successor, accessTokenExpiresAt: expiresAt }
      : { kind: 'renew', successor, mayBeUsed: true };
  }
  if (row.successor_was_used || row.access_token_was_used) return { kind: 'reuse' };
  return { kind: 'renew', successor, mayBeUsed: false };
}

function storedSuccessor(row: RefreshTokenRow): StoredSuccessor | undefined {
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
