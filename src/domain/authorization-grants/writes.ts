import { statement } from '#db/statement.ts';

/**
 * No row when this address has too many pending grants already. Two requests at the same moment may both see room:
 * the bound is for what one address can pile up, and a few more do no harm.
 *
 * Partial index `oauth2_authorization_grants_pending`, of which at most `limit` entries are read.
 */
export const insertGrant = statement<
  { id: string },
  [
    id: string,
    clientId: string,
    redirectUri: string,
    redirectUriSent: boolean,
    scope: readonly string[],
    responseMode: string,
    state: string | null,
    nonce: string | null,
    codeChallenge: string | null,
    prompt: readonly string[],
    maxAge: number | null,
    loginHint: string | null,
    locale: string | null,
    acrValues: readonly string[],
    isAcrEssential: boolean,
    claims: string | null,
    expectedUserId: string | null,
    addressKey: string,
    now: Date,
    expiresAt: Date,
    limit: number,
  ]
>(
  'insert-authorization-grant',
  `insert into oauth2_authorization_grants (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, state,
     nonce, code_challenge, prompt, max_age, login_hint, locale, acr_values, acr_essential, claims, expected_user_id,
     requester_ip, created_at, expires_at)
   select $1::uuid, $2::uuid, $3::text, $4::boolean, $5::text[], $6::text, $7::text, $8::text, $9::text, $10::text[],
     $11::integer, $12::text, $13::text, $14::text[], $15::boolean, $16::jsonb, $17::uuid,
     $18::inet, $19::timestamptz, $20::timestamptz
    where (
      select count(*) from (
        select from oauth2_authorization_grants pending
         where pending.requester_ip = $18::inet and pending.expires_at > $19::timestamptz
           and pending.fulfilled_at is null and pending.cancelled_at is null
         limit $21::integer
      ) as counted
    ) < $21::integer
   returning id`,
);

/** A grant with or without a code, as `isFulfilled` says, that was neither exchanged nor cancelled. */
export const cancelGrant = statement<never, [id: string, reason: string, now: Date, isFulfilled: boolean]>(
  'cancel-authorization-grant',
  `update oauth2_authorization_grants
      set cancelled_at = $3::timestamptz, cancel_reason = $2::text
    where id = $1::uuid and (fulfilled_at is not null) = $4::boolean and exchanged_at is null and cancelled_at is null`,
);

export const cancelPendingGrantsTo = statement<
  never,
  [clientId: string, redirectUris: readonly string[], reason: string, now: Date]
>(
  'cancel-pending-grants-to-redirect-uris',
  `update oauth2_authorization_grants
      set cancelled_at = $4::timestamptz, cancel_reason = $3::text
    where client_id = $1::uuid and redirect_uri = any ($2::text[]) and fulfilled_at is null and cancelled_at is null`,
);

/** Of a pending grant; what the same browser session chose first stands. */
export const storeDecision = statement<never, [id: string, decision: string, browserSessionId: string, now: Date]>(
  'store-authorization-decision',
  `update oauth2_authorization_grants
      set decision = $2::text, user_session_id = $3::uuid
    where id = $1::uuid and (decision is null or user_session_id is distinct from $3::uuid)
      and fulfilled_at is null and cancelled_at is null and expires_at > $4::timestamptz`,
);

export const setRegistrationOffered = statement<never, [id: string]>(
  'set-registration-offered',
  'update oauth2_authorization_grants set registration_offered = true where id = $1::uuid and not registration_offered',
);
