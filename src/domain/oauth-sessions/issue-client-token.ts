import type { Client } from '#domain/clients/client.ts';
import { newId, type OAuth2SessionId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import { issueClientToken } from './statements/issue-client-token.ts';
import { accessTokenExpiry, type TokenSettings } from './token-settings.ts';

export interface ClientToken {
  readonly sessionId: OAuth2SessionId;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * A token for a client itself (RFC 6749 4.4), in a session of its own without a user. One statement.
 * @returns undefined when the client changed or was disabled since its record was read
 */
export async function issueTokenToClient(
  database: Queryable,
  client: Client,
  scope: readonly string[],
  userAgent: string | undefined,
  settings: TokenSettings,
  now: number,
): Promise<ClientToken | undefined> {
  const sessionId = newId<'oauth2-session'>(now);
  const accessToken = newToken('mat');
  const expiresAt = accessTokenExpiry(settings, now, now);
  const stored = await database.first(issueClientToken, {
    clientId: toUuid(client.id),
    clientVersion: client.version,
    sessionId: toUuid(sessionId),
    scope,
    userAgent: userAgent ?? null,
    now: new Date(now),
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(accessToken),
    accessTokenExpiresAt: new Date(expiresAt),
  });
  return stored === undefined ? undefined : { sessionId, accessToken, expiresAt };
}
