import type { Client } from '#domain/clients/client.ts';
import { clientWithIdIsCurrent } from '#domain/records/liveness/clients.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';
import { refreshFamily } from './refresh-successor.ts';

export interface RevocationRequest {
  readonly token: string;
  /** Result of `accessTokenHash`; undefined: not an access token. */
  readonly accessTokenHash: Buffer | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether a homeserver is connected, which must be notified of the removed device. */
  readonly syncsDevices: boolean;
}

/**
 * Ends the session of a token (RFC 7009). Expired access tokens and consumed refresh tokens are accepted too, so that a
 * client that lost its newest tokens can still sign out. The row of a consumed refresh token may be deleted, so the
 * session is found by the token's family tag. Returns `nothing-to-do` for unknown tokens and ended sessions. Malformed
 * text needs no statement.
 */
export async function revokeToken(
  database: Queryable,
  client: Client,
  request: RevocationRequest,
): Promise<'ended' | 'nothing-to-do' | 'other-client' | 'client-changed'> {
  const { accessTokenHash: tokenHash } = request;
  const text = parseToken(request.token);
  const by = { clientId: toUuid(client.id), clientVersion: client.version };
  let row: RevocationRow | undefined;
  if (tokenHash !== undefined) {
    row = await database.first(sessionOfAccessToken, { ...by, tokenHash });
  } else if (text?.prefix === 'mar') {
    row =
      (await database.first(sessionOfRefreshToken, { ...by, family: refreshFamily(text.random) })) ??
      (await database.first(sessionOfImportedToken, { ...by, tokenHash: sha256(request.token) }));
  }
  if (row === undefined) return 'nothing-to-do';
  if (!row.client_is_current) return 'client-changed';
  if (!row.session_is_live) return 'nothing-to-do';
  if (!row.is_own_client) return 'other-client';
  await endOAuth2Session(database, fromUuid(row.session_id), { reason: 'client_revoked', ...request });
  return 'ended';
}

interface RevocationRow {
  readonly session_id: string;
  readonly is_own_client: boolean;
  readonly client_is_current: boolean;
  readonly session_is_live: boolean;
}

interface Revoker {
  readonly clientId: string;
  readonly clientVersion: number;
}

const COLUMNS = `s.id as session_id,
         s.client_id = :clientId::uuid as is_own_client,
         ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as client_is_current,
         ${oauthSessionIsLive('s')} as session_is_live`;

/** Uses the unique index on `token_hash`, then the primary key. */
const sessionOfAccessToken = statement<RevocationRow, Revoker & { readonly tokenHash: Buffer }>(
  'session-of-access-token',
  `select ${COLUMNS}
     from oauth2_access_tokens t
     join oauth2_sessions s on s.id = t.session_id
    where t.token_hash = :tokenHash::bytea`,
);

/** An imported session with several refresh tokens has no family. Uses the unique index on `token_hash`. */
const sessionOfImportedToken = statement<RevocationRow, Revoker & { readonly tokenHash: Buffer }>(
  'session-of-imported-refresh-token',
  `select ${COLUMNS}
     from oauth2_refresh_tokens t
     join oauth2_sessions s on s.id = t.session_id and s.refresh_family is null
    where t.token_hash = :tokenHash::bytea`,
);

/** Uses the unique index on `refresh_family`. */
const sessionOfRefreshToken = statement<RevocationRow, Revoker & { readonly family: Buffer }>(
  'session-of-refresh-token',
  `select ${COLUMNS} from oauth2_sessions s where s.refresh_family = :family::bytea`,
);
