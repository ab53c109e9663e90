import { type LimitRow, limitColumns } from '#domain/clients/allowed-groups.ts';
import {
  type ClientKind,
  type ClientMetadata,
  type ClientOverrides,
  clientKindSql,
  shownTextSql,
} from '#domain/clients/client.ts';
import { clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** A client in lists. Times in milliseconds since the epoch. */
export interface ClientRecord extends LimitRow {
  readonly id: string;
  /** Null if the client is identified by its ID. */
  readonly document_url: string | null;
  readonly client_name: string | null;
  readonly client_uri: string | null;
  readonly logo_uri: string | null;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly token_endpoint_auth_method: string;
  readonly kind: ClientKind;
  readonly is_static: boolean;
  readonly preset: string | null;
  readonly created_at: number;
  readonly updated_at: number | null;
  readonly disabled_at: number | null;
  readonly last_used_at: number | null;
  /** At most `MAX_COUNTED_SESSIONS`. In lists at most `MAX_LISTED_SESSIONS`. */
  readonly active_sessions: number;
}

/** A client with all of its properties. */
export interface ClientDetailsRecord extends ClientRecord {
  readonly version: number;
  readonly metadata: ClientMetadata;
  readonly overrides: ClientOverrides | null;
  readonly has_secret: boolean;
  readonly secret_created_at: number | null;
  readonly secret_last_used_at: number | null;
  /** Null: there is no former secret. */
  readonly former_secret_expires_at: number | null;
  readonly former_secret_created_at: number | null;
  readonly former_secret_last_used_at: number | null;
}

export interface ClientFilters {
  /** `listed`: all except `builtin`. */
  readonly kind: ClientKind | 'listed';
  readonly isDisabled: boolean;
  /** `like` patterns for lower-case texts, made with `containing`. */
  readonly name: string;
  readonly uri: string;
  /** Name, home page or redirect URI. */
  readonly search: string;
  readonly grantType: string;
  readonly hasSessions: boolean;
}

export const MAX_COUNTED_SESSIONS = 1000;
/** A page may have 1,000 clients. */
export const MAX_LISTED_SESSIONS = 100;

const REDIRECT_URIS = `coalesce(c.metadata -> 'redirect_uris', '[]'::jsonb)`;
const contains = (name: 'client_name' | 'client_uri', parameter: string) =>
  `lower(${shownTextSql('c', name)}) like :${parameter}::text`;
const times = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, ms(`c.${name}`)]));

// The condition on `client_id` holds for every row. It makes the planner use `oauth2_sessions_live_of_client`.
const LIVE_SESSIONS = `from oauth2_sessions s
  where s.client_id = c.id and ${oauthSessionIsLive('s')} and s.client_id > '00000000-0000-0000-0000-000000000000'`;

function activeSessions(maximum: number): string {
  return `(select count(*)::integer from (select ${LIVE_SESSIONS} limit ${maximum}) counted)`;
}

/** The sweep stores `last_used_at` later than the client is used. */
const LAST_USE = `greatest(c.last_used_at, c.secret_last_used_at,
  (select s.created_at ${LIVE_SESSIONS} order by s.id desc limit 1))`;

const COLUMNS = {
  id: 'c.id',
  document_url: 'c.document_url',
  client_name: shownTextSql('c', 'client_name'),
  client_uri: shownTextSql('c', 'client_uri'),
  logo_uri: shownTextSql('c', 'logo_uri'),
  redirect_uris: REDIRECT_URIS,
  grant_types: `coalesce(c.metadata -> 'grant_types', '[]'::jsonb)`,
  token_endpoint_auth_method: `c.metadata ->> 'token_endpoint_auth_method'`,
  kind: clientKindSql('c'),
  is_static: 'c.is_static',
  preset: 'c.preset',
  ...times(['created_at', 'updated_at', 'disabled_at']),
  last_used_at: ms(LAST_USE),
  ...limitColumns('c'),
};

export const clients = new Listing<ClientRecord, ClientFilters>('admin-clients', {
  columns: { ...COLUMNS, active_sessions: activeSessions(MAX_LISTED_SESSIONS) },
  from: 'oauth2_clients c',
  filters: {
    // Each repeats the condition of its partial index, so that the planner uses it.
    kind: {
      listed: `c.kind is distinct from 'builtin'`,
      static: 'c.is_static',
      managed: `c.kind = 'managed'`,
      dynamic: 'not c.is_static and c.kind is null',
      builtin: `c.kind = 'builtin'`,
    },
    isDisabled: { true: `not (${clientIsEnabled('c')})`, false: clientIsEnabled('c') },
    name: contains('client_name', 'name'),
    uri: contains('client_uri', 'uri'),
    search: `(${contains('client_name', 'search')} or ${contains('client_uri', 'search')}
      or exists (select from jsonb_array_elements_text(${REDIRECT_URIS}) uri where lower(uri) like :search::text))`,
    grantType: `c.metadata -> 'grant_types' ? :grantType::text`,
    hasSessions: eitherWay(
      `exists (select from oauth2_sessions s where s.client_id = c.id and ${oauthSessionIsLive('s')})`,
    ),
  },
});

export const clientDetails = new Listing<ClientDetailsRecord, Record<never, never>>('admin-client', {
  columns: {
    ...COLUMNS,
    version: 'c.version',
    metadata: 'c.metadata',
    overrides: 'c.overrides',
    has_secret: 'c.client_secret_sealed is not null',
    ...times(['secret_created_at', 'secret_last_used_at']),
    ...times(['former_secret_created_at', 'former_secret_last_used_at', 'former_secret_expires_at']),
    active_sessions: activeSessions(MAX_COUNTED_SESSIONS),
  },
  from: 'oauth2_clients c',
  filters: {},
});
