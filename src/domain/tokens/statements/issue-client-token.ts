import { statement } from '#db/statement.ts';

/**
 * Opens a session without a user and stores its only token. No row when the cached record of the client is out of
 * date.
 */
export const issueClientToken = statement<
  { id: string },
  [
    clientId: string,
    clientVersion: number,
    sessionId: string,
    scope: readonly string[],
    userAgent: string | null,
    now: Date,
    accessTokenId: string,
    accessTokenHash: Buffer,
    accessTokenExpiresAt: Date,
  ]
>(
  'issue-client-token',
  `with opened as (
    insert into oauth2_sessions (id, client_id, scope, user_agent, created_at)
    select $3::uuid, c.id, $4::text[], $5::text, $6::timestamptz
      from oauth2_clients c
     where c.id = $1::uuid and c.version = $2::integer and c.disabled_at is null
    returning id
  )
  insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at)
  select $7::uuid, id, $8::bytea, $4::text[], $6::timestamptz, $9::timestamptz from opened
  returning id`,
);
