import { statement } from '#db/statement.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit-events/audit-event.ts';
import { endingCtes } from '#domain/oauth2-sessions/ending-sql.ts';

export type RedeemCodeParams = [
  grantId: string,
  userId: string,
  userSessionId: string,
  clientVersion: number,
  /** Codes fulfilled before this are too old. */
  oldest: Date,
  now: Date,
  sessionId: string,
  deviceId: string | null,
  userAgent: string | null,
  refreshFamily: Buffer | null,
  accessTokenId: string,
  accessTokenHash: Buffer,
  accessTokenExpiresAt: Date,
  resources: readonly string[],
  refreshTokenId: string,
  /** Null: no refresh token is issued. */
  refreshTokenHash: Buffer | null,
  startedEventId: string,
  endedEventId: string,
  ip: string | null,
];

/**
 * Consumes a grant, ends the older session of the same user and device, opens the new one and stores its first
 * tokens. Returns a row when this caller redeemed the code; otherwise nothing changed.
 *
 * The conditional update of the grant decides a race. The user and the browser session are locked against a lock-out,
 * a deactivation or a sign-out that commits meanwhile (security S-102). Locks are taken in the order users, browser
 * sessions, grants, OAuth sessions, tokens; each step depends on the rows of the one before, which fixes that order.
 *
 * Two codes for one user and device redeemed in the same instant meet at `oauth2_sessions_live_device`: the later
 * statement fails as a whole with a unique violation, and is sent again behind `holdUser`.
 */
export const redeemCode = statement<{ id: string }, RedeemCodeParams>(
  'redeem-code',
  `with recursive account as materialized (
    select id from users
     where id = $2::uuid and locked_at is null and deactivated_at is null
       for share
  ), sign_in as materialized (
    select id from user_sessions
     where id = $3::uuid and user_id = $2::uuid and finished_at is null and exists (select from account)
       for share
  ), consumed as (
    update oauth2_authorization_grants g
       set exchanged_at = $6::timestamptz, oauth2_session_id = $7::uuid
     where g.id = $1::uuid
       and g.user_session_id = $3::uuid
       and g.exchanged_at is null and g.cancelled_at is null and g.fulfilled_at >= $5::timestamptz
       and exists (select from sign_in)
       and exists (
         select from oauth2_clients c where c.id = g.client_id and c.version = $4::integer and c.disabled_at is null
       )
    returning g.client_id, g.scope, g.claims, g.resources, g.locale, g.auth_time, g.acr, g.amr
  ), ${endingCtes(
    `select id from oauth2_sessions
      where user_id = $2::uuid and device_id = $8::text and finished_at is null and exists (select from consumed)`,
    '$6::timestamptz',
    `'device_replaced'`,
  )}, opened as (
    insert into oauth2_sessions (
      id, user_id, user_session_id, client_id, scope, claims, resources, device_id, locale, user_agent,
      auth_time, acr, amr, refresh_family, created_at
    )
    select $7::uuid, $2::uuid, $3::uuid, client_id, scope, claims, resources, $8::text, locale, $9::text,
           auth_time, acr, amr, $10::bytea, $6::timestamptz
      from consumed
     -- the count makes the older session of the device end before the unique index is asked
     where (select count(*) from ended) >= 0
    returning id, client_id, scope
  ), issued_access as (
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, created_at, expires_at)
    select $11::uuid, id, $12::bytea, scope, $14::text[], $6::timestamptz, $13::timestamptz from opened
    returning id, session_id
  ), issued_refresh as (
    insert into oauth2_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
    select $15::uuid, session_id, $16::bytea, id, $6::timestamptz
      from issued_access
     where $16::bytea is not null
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select $17::uuid, 'session_started', $2::uuid, client_id, id, $19::inet, $9::text, null::jsonb, $6::timestamptz
      from opened
    union all
    select $18::uuid, 'session_ended', user_id, client_id, id, $19::inet, $9::text,
           '{"reason": "device_replaced"}'::jsonb, $6::timestamptz
      from (select id, user_id, client_id from ended order by id limit 1) replaced
  )
  select id from opened`,
);

/**
 * Keeps every other redemption for this user waiting at its first step until the transaction ends, so that the
 * statement behind it sees the sessions of all that came before.
 */
export const holdUser = statement<{ id: string }, [userId: string]>(
  'hold-user',
  'select id from users where id = $1::uuid for no key update',
);
