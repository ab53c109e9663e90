import { type ClientKind, clientKindSql, shownTextSql } from '#domain/clients/client.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { parseCidr } from '#platform/base/ip-address.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Fields that sessions of all kinds have. Times in milliseconds since the epoch. */
interface SessionRecord {
  readonly id: string;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly user_agent: string | null;
  readonly last_active_at: number | null;
  readonly last_active_ip: string | null;
  /** Null if it belongs to the client itself. */
  readonly username: string | null;
}

export interface BrowserSessionRecord extends SessionRecord {
  readonly user_id: string;
}

export interface OAuth2SessionRecord extends SessionRecord {
  /** Null if the session belongs to the client itself. */
  readonly user_id: string | null;
  readonly user_session_id: string | null;
  readonly client_id: string;
  readonly client_name: string | null;
  /** The session whose token started this one, if any. */
  readonly parent_session_id: string | null;
  readonly scope: readonly string[];
  readonly human_name: string | null;
}

export interface CompatSessionRecord extends SessionRecord {
  readonly user_id: string;
  readonly device_id: string | null;
  readonly user_session_id: string | null;
  readonly redirect_uri: string | null;
  readonly human_name: string | null;
}

export interface SessionFilters {
  readonly user: string;
  readonly isLive: boolean;
  readonly createdBefore: Date;
  readonly createdAfter: Date;
  readonly activeBefore: Date;
  readonly activeAfter: Date;
  /** Last used from this address. */
  readonly address: string;
  /** Last used from a network with few sessions. */
  readonly network: string;
  /** Last used from a network that may have most sessions. */
  readonly wideNetwork: string;
}

export interface OwnedSessionFilters extends SessionFilters {
  readonly browserSession: string;
}

export interface OAuth2SessionFilters extends OwnedSessionFilters {
  /** The session must belong to one of these clients. */
  readonly clients: readonly string[];
  readonly clientKind: ClientKind;
  /** The session must have all of these scopes. */
  readonly scope: readonly string[];
}

const COLUMNS = {
  id: 's.id',
  user_id: 's.user_id',
  username: '(select u.username from users u where u.id = s.user_id)',
  created_at: ms('s.created_at'),
  finished_at: ms('s.finished_at'),
  user_agent: 's.user_agent',
  last_active_at: ms('s.last_active_at'),
  last_active_ip: 'host(s.last_active_ip)',
};

/** Networks with more addresses are wide. */
const MIN_PREFIX_LENGTHS = { ipv4: 16, ipv6: 32 } as const;

/** Returns the filters for sessions last used from an address or a network. */
export function addressFilters(text: string): Partial<Pick<SessionFilters, 'address' | 'network' | 'wideNetwork'>> {
  const parsed = parseCidr(text);
  if (parsed === undefined || !text.includes('/')) return { address: text };
  return parsed.prefixLength >= MIN_PREFIX_LENGTHS[parsed.family] ? { network: text } : { wideNetwork: text };
}

function sessionFilters(table: string, isLive: string) {
  // Addresses are stored without a prefix, which counts as the longest one.
  const end = (of: string) =>
    `set_masklen(${of}(:network::inet), case family(:network::inet) when 4 then 32 else 128 end)`;
  return {
    user: 's.user_id = :user::uuid',
    isLive: eitherWay(isLive),
    createdBefore: 's.created_at < :createdBefore::timestamptz',
    createdAfter: 's.created_at > :createdAfter::timestamptz',
    activeBefore: 's.last_active_at < :activeBefore::timestamptz',
    activeAfter: 's.last_active_at > :activeAfter::timestamptz',
    address: 's.last_active_ip = :address::inet',
    // Through the index of addresses. The list in order of creation would read every session to find few.
    network: `s.id = any (array(
      select n.id from ${table} n where n.last_active_ip between ${end('network')} and ${end('broadcast')}))`,
    // In order of creation, because sorting this many sessions takes longer. The planner expects few matches of the
    // operator, but many of other expressions.
    wideNetwork: 'coalesce(s.last_active_ip <<= :wideNetwork::inet, false)',
  };
}

const BROWSER_SESSION = 's.user_session_id = :browserSession::uuid';

export const browserSessions = new Listing<BrowserSessionRecord, SessionFilters>('admin-user-sessions', {
  columns: COLUMNS,
  from: 'user_sessions s',
  filters: sessionFilters('user_sessions', browserSessionIsLive('s')),
});

export const oauth2Sessions = new Listing<OAuth2SessionRecord, OAuth2SessionFilters>('admin-oauth2-sessions', {
  columns: {
    ...COLUMNS,
    user_session_id: 's.user_session_id',
    client_id: 's.client_id',
    client_name: `(select ${shownTextSql('c', 'client_name')} from oauth2_clients c where c.id = s.client_id)`,
    parent_session_id: 's.parent_session_id',
    scope: 's.scope',
    human_name: 's.human_name',
  },
  from: 'oauth2_sessions s',
  filters: {
    ...sessionFilters('oauth2_sessions', oauthSessionIsLive('s')),
    isLive: {
      // Repeats the condition of the partial index `oauth2_sessions_live`, so that the planner uses it.
      true: `${oauthSessionIsLive('s')} and s.id > '00000000-0000-0000-0000-000000000000'`,
      false: `not (${oauthSessionIsLive('s')})`,
    },
    browserSession: BROWSER_SESSION,
    clients: 's.client_id = any(:clients::uuid[])',
    clientKind: `exists (select from oauth2_clients c where c.id = s.client_id and ${clientKindSql('c')} = :clientKind::text)`,
    scope: 's.scope @> :scope::text[]',
  },
});

export const compatSessions = new Listing<CompatSessionRecord, OwnedSessionFilters>('admin-compat-sessions', {
  columns: {
    ...COLUMNS,
    device_id: 's.device_id',
    user_session_id: 's.user_session_id',
    redirect_uri: `(select l.redirect_uri from compat_sso_logins l where l.compat_session_id = s.id limit 1)`,
    human_name: 's.human_name',
  },
  from: 'compat_sessions s',
  filters: { ...sessionFilters('compat_sessions', compatSessionIsLive('s')), browserSession: BROWSER_SESSION },
});
