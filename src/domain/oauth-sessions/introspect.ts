import { type ClientId, fromUuid, type OAuth2SessionId, toUuid, type UserId } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { AdminRights } from './admin-rights.ts';
import {
  type IntrospectionParams,
  type IntrospectionRow,
  introspectAccessToken,
  introspectRefreshToken,
  markAccessTokenUsed,
  markRefreshTokenUsed,
} from './statements/introspect-token.ts';
import type { TokenSettings } from './token-settings.ts';

export type TokenKind = 'access-token' | 'refresh-token';

/** A live token and what its session says. Times in milliseconds since the epoch. */
export interface LiveToken {
  readonly kind: TokenKind;
  /** ULID of the token. */
  readonly id: string;
  readonly sessionId: OAuth2SessionId;
  readonly clientId: ClientId;
  readonly user: { readonly id: UserId; readonly username: string } | undefined;
  readonly deviceId: string | undefined;
  /** Without admin scopes that their holder may no longer have. */
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
}

export interface IntrospectionCaller {
  /** Undefined: the homeserver. */
  readonly client: { readonly id: ClientId; readonly version: number } | undefined;
  /** Whether the caller may know about tokens of that client. */
  readonly maySee: (owner: ClientId) => boolean;
}

/**
 * What a token is worth to its caller: one statement, two when this marks its first use.
 * @returns undefined for every token that is not live or that the caller may not see
 */
export async function introspectToken(
  database: Queryable,
  kind: TokenKind,
  token: string,
  caller: IntrospectionCaller,
  settings: TokenSettings,
  rights: AdminRights,
  now: number,
): Promise<LiveToken | 'client-changed' | undefined> {
  const row = await readToken(database, kind, token, caller, settings, now);
  if (row === undefined) return undefined;
  if (!row.caller_is_current) return 'client-changed';
  if (!row.is_live || !caller.maySee(fromUuid(row.client_id))) return undefined;
  if (!row.was_used) {
    const mark = kind === 'access-token' ? markAccessTokenUsed : markRefreshTokenUsed;
    // Revoked between the two statements.
    if ((await database.execute(mark, { tokenId: row.token_id, now: new Date(now) })) === 0) return undefined;
  }
  return liveToken(kind, row, rights);
}

async function readToken(
  database: Queryable,
  kind: TokenKind,
  token: string,
  caller: IntrospectionCaller,
  settings: TokenSettings,
  now: number,
): Promise<IntrospectionRow | undefined> {
  const { sessionMaxLifetimeSeconds } = settings;
  const params: IntrospectionParams = {
    tokenHash: sha256(token),
    callerId: caller.client === undefined ? null : toUuid(caller.client.id),
    callerVersion: caller.client?.version ?? null,
    endedOfAge: sessionMaxLifetimeSeconds === undefined ? null : new Date(now - sessionMaxLifetimeSeconds * 1000),
  };
  return kind === 'access-token'
    ? await database.first(introspectAccessToken, { ...params, now: new Date(now) })
    : await database.first(introspectRefreshToken, params);
}

function liveToken(kind: TokenKind, row: IntrospectionRow, rights: AdminRights): LiveToken {
  return {
    kind,
    id: fromUuid(row.token_id),
    sessionId: fromUuid(row.session_id),
    clientId: fromUuid(row.client_id),
    user:
      row.user_id === null || row.username === null ? undefined : { id: fromUuid(row.user_id), username: row.username },
    deviceId: row.device_id ?? undefined,
    scope: rights.remainingScope(row.scope, row),
    resources: row.resources,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    authenticatedAt: row.auth_time ?? undefined,
    acr: row.acr ?? undefined,
  };
}
