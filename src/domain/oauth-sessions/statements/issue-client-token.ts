import { clientIsCurrent } from '#domain/clients/liveness.ts';
import { statement } from '#platform/postgres/statement.ts';

/**
 * Opens a session without a user and stores its only token. No row when the cached record of the client is out of
 * date.
 */
export const issueClientToken = statement<
  { id: string },
  {
    readonly clientId: string;
    readonly clientVersion: number;
    readonly sessionId: string;
    readonly scope: readonly string[];
    readonly userAgent: string | null;
    readonly now: Date;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly accessTokenExpiresAt: Date;
  }
>(
  'issue-client-token',
  `with opened as (
    insert into oauth2_sessions (id, client_id, scope, user_agent, created_at)
    select :sessionId::uuid, c.id, :scope::text[], :userAgent::text, :now::timestamptz
      from oauth2_clients c
     where c.id = :clientId::uuid and ${clientIsCurrent('c', ':clientVersion::integer')}
    returning id
  )
  insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at)
  select :accessTokenId::uuid, id, :accessTokenHash::bytea, :scope::text[], :now::timestamptz, :accessTokenExpiresAt::timestamptz from opened
  returning id`,
);
