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

/** Against a concurrent end of the session: either the end waits, or the query finds no row. */
export const SESSION_LOCK = 'for share of s';

interface GrantColumn {
  readonly column: string;
  readonly parameter: string;
  readonly type: string;
}

/** Token tables and conditions of one kind of session: OAuth clients or chat clients. */
export interface TokenTables {
  readonly refreshTokens: string;
  readonly accessTokens: string;
  readonly sessions: string;
  /** Returns a condition on the session `s`. @param clientVersion SQL of the version of the client's cached record */
  readonly sessionIsLive: (clientVersion: string) => string;
  /** Returns a condition on an alias. */
  readonly refreshTokenIsLive: (token: string) => string;
  readonly accessTokenIsUnrevoked: (token: string) => string;
  /** Additional columns of this kind's access tokens. */
  readonly grantColumns?: readonly GrantColumn[];
  /** Lock of a rotation, if not `SESSION_LOCK`. */
  readonly rotationLock?: string;
  /** Additional CTEs of a rotation, on `asked` and `consumed`. */
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
  /** Whether the session has no family yet, because its tokens were imported. */
  readonly startsFamily?: boolean;
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
  const { rotate, renew, prefixes, startsFamily = false } = statements;
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
      family: startsFamily ? familyOfToken(pair.refreshToken) : null,
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
 * Returns the tables for sessions with imported tokens. The first token that is used starts the family that identifies
 * the session from then on. A session can have several, because the client may not have received the last one. The
 * others are revoked.
 */
export function importedTables(kind: TokenTables): TokenTables {
  return {
    ...kind,
    sessionIsLive: (clientVersion) => `${kind.sessionIsLive(clientVersion)} and s.refresh_family is null`,
    rotationLock: 'for update of s',
    onRotation: `, begun as (
    update ${kind.sessions} s set refresh_family = asked.family
      from consumed join asked on asked.place = consumed.place where s.id = consumed.session_id
  ), left_behind as (
    update ${kind.refreshTokens} o set revoked_at = asked.now
      from consumed join asked on asked.place = consumed.place
     where o.session_id = consumed.session_id and o.id <> consumed.id and ${kind.refreshTokenIsLive('o')}
  )`,
  };
}

/** SQL types of the parameters of `rotationSql`. */
export const ROTATION_TYPES = {
  tokenId: 'uuid',
  sessionId: 'uuid',
  now: 'timestamptz',
  accessTokenId: 'uuid',
  accessTokenHash: 'bytea',
  accessTokenExpiresAt: 'timestamptz',
  salt: 'bytea',
  refreshTokenId: 'uuid',
  refreshTokenHash: 'bytea',
  family: 'bytea',
} as const;

/**
 * Returns the source of a `joinableWrite` that consumes a refresh token and stores its successor with an access token.
 * It also revokes the former access token and deletes the salt that the presented token was derived with. Only the
 * caller that consumed the token gets a row, also if two callers of one joined statement present the same token: an
 * update changes a row once.
 */
export function rotationSql(kind: TokenTables): string {
  const { accessTokens, refreshTokens, sessions } = kind;
  const grant = grantOf(kind, ({ parameter }) => `asked."${parameter}"`);
  return `live as materialized (
    select asked.place
      from asked join ${sessions} s on s.id = asked."sessionId" and ${kind.sessionIsLive('asked."clientVersion"')}
     order by s.id
       ${kind.rotationLock ?? SESSION_LOCK}
  ), consumed as (
    update ${refreshTokens} t
       set consumed_at = asked.now, rotation_salt = asked.salt, successor_id = asked."refreshTokenId"
      from asked join live on live.place = asked.place
     where t.id = asked."tokenId" and ${kind.refreshTokenIsLive('t')}
    returning asked.place, t.id, t.session_id, t.access_token_id, t.predecessor_id
  ), revoked as (
    update ${accessTokens} a
       set revoked_at = asked.now
      from consumed join asked on asked.place = consumed.place
     where a.id = consumed.access_token_id and ${kind.accessTokenIsUnrevoked('a')}
  ), forgotten as (
    update ${refreshTokens} p set rotation_salt = null from consumed where p.id = consumed.predecessor_id
  ), issued_access as (
    insert into ${accessTokens} (id, session_id, token_hash, created_at, expires_at${grant.columns})
    select asked."accessTokenId", consumed.session_id, asked."accessTokenHash", asked.now, asked."accessTokenExpiresAt"
           ${grant.values}
      from consumed join asked on asked.place = consumed.place
    returning id, session_id
  ), issued_refresh as (
    insert into ${refreshTokens} (id, session_id, token_hash, access_token_id, predecessor_id, created_at)
    select asked."refreshTokenId", issued_access.session_id, asked."refreshTokenHash", issued_access.id, asked."tokenId",
           asked.now
      from issued_access join asked on asked."accessTokenId" = issued_access.id
    returning id
  )${kind.onRotation ?? ''}
  select asked.place, issued_refresh.id
    from issued_refresh join asked on asked."refreshTokenId" = issued_refresh.id`;
}

function grantOf(
  { grantColumns = [] }: TokenTables,
  toValue: (column: GrantColumn) => string,
): { readonly columns: string; readonly values: string } {
  const list = (texts: readonly string[]) => texts.map((text) => `, ${text}`).join('');
  return { columns: list(grantColumns.map(({ column }) => column)), values: list(grantColumns.map(toValue)) };
}

/**
 * Returns SQL that replaces the access token of a successor whose response was lost. Locks the successor before its
 * access token, like a rotation of the successor does. Only the caller that replaced it gets a row. Returns none if the
 * pair was used, consumed or renewed in the meantime.
 */
export function renewalSql(kind: TokenTables): string {
  return `with live as materialized (
    select s.id from ${kind.sessions} s
     where s.id = :sessionId::uuid and ${kind.sessionIsLive(':clientVersion::integer')}
       ${SESSION_LOCK}
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

function issueAccessToken(kind: TokenTables, from: string): string {
  const grant = grantOf(kind, ({ parameter, type }) => `:${parameter}::${type}`);
  return `insert into ${kind.accessTokens} (id, session_id, token_hash, created_at, expires_at${grant.columns})
    select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :now::timestamptz, :accessTokenExpiresAt::timestamptz
           ${grant.values}
      from ${from}`;
}
