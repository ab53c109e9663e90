import type { Client } from '#domain/clients/client.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { CALLER_IS_CURRENT } from '#domain/records/liveness/clients.ts';
import {
  compatAccessTokenIsLive,
  compatAccessTokenIsUnrevoked,
  compatRefreshTokenIsLive,
  compatSessionIsLive,
} from '#domain/records/liveness/compat-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { TokenKind } from '#protocol/oauth/token-format.ts';
import type { CompatSessionId, UserId } from '#vocabulary/ids.ts';

/** A live token and its session. Times are milliseconds since the epoch. */
export interface LiveCompatToken {
  readonly kind: TokenKind;
  readonly sessionId: CompatSessionId;
  readonly user: { readonly id: UserId; readonly username: string };
  /** Undefined: imported without a device. */
  readonly deviceId: string | undefined;
  /** Whether it grants administration of the homeserver. */
  readonly isAdmin: boolean;
  readonly createdAt: number;
  /** Undefined: valid as long as its session. */
  readonly expiresAt: number | undefined;
}

/** A token to introspect, and for whom. */
export interface PresentedCompatToken {
  readonly kind: TokenKind;
  /** SHA-256. */
  readonly tokenHash: Buffer;
  /** The calling client; undefined for the homeserver. */
  readonly client: Pick<Client, 'id' | 'version'> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Introspects a chat client's token (chat-compat 12). Runs one statement, or two at the first use of the token.
 * @returns undefined for any token that is not live
 */
export async function introspectCompatToken(
  database: Queryable,
  { kind, tokenHash, client, now }: PresentedCompatToken,
): Promise<LiveCompatToken | 'client-changed' | undefined> {
  const params = {
    tokenHash,
    callerId: client === undefined ? null : toUuid(client.id),
    callerVersion: client?.version ?? null,
  };
  const row =
    kind === 'access-token'
      ? await database.first(introspectAccessToken, { ...params, now: new Date(now) })
      : await database.first(introspectRefreshToken, params);
  if (row === undefined) return undefined;
  if (!row.caller_is_current) return 'client-changed';
  if (!row.is_live) return undefined;
  if (!row.was_used) {
    const mark = kind === 'access-token' ? markAccessTokenUsed : markRefreshTokenUsed;
    // The token was revoked between the two statements.
    if ((await database.execute(mark, { tokenId: row.token_id, now: new Date(now) })) === 0) return undefined;
  }
  return {
    kind,
    sessionId: fromUuid(row.session_id),
    user: { id: fromUuid(row.user_id), username: row.username },
    deviceId: row.device_id ?? undefined,
    isAdmin: row.is_homeserver_admin,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  };
}

interface IntrospectionRow {
  readonly token_id: string;
  readonly session_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly device_id: string | null;
  readonly is_homeserver_admin: boolean;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly was_used: boolean;
  /** Whether token, session and user are all usable. */
  readonly is_live: boolean;
  /** False: the cached record of the calling client is outdated. */
  readonly caller_is_current: boolean;
}

type IntrospectionParams = {
  readonly tokenHash: Buffer;
  readonly callerId: string | null;
  readonly callerVersion: number | null;
};

/** Uses the unique index on `token_hash`, then primary keys. */
function introspectionSql(table: string, expiresAt: string, tokenIsLive: string): string {
  return `select t.id as token_id,
          s.id as session_id,
          s.user_id,
          u.username,
          s.device_id,
          s.is_homeserver_admin,
          ${ms('t.created_at')} as created_at,
          ${expiresAt} as expires_at,
          t.first_used_at is not null as was_used,
          ${tokenIsLive} and ${compatSessionIsLive('s')} and ${accountIsUsable('u')} as is_live,
          ${CALLER_IS_CURRENT} as caller_is_current
     from ${table} t
     join compat_sessions s on s.id = t.session_id
     join users u on u.id = s.user_id
    where t.token_hash = :tokenHash::bytea`;
}

const introspectAccessToken = lookup<IntrospectionRow, IntrospectionParams & { readonly now: Date }>(
  'introspect-compat-access-token',
  introspectionSql('compat_access_tokens', ms('t.expires_at'), compatAccessTokenIsLive('t', ':now::timestamptz')),
);

const introspectRefreshToken = lookup<IntrospectionRow, IntrospectionParams>(
  'introspect-compat-refresh-token',
  introspectionSql('compat_refresh_tokens', 'null::float8', compatRefreshTokenIsLive('t')),
);

/** Marks the first use of a token before the response is sent. A concurrent second use keeps the time. */
const markAccessTokenUsed = statement<never, { readonly tokenId: string; readonly now: Date }>(
  'mark-compat-access-token-used',
  `update compat_access_tokens
      set first_used_at = coalesce(first_used_at, :now::timestamptz)
    where id = :tokenId::uuid and ${compatAccessTokenIsUnrevoked('compat_access_tokens')}`,
);

const markRefreshTokenUsed = statement<never, { readonly tokenId: string; readonly now: Date }>(
  'mark-compat-refresh-token-used',
  `update compat_refresh_tokens
      set first_used_at = coalesce(first_used_at, :now::timestamptz)
    where id = :tokenId::uuid and ${compatRefreshTokenIsLive('compat_refresh_tokens')}`,
);
