import type { Client } from '#domain/clients/client.ts';
import { clientIsCurrent } from '#domain/records/liveness/clients.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { joinableWrite } from '#platform/postgres/joinable-write.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { OAuth2SessionId } from '#vocabulary/ids.ts';
import type { TokenTarget } from './open-session.ts';
import { accessTokenExpiry, type TokenSettings } from './token-settings.ts';

export interface ClientToken {
  readonly sessionId: OAuth2SessionId;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Issues a token to a client on its own behalf (RFC 6749 4.4), in a separate session without a user. Uses one
 * statement.
 * @returns undefined if the client was changed or disabled since its record was read
 */
export async function issueTokenToClient(
  database: Queryable,
  client: Client,
  { scope, resources, key }: TokenTarget,
  userAgent: string | undefined,
  settings: TokenSettings,
  now: number,
): Promise<ClientToken | undefined> {
  const sessionId = newId<'oauth2-session'>(now);
  const accessToken = newToken('mat');
  const expiresAt = accessTokenExpiry(settings, resources, now, now);
  const stored = await database.first(issueClientToken, {
    clientId: toUuid(client.id),
    clientVersion: client.version,
    sessionId: toUuid(sessionId),
    scope,
    resources,
    tokenKey: key ?? null,
    userAgent: userAgent ?? null,
    now: new Date(now),
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(accessToken),
    accessTokenExpiresAt: new Date(expiresAt),
  });
  return stored === undefined ? undefined : { sessionId, accessToken, expiresAt };
}

/**
 * Opens a session without a user and stores its only token. Returns no row if the cached record of the client is
 * outdated.
 */
const issueClientToken = joinableWrite<
  { id: string },
  {
    readonly clientId: string;
    readonly clientVersion: number;
    readonly sessionId: string;
    readonly scope: readonly string[];
    readonly resources: readonly string[];
    readonly tokenKey: string | null;
    readonly userAgent: string | null;
    readonly now: Date;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly accessTokenExpiresAt: Date;
  }
>(
  'issue-client-token',
  {
    clientId: 'uuid',
    clientVersion: 'integer',
    sessionId: 'uuid',
    scope: 'text[]',
    resources: 'text[]',
    tokenKey: 'text',
    userAgent: 'text',
    now: 'timestamptz',
    accessTokenId: 'uuid',
    accessTokenHash: 'bytea',
    accessTokenExpiresAt: 'timestamptz',
  },
  `opened as (
    insert into oauth2_sessions (id, client_id, scope, resources, user_agent, created_at)
    select asked."sessionId", c.id, asked.scope, asked.resources, asked."userAgent", asked.now
      from asked join oauth2_clients c
        on c.id = asked."clientId" and ${clientIsCurrent('c', 'asked."clientVersion"')}
    returning id
  ), stored as (
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, dpop_jkt, created_at, expires_at)
    select asked."accessTokenId", opened.id, asked."accessTokenHash", asked.scope, asked.resources, asked."tokenKey",
           asked.now, asked."accessTokenExpiresAt"
      from opened join asked on asked."sessionId" = opened.id
    returning id, session_id
  )
  select asked.place, stored.id from stored join asked on asked."sessionId" = stored.session_id`,
);
