import { clientIsBuiltin, clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** The client as registered. Times in milliseconds since the epoch. */
export interface ClientRecord {
  readonly id: string;
  /** Null if the client is identified by its ID. */
  readonly document_url: string | null;
  readonly client_name: string | null;
  readonly client_uri: string | null;
  readonly logo_uri: string | null;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly token_endpoint_auth_method: string;
  readonly is_static: boolean;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

export interface ClientFilters {
  readonly isStatic: boolean;
  readonly isBuiltin: boolean;
  /** `like` patterns for lower-case texts, made with `containing`. */
  readonly name: string;
  readonly uri: string;
  readonly grantType: string;
  readonly hasSessions: boolean;
}

const text = (name: string) => `c.metadata -> '${name}' ->> ''`;

export const clients = new Listing<ClientRecord, ClientFilters>('admin-clients', {
  columns: {
    id: 'c.id',
    document_url: 'c.document_url',
    client_name: text('client_name'),
    client_uri: text('client_uri'),
    logo_uri: text('logo_uri'),
    redirect_uris: `coalesce(c.metadata -> 'redirect_uris', '[]'::jsonb)`,
    grant_types: `coalesce(c.metadata -> 'grant_types', '[]'::jsonb)`,
    token_endpoint_auth_method: `c.metadata ->> 'token_endpoint_auth_method'`,
    is_static: 'c.is_static',
    created_at: ms('c.created_at'),
    last_used_at: ms('c.last_used_at'),
  },
  from: 'oauth2_clients c',
  where: clientIsEnabled('c'),
  filters: {
    isStatic: eitherWay('c.is_static'),
    isBuiltin: eitherWay(clientIsBuiltin('c')),
    name: `lower(${text('client_name')}) like :name::text`,
    uri: `lower(${text('client_uri')}) like :uri::text`,
    grantType: `c.metadata -> 'grant_types' ? :grantType::text`,
    hasSessions: eitherWay(
      `exists (select from oauth2_sessions s where s.client_id = c.id and ${oauthSessionIsLive('s')})`,
    ),
  },
});
