import { statement } from '#db/statement.ts';

/**
 * No row when the address, or the person who is signed in, has too many grants of the last hour that no code was
 * exchanged for: pending ones, and those that were given up or whose code nobody came for. Two requests at the same
 * moment may both see room: the bound is for what can pile up, and a few more do no harm.
 *
 * Partial indexes `oauth2_authorization_grants_unused` and `..._unused_of_user`, of which at most `limit` entries each
 * are read.
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
    userId: string | null,
  ]
>(
  'insert-authorization-grant',
  `insert into oauth2_authorization_grants (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, state,
     nonce, code_challenge, prompt, max_age, login_hint, locale, acr_values, acr_essential, claims, expected_user_id,
     requester_ip, created_at, expires_at, requester_user_id)
   select $1::uuid, $2::uuid, $3::text, $4::boolean, $5::text[], $6::text, $7::text, $8::text, $9::text, $10::text[],
     $11::integer, $12::text, $13::text, $14::text[], $15::boolean, $16::jsonb, $17::uuid,
     $18::inet, $19::timestamptz, $20::timestamptz, $22::uuid
    where (
      select count(*) from (
        select from oauth2_authorization_grants unused
         where unused.requester_ip = $18::inet and unused.expires_at > $19::timestamptz and unused.exchanged_at is null
         limit $21::integer
      ) as of_address
    ) < $21::integer
      and (
      select count(*) from (
        select from oauth2_authorization_grants unused
         where unused.requester_user_id = $22::uuid and unused.expires_at > $19::timestamptz
           and unused.exchanged_at is null
         limit $21::integer
      ) as of_user
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
