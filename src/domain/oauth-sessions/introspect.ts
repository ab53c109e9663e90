import type { Client } from '#domain/clients/client.ts';
import { clientIdentifier } from '#domain/clients/client-names.ts';
import type { AdminRights } from '#domain/records/admin-rights.ts';
import { CALLER_IS_CURRENT, clientIsEnabled } from '#domain/records/liveness/clients.ts';
import {
  accessTokenIsLive,
  accessTokenIsUnrevoked,
  ancestorsAreLive,
  oauthSessionIsLive,
  refreshTokenIsLive,
  sessionUserIsUsable,
  signInOfBuiltinIsLive,
} from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { TokenKind } from '#protocol/oauth/token-format.ts';
import type { ClientId, OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import type { Actor } from './actor.ts';
import { endedOfAge, type TokenSettings } from './token-settings.ts';

/** A live token and its session. Times are milliseconds since the epoch. */
export interface LiveToken {
  readonly kind: TokenKind;
  /** ULID of the token. */
  readonly id: string;
  readonly sessionId: OAuth2SessionId;
  readonly clientId: ClientId;
  /** Its `client_id`. */
  readonly clientIdentifier: string;
  readonly user: { readonly id: UserId; readonly username: string } | undefined;
  /** Without admin scopes that the holder may no longer have. */
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  /** Thumbprint of the key that an access token is bound to. */
  readonly key: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  /** The actor on behalf of the user, if any. */
  readonly actor: Actor | undefined;
}

/** A token to introspect, and for whom. */
export interface PresentedOAuthToken {
  readonly kind: TokenKind;
  /** `accessTokenHash`, or the SHA-256 of a refresh token. */
  readonly tokenHash: Buffer;
  /** The calling client; undefined for the homeserver and this server itself. */
  readonly client: Pick<Client, 'id' | 'version'> | undefined;
  /** Returns whether the caller may introspect a token of this client that is bound to this key. */
  readonly maySee: (owner: ClientId, key: string | undefined) => boolean;
  readonly settings: TokenSettings;
  readonly rights: AdminRights;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Introspects a token for its caller. Runs one statement, or two at the first use of the token.
 * @returns undefined for any token that is not live or that the caller may not see
 */
export async function introspectToken(
  database: Queryable,
  presented: PresentedOAuthToken,
): Promise<LiveToken | 'client-changed' | undefined> {
  const row = await readToken(database, presented);
  if (row === undefined) return undefined;
  if (!row.caller_is_current) return 'client-changed';
  const { kind, now, rights } = presented;
  if (!row.is_live || !presented.maySee(fromUuid(row.client_id), row.dpop_jkt ?? undefined)) return undefined;
  if (!row.was_used) {
    const mark = kind === 'access-token' ? markAccessTokenUsed : markRefreshTokenUsed;
    // The token was revoked between the two statements.
    if ((await database.execute(mark, { tokenId: row.token_id, now: new Date(now) })) === 0) return undefined;
  }
  return liveToken(kind, row, rights);
}

async function readToken(
  database: Queryable,
  { kind, tokenHash, client, settings, now }: PresentedOAuthToken,
): Promise<IntrospectionRow | undefined> {
  const params: IntrospectionParams = {
    tokenHash,
    callerId: client === undefined ? null : toUuid(client.id),
    callerVersion: client?.version ?? null,
    endedOfAge: endedOfAge(settings, now),
  };
  return kind === 'access-token'
    ? await database.first(introspectAccessToken, { ...params, now: new Date(now) })
    : await database.first(introspectRefreshToken, params);
}

function liveToken(kind: TokenKind, row: IntrospectionRow, rights: AdminRights): LiveToken {
  const clientId = fromUuid<'client'>(row.client_id);
  return {
    kind,
    id: fromUuid(row.token_id),
    sessionId: fromUuid(row.session_id),
    clientId,
    clientIdentifier: clientIdentifier(clientId, row.client_document_url),
    user:
      row.user_id === null || row.username === null ? undefined : { id: fromUuid(row.user_id), username: row.username },
    scope: rights.remainingScope(row.scope, row),
    resources: row.resources,
    key: row.dpop_jkt ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    authenticatedAt: row.auth_time ?? undefined,
    acr: row.acr ?? undefined,
    actor: row.act ?? undefined,
  };
}

/** The caller; the homeserver has no client record. */
type IntrospectionParams = {
  readonly tokenHash: Buffer;
  readonly callerId: string | null;
  readonly callerVersion: number | null;
  /** Sessions opened at this time or earlier have reached their maximum lifetime; null: there is none. */
  readonly endedOfAge: Date | null;
};

interface IntrospectionRow {
  readonly token_id: string;
  readonly session_id: string;
  readonly client_id: string;
  /** Null: `client_id` is the ID. */
  readonly client_document_url: string | null;
  readonly user_id: string | null;
  readonly username: string | null;
  readonly can_request_admin: boolean | null;
  /** Registered scopes of the token's client; null: unrestricted. */
  readonly client_scope: string | null;
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  readonly dpop_jkt: string | null;
  readonly created_at: number;
  /**
   * Null for tokens without a separate expiry: refresh tokens, and access tokens that are valid as long as their
   * session.
   */
  readonly expires_at: number | null;
  readonly auth_time: number | null;
  readonly acr: string | null;
  readonly act: Actor | null;
  readonly was_used: boolean;
  /** Whether token, session, client and user are all usable. */
  readonly is_live: boolean;
  /** False: the cached record of the calling client is outdated. */
  readonly caller_is_current: boolean;
}

/**
 * A session is live if it and its ancestors are not finished, its client is enabled, and its user (if any) is usable.
 * A session of the admin area ends with its browser session.
 */
const SESSION_IS_LIVE = `${oauthSessionIsLive('s')} and ${clientIsEnabled('c')} and ${ancestorsAreLive('s')}
          and (:endedOfAge::timestamptz is null or s.created_at > :endedOfAge::timestamptz)
          and ${signInOfBuiltinIsLive('s', 'c')} and ${sessionUserIsUsable('s', 'u')}`;

const SESSION_JOINS = `join oauth2_sessions s on s.id = t.session_id
     join oauth2_clients c on c.id = s.client_id
     left join users u on u.id = s.user_id`;

/** Unique index on `token_hash`, then primary keys. */
const introspectAccessToken = lookup<IntrospectionRow, IntrospectionParams & { readonly now: Date }>(
  'introspect-access-token',
  `select t.id as token_id,
          s.id as session_id,
          s.client_id,
          c.document_url as client_document_url,
          s.user_id,
          u.username,
          u.can_request_admin,
          c.metadata ->> 'scope' as client_scope,
          t.scope,
          t.resources,
          t.dpop_jkt,
          ${ms('t.created_at')} as created_at,
          ${ms("nullif(t.expires_at, 'infinity')")} as expires_at,
          ${ms('s.auth_time')} as auth_time,
          s.acr,
          s.act,
          t.first_used_at is not null as was_used,
          ${accessTokenIsLive('t', ':now::timestamptz')} and ${SESSION_IS_LIVE} as is_live,
          ${CALLER_IS_CURRENT} as caller_is_current
     from oauth2_access_tokens t
     ${SESSION_JOINS}
    where t.token_hash = :tokenHash::bytea`,
);

/** Unique index on `token_hash`, then primary keys. A consumed token is not live. */
const introspectRefreshToken = lookup<IntrospectionRow, IntrospectionParams>(
  'introspect-refresh-token',
  `select t.id as token_id,
          s.id as session_id,
          s.client_id,
          c.document_url as client_document_url,
          s.user_id,
          u.username,
          u.can_request_admin,
          c.metadata ->> 'scope' as client_scope,
          s.scope,
          s.resources,
          null::text as dpop_jkt,
          ${ms('t.created_at')} as created_at,
          null::float8 as expires_at,
          null::float8 as auth_time,
          null::text as acr,
          null::jsonb as act,
          t.first_used_at is not null as was_used,
          ${refreshTokenIsLive('t')} and ${SESSION_IS_LIVE} as is_live,
          ${CALLER_IS_CURRENT} as caller_is_current
     from oauth2_refresh_tokens t
     ${SESSION_JOINS}
    where t.token_hash = :tokenHash::bytea`,
);

/**
 * Marks the first use of a token before the response is sent (oauth 9.4). Changes no row if the token was revoked in
 * the meantime. A concurrent second use keeps the time.
 */
const markAccessTokenUsed = statement<never, { readonly tokenId: string; readonly now: Date }>(
  'mark-access-token-used',
  `update oauth2_access_tokens
      set first_used_at = coalesce(first_used_at, :now::timestamptz)
    where id = :tokenId::uuid and ${accessTokenIsUnrevoked('oauth2_access_tokens')}`,
);

const markRefreshTokenUsed = statement<never, { readonly tokenId: string; readonly now: Date }>(
  'mark-refresh-token-used',
  `update oauth2_refresh_tokens
      set first_used_at = coalesce(first_used_at, :now::timestamptz)
    where id = :tokenId::uuid and ${refreshTokenIsLive('oauth2_refresh_tokens')}`,
);
