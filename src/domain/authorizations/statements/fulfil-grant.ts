import { rememberConsentCte } from '#domain/clients/consents/remember-consent-sql.ts';
import { statement } from '#platform/postgres/statement.ts';

/**
 * Gives a pending grant its code and remembers the consent behind it. One row for the one caller that did it; none
 * when the grant is no longer pending, the client has changed, or the session or account may not be used any more.
 *
 * The user and the browser session are locked against a lock-out or sign-out that commits meanwhile (security S-102),
 * in the order users, browser sessions, grants that all statements keep.
 */
export const fulfilGrant = statement<
  { client_id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly browserSessionId: string;
    readonly clientVersion: number;
    readonly codeHash: Buffer;
    readonly locale: string;
    readonly rememberedScopes: readonly string[];
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    /** The person pressed the button just now, which is an event of its own. */
    readonly isDecided: boolean;
  }
>(
  'fulfil-authorization-grant',
  `with account as materialized (
    select id from users
     where id = :userId::uuid and locked_at is null and deactivated_at is null
       for share
  ), sign_in as materialized (
    select id, authenticated_at, acr, amr from user_sessions
     where id = :browserSessionId::uuid and user_id = :userId::uuid and finished_at is null and exists (select from account)
       for share
  ), fulfilled as (
    update oauth2_authorization_grants g
       set user_session_id = sign_in.id,
           auth_time = sign_in.authenticated_at,
           acr = sign_in.acr,
           amr = sign_in.amr,
           code_hash = :codeHash::bytea,
           locale = coalesce(g.locale, :locale::text),
           fulfilled_at = :now::timestamptz
      from sign_in
     where g.id = :id::uuid
       and g.fulfilled_at is null and g.cancelled_at is null and g.expires_at > :now::timestamptz
       and exists (
         select from oauth2_clients c where c.id = g.client_id and c.version = :clientVersion::integer and c.disabled_at is null
       )
    returning g.client_id, :userId::uuid as user_id
  ), ${rememberConsentCte('fulfilled', ':rememberedScopes::text[]', ':now::timestamptz')}, audited as (
    insert into audit_events (id, kind, user_id, client_id, session_id, ip, user_agent, created_at)
    select :auditEventId::uuid, 'consent_given', fulfilled.user_id, fulfilled.client_id, :browserSessionId::uuid, :ip::inet, :userAgent::text,
           :now::timestamptz
      from fulfilled where :isDecided::boolean
  )
  select client_id from fulfilled`,
);
