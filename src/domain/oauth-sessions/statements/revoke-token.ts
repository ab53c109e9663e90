import { clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import { statement } from '#platform/postgres/statement.ts';
import { oauthSessionIsLive } from '../liveness.ts';

export interface RevocationRow {
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

export const sessionOfAccessToken = statement<RevocationRow, Params>(
  'session-of-access-token',
  sessionOfToken('oauth2_access_tokens'),
);

export const sessionOfRefreshToken = statement<RevocationRow, Params>(
  'session-of-refresh-token',
  sessionOfToken('oauth2_refresh_tokens'),
);
