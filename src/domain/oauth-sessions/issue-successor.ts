import { accountIsUsable } from '#domain/accounts/liveness.ts';
import type { Client } from '#domain/clients/client.ts';
import { clientIsCurrent } from '#domain/clients/liveness.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { randomBytes } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { RefreshTokenRow, RefreshVerdict } from './judge-refresh-token.ts';
import { accessTokenIsUnrevoked, oauthSessionIsLive, refreshTokenIsLive } from './liveness.ts';
import { deriveSuccessor, findSuccessor, type PresentedToken, type SuccessorPair } from './refresh-successor.ts';

const SALT_BYTES = 16;

/** The access token to be issued. Times in milliseconds since the epoch. */
export interface WantedToken {
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  /** Thumbprint of the key that it is bound to. */
  readonly key: string | undefined;
  readonly expiresAt: number;
  readonly now: number;
}

export interface IssuedSuccessor {
  readonly pair: SuccessorPair;
  /** The scope of the access token. */
  readonly scope: readonly string[];
  /** Milliseconds since the epoch. */
  readonly accessTokenExpiresAt: number;
}

/**
 * Stores the successor of a refresh token, or finds the one that is stored, as the verdict says. One conditional write
 * at most.
 * @returns undefined when another request was faster; `no-key` when the key that led to the stored pair is gone
 */
export async function issueSuccessor(
  database: Queryable,
  client: Client,
  row: RefreshTokenRow,
  verdict: Extract<RefreshVerdict, { kind: 'rotate' | 'repeat' | 'renew' }>,
  keys: readonly Buffer[],
  presented: PresentedToken,
  wanted: WantedToken,
): Promise<IssuedSuccessor | 'no-key' | undefined> {
  const issued = { scope: wanted.scope, accessTokenExpiresAt: wanted.expiresAt };
  if (verdict.kind === 'rotate') {
    const pair = await rotate(database, client, row, verdict.tokenId, keys, presented, wanted);
    return pair === undefined ? undefined : { ...issued, pair };
  }
  const { successor } = verdict;
  const found = findSuccessor(keys, presented, successor);
  if (found === undefined) return 'no-key';
  if (verdict.kind === 'repeat') {
    return { pair: found.pair, scope: successor.scope, accessTokenExpiresAt: verdict.accessTokenExpiresAt };
  }
  const counter = successor.replayCounter + 1;
  const pair = deriveSuccessor(found.key, presented, successor.salt, counter);
  const stored = await database.first(renewAccessToken, {
    tokenId: successor.tokenId,
    sessionId: row.session_id,
    clientVersion: client.version,
    now: new Date(wanted.now),
    replayCounter: counter,
    successorId: successor.refreshTokenId,
    formerAccessTokenId: successor.accessTokenId,
    mayBeUsed: verdict.mayBeUsed,
    accessTokenId: toUuid(newId(wanted.now)),
    accessTokenHash: sha256(pair.accessToken),
    accessTokenExpiresAt: new Date(wanted.expiresAt),
    scope: wanted.scope,
    resources: wanted.resources,
    tokenKey: wanted.key ?? null,
  });
  return stored === undefined ? undefined : { ...issued, pair };
}

async function rotate(
  database: Queryable,
  client: Client,
  row: RefreshTokenRow,
  tokenId: string,
  keys: readonly Buffer[],
  presented: PresentedToken,
  wanted: WantedToken,
): Promise<SuccessorPair | undefined> {
  const [key] = keys;
  if (key === undefined) throw new Error('no key to derive refresh tokens with');
  const salt = randomBytes(SALT_BYTES);
  const pair = deriveSuccessor(key, presented, salt, 0);
  const stored = await database.first(rotateRefreshToken, {
    tokenId,
    sessionId: row.session_id,
    clientVersion: client.version,
    now: new Date(wanted.now),
    salt,
    refreshTokenId: toUuid(newId(wanted.now)),
    refreshTokenHash: sha256(pair.refreshToken),
    accessTokenId: toUuid(newId(wanted.now)),
    accessTokenHash: sha256(pair.accessToken),
    accessTokenExpiresAt: new Date(wanted.expiresAt),
    scope: wanted.scope,
    resources: wanted.resources,
    tokenKey: wanted.key ?? null,
  });
  return stored === undefined ? undefined : pair;
}

/**
 * The session of a refresh token, locked against an end that commits at the same time: whoever ends it waits, or this finds no
 * row. Its client and user are read as they are now.
 * @param session, version parameters with the session's id and the version of the client's cached record
 */
