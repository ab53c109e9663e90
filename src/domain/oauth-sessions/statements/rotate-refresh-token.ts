import { accountIsUsable } from '#domain/accounts/liveness.ts';
import { clientIsCurrent } from '#domain/clients/liveness.ts';
import { statement } from '#platform/postgres/statement.ts';
import { accessTokenIsUnrevoked, oauthSessionIsLive, refreshTokenIsLive } from '../liveness.ts';

/**
 * The session of a refresh token, held against an end that commits meanwhile: whoever ends it waits, or this finds no
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
export const rotateRefreshToken = statement<
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
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, created_at, expires_at)
    select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :scope::text[], :resources::text[], :now::timestamptz, :accessTokenExpiresAt::timestamptz from consumed
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
 * pair was used, consumed or renewed meanwhile.
 */
export const renewAccessToken = statement<
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
  ), dead as (
    update oauth2_access_tokens a
       set revoked_at = :now::timestamptz
      from pair
     where a.id = :formerAccessTokenId::uuid and ${accessTokenIsUnrevoked('a')} and (:mayBeUsed::boolean or a.first_used_at is null)
    returning pair.id as successor_id, pair.session_id
  ), moved as (
    update oauth2_refresh_tokens n set access_token_id = :accessTokenId::uuid from dead where n.id = dead.successor_id
  ), counted as (
    update oauth2_refresh_tokens p set replay_counter = :replayCounter::integer from dead where p.id = :tokenId::uuid
  ), issued as (
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, created_at, expires_at)
    select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :scope::text[], :resources::text[], :now::timestamptz, :accessTokenExpiresAt::timestamptz from dead
    returning id
  )
  select id from issued`,
);
