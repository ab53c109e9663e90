import { newId, toUuid } from '#platform/base/ids.ts';
import { randomBytes } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { Statement } from '#platform/postgres/statement.ts';
import type { RefreshVerdict } from './judge-refresh-token.ts';
import {
  deriveSuccessor,
  familyOfToken,
  findSuccessor,
  type PairPrefixes,
  type PresentedToken,
  type SuccessorPair,
} from './refresh-successor.ts';

const SALT_BYTES = 16;

/** Token tables and conditions of one kind of session: OAuth clients or chat clients. */
export interface TokenTables {
  readonly refreshTokens: string;
  readonly accessTokens: string;
  /**
   * Query that locks the session `:sessionId` against a concurrent end: either the end waits, or this query finds no
   * row.
   */
  readonly liveSession: string;
  /** Returns a condition on an alias. */
  readonly refreshTokenIsLive: (token: string) => string;
  readonly accessTokenIsUnrevoked: (token: string) => string;
  /** Additional columns of this kind's access tokens, and their values. */
  readonly grant?: { readonly columns: string; readonly values: string };
  /** Additional CTEs, on `consumed` with its `session_id`. */
  readonly onRotation?: string;
}

type TokenParams = {
  readonly tokenId: string;
  readonly sessionId: string;
  readonly now: Date;
  readonly accessTokenId: string;
  readonly accessTokenHash: Buffer;
  readonly accessTokenExpiresAt: Date;
};

export type RotationParams = TokenParams & {
  readonly salt: Buffer;
  readonly refreshTokenId: string;
  readonly refreshTokenHash: Buffer;
  /** Family of a successor that starts one; else null. */
  readonly family: Buffer | null;
};

export type RenewalParams = TokenParams & {
  readonly replayCounter: number;
  readonly successorId: string;
  readonly formerAccessTokenId: string;
  readonly mayBeUsed: boolean;
};

interface Stored {
  readonly id: string;
}

/** @param Grant additional parameters of this kind's tokens */
export interface SuccessorStatements<Grant extends object> {
  readonly rotate: Statement<Stored, RotationParams & Grant>;
  readonly renew: Statement<Stored, RenewalParams & Grant>;
  readonly prefixes: PairPrefixes;
}

/** The access token to issue. Times are milliseconds since the epoch. */
export interface WantedAccess<Grant> {
  /** UUID. */
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly now: number;
  readonly grant: Grant;
}

/**
 * Stores the successor of a refresh token or finds the stored one, depending on the verdict (oauth 9.4). At most one
 * conditional write.
 * @param keys `KeyRing.deriveAll('refresh-rotation')`, current key first
 * @returns undefined if another request was faster; `no-key` if the key of the stored pair no longer exists
 */
export async function storeSuccessor<Grant extends object>(
  database: Queryable,
  statements: SuccessorStatements<Grant>,
  verdict: Extract<RefreshVerdict, { kind: 'rotate' | 'repeat' | 'renew' }>,
  keys: readonly Buffer[],
  presented: PresentedToken,
  wanted: WantedAccess<Grant>,
): Promise<SuccessorPair | 'no-key' | undefined> {
  const { rotate, renew, prefixes } = statements;
  const { sessionId, now, grant } = wanted;
  const access = {
    sessionId,
    now: new Date(now),
    accessTokenId: toUuid(newId(now)),
    accessTokenExpiresAt: new Date(wanted.expiresAt),
    ...grant,
  };
  if (verdict.kind === 'rotate') {
    const [key] = keys;
    if (key === undefined) throw new Error('no key is available to derive refresh tokens');
    const salt = randomBytes(SALT_BYTES);
    const pair = deriveSuccessor(key, presented, salt, 0, prefixes);
    const stored = await database.first(rotate, {
      ...access,
      tokenId: verdict.tokenId,
      salt,
      refreshTokenId: toUuid(newId(now)),
      refreshTokenHash: sha256(pair.refreshToken),
      accessTokenHash: sha256(pair.accessToken),
      family: presented.random === '' ? familyOfToken(pair.refreshToken) : null,
    });
    return stored === undefined ? undefined : pair;
  }
  const { successor } = verdict;
  const found = findSuccessor(keys, presented, successor, prefixes);
  if (found === undefined) return 'no-key';
  if (verdict.kind === 'repeat') return found.pair;
  const replayCounter = successor.replayCounter + 1;
  const pair = deriveSuccessor(found.key, presented, successor.salt, replayCounter, prefixes);
  const stored = await database.first(renew, {
    ...access,
    tokenId: successor.tokenId,
    replayCounter,
    successorId: successor.refreshTokenId,
    formerAccessTokenId: successor.accessTokenId,
    mayBeUsed: verdict.mayBeUsed,
    accessTokenHash: sha256(pair.accessToken),
  });
  return stored === undefined ? undefined : pair;
}

