import { type ClientKind, clientKindSql, shownTextSql } from '#domain/clients/client.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
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

function sessionFilters(isLive: string) {
  return {
    user: 's.user_id = :user::uuid',
    isLive: eitherWay(isLive),
    createdBefore: 's.created_at < :createdBefore::timestamptz',
    createdAfter: 's.created_at > :createdAfter::timestamptz',
    activeBefore: 's.last_active_at < :activeBefore::timestamptz',
    activeAfter: 's.last_active_at > :activeAfter::timestamptz',
  };
}

const BROWSER_SESSION = 's.user_session_id = :browserSession::uuid';

export const browserSessions = new Listing<BrowserSessionRecord, SessionFilters>('admin-user-sessions', {
  columns: COLUMNS,
  from: 'user_sessions s',
  filters: sessionFilters(browserSessionIsLive('s')),
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
    ...sessionFilters(oauthSessionIsLive('s')),
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
  filters: { ...sessionFilters(compatSessionIsLive('s')), browserSession: BROWSER_SESSION },
});
