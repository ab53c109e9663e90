import { type AcceptedPasswordParams, acceptedPasswordCtes } from '#domain/accounts/passwords/accepted-password.ts';
import type { UserRow } from '#domain/accounts/user.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { statement } from '#platform/postgres/statement.ts';
import { browserSessionIsLive } from '../liveness.ts';

/** The account as it is now; no row when its password was changed since it was checked. */
export type OpenedSessionRow = UserRow & {
  readonly is_opened: boolean;
  /** Live sessions before this one, counted up to `:mostSessions`. */
  readonly live_sessions: number;
};

/**
 * Signs a person in whose password was right: session, authentication and audit event, unless the account is locked
 * or deactivated.
 */
export const openBrowserSession = statement<
  OpenedSessionRow,
  AcceptedPasswordParams & {
    readonly sessionId: string;
    readonly keyHash: Buffer;
    readonly userAgent: string | null;
    readonly ip: string | null;
    readonly authenticationId: string;
    readonly mostSessions: number;
    readonly auditEventId: string;
    readonly acr: string;
    readonly amr: readonly string[];
  }
>(
  'open-browser-session',
  `with ${acceptedPasswordCtes},
  opened as (
    insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, user_agent, created_at,
      last_active_at, last_active_ip)
    select :sessionId::uuid, proven.user_id, :keyHash::bytea, :now::timestamptz, :acr::text, :amr::text[], :userAgent::text, :now::timestamptz,
      :now::timestamptz, :ip::inet
    from proven
    returning id, user_id
  ),
  authenticated as (
    insert into user_session_authentications (id, user_session_id, kind, created_at)
    select :authenticationId::uuid, opened.id, 'password', :now::timestamptz from opened
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'login', opened.user_id, null, opened.id, :ip::inet, :userAgent::text, null, :now::timestamptz from opened
  )
  select account.user_id, account.username, account.display_name, account.locale, account.can_request_admin,
    account.is_locked, account.is_deactivated,
    exists (select from opened) as is_opened,
    (
      select count(*)::integer from (
        select from user_sessions live where live.user_id = :userId::uuid and ${browserSessionIsLive('live')}
        limit :mostSessions::integer
      ) as counted
    ) as live_sessions
  from account`,
);