/**
 * Returns SQL that consumes a refresh token and stores its successor with an access token. It also revokes the former
 * access token and deletes the salt that the presented token was derived with. Only the caller that consumed the token
 * gets a row.
 */
export function rotationSql(kind: TokenTables): string {
  return `with live as materialized (${kind.liveSession}
  ), consumed as (
    update ${kind.refreshTokens} t
       set consumed_at = :now::timestamptz, rotation_salt = :salt::bytea, successor_id = :refreshTokenId::uuid
     where t.id = :tokenId::uuid and ${kind.refreshTokenIsLive('t')} and exists (select from live)
    returning t.id, t.session_id, t.access_token_id, t.predecessor_id
  ), revoked as (
    update ${kind.accessTokens} a
       set revoked_at = :now::timestamptz
      from consumed
     where a.id = consumed.access_token_id and ${kind.accessTokenIsUnrevoked('a')}
  ), forgotten as (
    update ${kind.refreshTokens} p set rotation_salt = null from consumed where p.id = consumed.predecessor_id
  ), issued_access as (
    ${issueAccessToken(kind, 'consumed')}
    returning id, session_id
  ), issued_refresh as (
    insert into ${kind.refreshTokens} (id, session_id, token_hash, access_token_id, predecessor_id, created_at)
    select :refreshTokenId::uuid, session_id, :refreshTokenHash::bytea, id, :tokenId::uuid, :now::timestamptz from issued_access
    returning id
  )${kind.onRotation ?? ''}
  select id from issued_refresh`;
}

/**
 * Returns SQL that replaces the access token of a successor whose response was lost. Locks the successor before its
 * access token, like a rotation of the successor does. Only the caller that replaced it gets a row. Returns none if the
 * pair was used, consumed or renewed in the meantime.
 */
export function renewalSql(kind: TokenTables): string {
  return `with live as materialized (${kind.liveSession}
  ), pair as materialized (
    select n.id, n.session_id
      from ${kind.refreshTokens} n
     where n.id = :successorId::uuid and n.access_token_id = :formerAccessTokenId::uuid
       and ${kind.refreshTokenIsLive('n')} and (:mayBeUsed::boolean or n.first_used_at is null)
       and exists (select from live)
       for update
  ), replaced as (
    update ${kind.accessTokens} a
       set revoked_at = :now::timestamptz
      from pair
     where a.id = :formerAccessTokenId::uuid and ${kind.accessTokenIsUnrevoked('a')}
       and (:mayBeUsed::boolean or a.first_used_at is null)
    returning pair.id as successor_id, pair.session_id
  ), moved as (
    update ${kind.refreshTokens} n set access_token_id = :accessTokenId::uuid from replaced where n.id = replaced.successor_id
  ), counted as (
    update ${kind.refreshTokens} p set replay_counter = :replayCounter::integer from replaced where p.id = :tokenId::uuid
  ), issued as (
    ${issueAccessToken(kind, 'replaced')}
    returning id
  )
  select id from issued`;
}

function issueAccessToken({ accessTokens, grant }: TokenTables, from: string): string {
  const columns = grant === undefined ? '' : `, ${grant.columns}`;
  const values = grant === undefined ? '' : `, ${grant.values}`;
  return `insert into ${accessTokens} (id, session_id, token_hash, created_at, expires_at${columns})
    select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :now::timestamptz, :accessTokenExpiresAt::timestamptz${values}
      from ${from}`;
}
