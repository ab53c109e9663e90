import { statement } from '#platform/postgres/statement.ts';

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
  {
    readonly id: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly redirectUriSent: boolean;
    readonly scope: readonly string[];
    readonly responseMode: string;
    readonly state: string | null;
    readonly nonce: string | null;
    readonly codeChallenge: string | null;
    readonly prompt: readonly string[];
    readonly maxAge: number | null;
    readonly loginHint: string | null;
    readonly locale: string | null;
    readonly acrValues: readonly string[];
    readonly isAcrEssential: boolean;
    readonly claims: string | null;
    readonly expectedUserId: string | null;
    readonly addressKey: string;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly limit: number;
    readonly userId: string | null;
  }
>(
  'insert-authorization-grant',
  `insert into oauth2_authorization_grants (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, state,
     nonce, code_challenge, prompt, max_age, login_hint, locale, acr_values, acr_essential, claims, expected_user_id,
     requester_ip, created_at, expires_at, requester_user_id)
   select :id::uuid, :clientId::uuid, :redirectUri::text, :redirectUriSent::boolean, :scope::text[], :responseMode::text, :state::text, :nonce::text, :codeChallenge::text, :prompt::text[],
     :maxAge::integer, :loginHint::text, :locale::text, :acrValues::text[], :isAcrEssential::boolean, :claims::jsonb, :expectedUserId::uuid,
     :addressKey::inet, :now::timestamptz, :expiresAt::timestamptz, :userId::uuid
    where (
      select count(*) from (
        select from oauth2_authorization_grants unused
         where unused.requester_ip = :addressKey::inet and unused.expires_at > :now::timestamptz and unused.exchanged_at is null
         limit :limit::integer
      ) as of_address
    ) < :limit::integer
      and (
      select count(*) from (
        select from oauth2_authorization_grants unused
         where unused.requester_user_id = :userId::uuid and unused.expires_at > :now::timestamptz
           and unused.exchanged_at is null
         limit :limit::integer
      ) as of_user
    ) < :limit::integer
   returning id`,
);

/** A grant with or without a code, as `isFulfilled` says, that was neither exchanged nor cancelled. */
export const cancelGrant = statement<
  never,
  { readonly id: string; readonly reason: string; readonly now: Date; readonly isFulfilled: boolean }
>(
  'cancel-authorization-grant',
  `update oauth2_authorization_grants
      set cancelled_at = :now::timestamptz, cancel_reason = :reason::text
    where id = :id::uuid and (fulfilled_at is not null) = :isFulfilled::boolean and exchanged_at is null and cancelled_at is null`,
);

export const cancelPendingGrantsTo = statement<
  never,
  { readonly clientId: string; readonly redirectUris: readonly string[]; readonly reason: string; readonly now: Date }
>(
  'cancel-pending-grants-to-redirect-uris',
  `update oauth2_authorization_grants
      set cancelled_at = :now::timestamptz, cancel_reason = :reason::text
    where client_id = :clientId::uuid and redirect_uri = any (:redirectUris::text[]) and fulfilled_at is null and cancelled_at is null`,
);

/** Of a pending grant; what the same browser session chose first stands. */
export const storeDecision = statement<
  never,
  { readonly id: string; readonly decision: string; readonly browserSessionId: string; readonly now: Date }
>(
  'store-authorization-decision',
  `update oauth2_authorization_grants
      set decision = :decision::text, user_session_id = :browserSessionId::uuid
    where id = :id::uuid and (decision is null or user_session_id is distinct from :browserSessionId::uuid)
      and fulfilled_at is null and cancelled_at is null and expires_at > :now::timestamptz`,
);

export const setRegistrationOffered = statement<never, { readonly id: string }>(
  'set-registration-offered',
  'update oauth2_authorization_grants set registration_offered = true where id = :id::uuid and not registration_offered',
);
