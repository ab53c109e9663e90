import type { Client } from '#domain/clients/client.ts';
import { clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';
import { oauthSessionIsLive } from './liveness.ts';

export interface RevocationRequest {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/**
 * Ends the session that a token belongs to (RFC 7009). An expired access token and a consumed refresh token do so too:
 * a client that lost its newest tokens can still sign out. A text that is not one of our tokens, or one of a session that has ended,
 * is `nothing-to-do`, without a statement when its form tells so.
 */
export async function revokeToken(
  database: Queryable,
  client: Client,
  request: RevocationRequest,
): Promise<'ended' | 'nothing-to-do' | 'other-client' | 'client-changed'> {
  const prefix = parseToken(request.token)?.prefix;
  if (prefix !== 'mat' && prefix !== 'mar') return 'nothing-to-do';
  const find = prefix === 'mat' ? sessionOfAccessToken : sessionOfRefreshToken;
  const row = await database.first(find, {
    tokenHash: sha256(request.token),
    clientId: toUuid(client.id),
    clientVersion: client.version,
  });
  if (row === undefined) return 'nothing-to-do';
  if (!row.client_is_current) return 'client-changed';
  if (!row.session_is_live) return 'nothing-to-do';
  if (!row.is_own_client) return 'other-client';
  const { now, address, userAgent } = request;
  await endOAuth2Session(database, fromUuid(row.session_id), { reason: 'client_revoked', now, address, userAgent });
  return 'ended';
}

interface RevocationRow {
  readonly session_id: string;
  readonly is_own_client: boolean;
  readonly client_is_current: boolean;
  readonly session_is_live: boolean;
}

type Params = { readonly tokenHash: Buffer; readonly clientId: string; readonly clientVersion: number };

const sessionOfToken = (table: string) => `
  select s.id as session_id,
         s.client_id = :clientId::uuid as is_own_client,
         ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as client_is_current,
         ${oauthSessionIsLive('s')} as session_is_live
    from ${table} t
    join oauth2_sessions s on s.id = t.session_id
   where t.token_hash = :tokenHash::bytea`;

const sessionOfAccessToken = statement<RevocationRow, Params>(
  'session-of-access-token',
  sessionOfToken('oauth2_access_tokens'),
);

const sessionOfRefreshToken = statement<RevocationRow, Params>(
  'session-of-refresh-token',
  sessionOfToken('oauth2_refresh_tokens'),
);
