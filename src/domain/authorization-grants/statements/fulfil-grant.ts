import { statement } from '#db/statement.ts';
import { rememberConsentCte } from '#domain/consents/remember-consent-sql.ts';

/**
 * Gives a pending grant its code and remembers the consent behind it. One row for the one caller that did it; none
 * when the grant is no longer pending, the client has changed, or the session or account may not be used any more.
 *
 * The user and the browser session are locked against a lock-out or sign-out that commits meanwhile (security S-102),
 * in the order users, browser sessions, grants that all statements keep.
 */
export const fulfilGrant = statement<
  { client_id: string },
  [
    id: string,
    userId: string,
    browserSessionId: string,
    clientVersion: number,
    codeHash: Buffer,
    locale: string,
    rememberedScopes: readonly string[],
    now: Date,
    auditEventId: string,
    ip: string | null,
    userAgent: string | null,
    /** The person pressed the button just now, which is an event of its own. */
    isDecided: boolean,
  ]
>(
  'fulfil-authorization-grant',
  `with account as materialized (
    select id from users
     where id = $2::uuid and locked_at is null and deactivated_at is null
       for share
  ), sign_in as materialized (
    select id, authenticated_at, acr, amr from user_sessions
     where id = $3::uuid and user_id = $2::uuid and finished_at is null and exists (select from account)
       for share
  ), fulfilled as (
    update oauth2_authorization_grants g
       set user_session_id = sign_in.id,
           auth_time = sign_in.authenticated_at,
           acr = sign_in.acr,
           amr = sign_in.amr,
           code_hash = $5::bytea,
           locale = coalesce(g.locale, $6::text),
           fulfilled_at = $8::timestamptz
      from sign_in
     where g.id = $1::uuid
       and g.fulfilled_at is null and g.cancelled_at is null and g.expires_at > $8::timestamptz
       and exists (
         select from oauth2_clients c where c.id = g.client_id and c.version = $4::integer and c.disabled_at is null
       )
    returning g.client_id, $2::uuid as user_id
  ), ${rememberConsentCte('fulfilled', '$7::text[]', '$8::timestamptz')}, audited as (
    insert into audit_events (id, kind, user_id, client_id, session_id, ip, user_agent, created_at)
    select $9::uuid, 'consent_given', fulfilled.user_id, fulfilled.client_id, $3::uuid, $10::inet, $11::text,
           $8::timestamptz
      from fulfilled where $12::boolean
  )
  select client_id from fulfilled`,
);