const liveSession = (session: string, version: string) => `
  select s.id
    from oauth2_sessions s
    join oauth2_clients c on c.id = s.client_id and ${clientIsCurrent('c', `${version}::integer`)}
   where s.id = ${session}::uuid and ${oauthSessionIsLive('s')}
     and not exists (
       select from users u where u.id = s.user_id and not ${accountIsUsable('u')}
     )
     for share of s`;

/**
 * Consumes a refresh token and stores its successor with an access token; the former access token is revoked, and the
 * salt that led to the presented token is erased. Returns a row for the one caller that consumed it.
 */
const rotateRefreshToken = statement<
  { id: string },
  {
    readonly tokenId: string;
    readonly sessionId: string;
    readonly clientVersion: number;
    readonly now: Date;
    readonly salt: Buffer;
    readonly refreshTokenId: string;
    readonly refreshTokenHash: Buffer;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly accessTokenExpiresAt: Date;
    readonly scope: readonly string[];
    readonly resources: readonly string[];
    readonly tokenKey: string | null;
  }
>(
  'rotate-refresh-token',
  `with live as materialized (${liveSession(':sessionId', ':clientVersion')}
  ), consumed as (
    update oauth2_refresh_tokens t
       set consumed_at = :now::timestamptz, rotation_salt = :salt::bytea, successor_id = :refreshTokenId::uuid
     where t.id = :tokenId::uuid and ${refreshTokenIsLive('t')} and exists (select from live)
    returning t.id, t.session_id, t.access_token_id, t.predecessor_id
  ), revoked as (
    update oauth2_access_tokens a
       set revoked_at = :now::timestamptz
      from consumed
     where a.id = consumed.access_token_id and ${accessTokenIsUnrevoked('a')}
  ), forgotten as (
    update oauth2_refresh_tokens p set rotation_salt = null from consumed where p.id = consumed.predecessor_id
  ), issued_access as (
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, dpop_jkt, created_at, expires_at)
    select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :scope::text[], :resources::text[], :tokenKey::text, :now::timestamptz, :accessTokenExpiresAt::timestamptz from consumed
    returning id, session_id
  ), issued_refresh as (
    insert into oauth2_refresh_tokens (id, session_id, token_hash, access_token_id, predecessor_id, created_at)
    select :refreshTokenId::uuid, session_id, :refreshTokenHash::bytea, id, :tokenId::uuid, :now::timestamptz from issued_access
    returning id
  )
  select id from issued_refresh`,
);

/**
 * Gives a successor a fresh access token in place of the one whose answer was lost. Locks the successor before its
 * access token, as a rotation of the successor does. Returns a row for the one caller that replaced it; none when the
 * pair was used, consumed or renewed in the meantime.
 */
const renewAccessToken = statement<
  { id: string },
  {
    readonly tokenId: string;
    readonly sessionId: string;
    readonly clientVersion: number;
    readonly now: Date;
    readonly replayCounter: number;
    readonly successorId: string;
    readonly formerAccessTokenId: string;
    readonly mayBeUsed: boolean;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly accessTokenExpiresAt: Date;
    readonly scope: readonly string[];
    readonly resources: readonly string[];
    readonly tokenKey: string | null;
  }
>(
  'renew-access-token',
  `with live as materialized (${liveSession(':sessionId', ':clientVersion')}
  ), pair as materialized (
    select n.id, n.session_id
      from oauth2_refresh_tokens n
     where n.id = :successorId::uuid and n.access_token_id = :formerAccessTokenId::uuid
       and ${refreshTokenIsLive('n')} and (:mayBeUsed::boolean or n.first_used_at is null)
       and exists (select from live)
       for update
  ), replaced as (
    update oauth2_access_tokens a
       set revoked_at = :now::timestamptz
      from pair
     where a.id = :formerAccessTokenId::uuid and ${accessTokenIsUnrevoked('a')} and (:mayBeUsed::boolean or a.first_used_at is null)
    returning pair.id as successor_id, pair.session_id
  ), moved as (
    update oauth2_refresh_tokens n set access_token_id = :accessTokenId::uuid from replaced where n.id = replaced.successor_id
  ), counted as (
    update oauth2_refresh_tokens p set replay_counter = :replayCounter::integer from replaced where p.id = :tokenId::uuid
  ), issued as (
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, dpop_jkt, created_at, expires_at)
    select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :scope::text[], :resources::text[], :tokenKey::text, :now::timestamptz, :accessTokenExpiresAt::timestamptz from replaced
    returning id
  )
  select id from issued`,
);
