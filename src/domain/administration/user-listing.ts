/** What administrators list and read: rows of any owner, whatever state they are in. Owns no table. */
import { accountIsDeactivated, accountIsLocked, accountIsUsable } from '#domain/accounts/liveness.ts';
import { compatSessionIsLive } from '#domain/compat-sessions/liveness.ts';
import { oauthSessionIsLive } from '#domain/oauth-sessions/liveness.ts';
import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Times in milliseconds since the epoch. */
export interface UserRecord {
  readonly id: string;
  readonly username: string;
  readonly created_at: number;
  readonly locked_at: number | null;
  readonly deactivated_at: number | null;
  readonly admin: boolean;
  /** Of a homeserver that had guests. */
  readonly guest: boolean;
}

export interface UserFilters {
  readonly admin: boolean;
  readonly guest: boolean;
  readonly status: 'active' | 'locked' | 'deactivated';
  /** A pattern of `like` for the username in lower case: `containing`. */
  readonly search: string;
  readonly hasOAuth2Session: boolean;
  readonly hasCompatSession: boolean;
  /** Somebody with a live session at any of these clients. */
  readonly clients: readonly string[];
}

export const users = new Listing<UserRecord, UserFilters>('admin-users', {
  columns: {
    id: 'u.id',
    username: 'u.username',
    created_at: ms('u.created_at'),
    locked_at: ms('u.locked_at'),
    deactivated_at: ms('u.deactivated_at'),
    admin: 'u.can_request_admin',
    guest: 'u.is_guest',
  },
  from: 'users u',
  filters: {
    admin: 'u.can_request_admin = :admin::boolean',
    guest: 'u.is_guest = :guest::boolean',
    status: `case :status::text when 'active' then ${accountIsUsable('u')}
      when 'locked' then ${accountIsLocked('u')} else ${accountIsDeactivated('u')} end`,
    search: 'u.username_key like :search::text',
    hasOAuth2Session: `exists (select from oauth2_sessions s where s.user_id = u.id and ${oauthSessionIsLive('s')})
      = :hasOAuth2Session::boolean`,
    hasCompatSession: `exists (select from compat_sessions s where s.user_id = u.id and ${compatSessionIsLive('s')})
      = :hasCompatSession::boolean`,
    clients: `exists (select from oauth2_sessions s
      where s.user_id = u.id and s.client_id = any(:clients::uuid[]) and ${oauthSessionIsLive('s')})`,
  },
});
