import { grantIsUnused, pushedRequestIsWaiting } from '#domain/records/liveness/authorizations.ts';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { addressKeyAsInet } from '#platform/base/ip-address.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import { claimsToJson } from '#protocol/oidc/claims-parameter.ts';
import type { AuthorizationGrantId, ClientId, UserId } from '#vocabulary/ids.ts';

/** Limit of unexchanged grants per client address and per user (security 3.10, S-179). */
const MAX_UNUSED = 100;

export interface NewGrant {
  readonly clientId: ClientId;
  readonly request: AuthorizationRequest;
  /** The request parameters to keep; undefined: not needed later. */
  readonly parameters: Readonly<Record<string, string>> | undefined;
  /** Reference of the pushed request; undefined: the request was not pushed. */
  readonly reference: string | undefined;
  readonly expectedSubjects: readonly string[];
  /** The installed language that the client requested. */
  readonly locale: string | undefined;
  readonly address: string | undefined;
  /** The signed-in user; undefined: none or unknown. */
  readonly userId: UserId | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly lifetimeSeconds: number;
}

export type GrantOutcome =
  | { readonly ok: true; readonly id: AuthorizationGrantId }
  /** Too many grants of this IP address or user. */
  | { readonly ok: false; readonly reason: 'too-many'; readonly retryAfterSeconds: number }
  /** The pushed request was already used for another grant. */
  | { readonly ok: false; readonly reason: 'reference-used' };

/** Stores a pending grant and consumes its pushed request, if any. */
export async function createAuthorizationGrant(database: Queryable, grant: NewGrant): Promise<GrantOutcome> {
  const { request, now } = grant;
  const id = newId<'authorization-grant'>(now);
  const { expectedSubjects } = grant;
  const expectedUserId = expectedSubjects.length === 1 ? parseId<'user'>(expectedSubjects[0] ?? '') : undefined;
  const row = await database.first(insertGrant, {
    id: toUuid(id),
    clientId: toUuid(grant.clientId),
    redirectUri: request.target.redirectUri,
    redirectUriSent: request.isRedirectUriSent,
    scope: request.scope,
    resources: request.resources,
    responseMode: request.target.responseMode,
    state: request.target.state ?? null,
    nonce: request.nonce ?? null,
    codeChallenge: request.codeChallenge ?? null,
    dpopKey: request.dpopKey ?? null,
    prompt: request.prompts,
    maxAge: request.maxAge ?? null,
    loginHint: request.loginHint ?? null,
    locale: grant.locale ?? null,
    acrValues: request.acr.values,
    isAcrEssential: request.acr.isEssential,
    claims: claimsToJson(request.claims),
    parameters: grant.parameters === undefined ? null : JSON.stringify(grant.parameters),
    expectedUserId: expectedUserId === undefined ? null : toUuid(expectedUserId),
    // Subjects contain no spaces.
    expectedSubject: expectedUserId === undefined && expectedSubjects.length > 0 ? expectedSubjects.join(' ') : null,
    addressKey: addressKeyAsInet(grant.address),
    now: new Date(now),
    expiresAt: new Date(now + grant.lifetimeSeconds * 1000),
    limit: MAX_UNUSED,
    userId: grant.userId === undefined ? null : toUuid(grant.userId),
    requestUriHash: grant.reference === undefined ? null : sha256(grant.reference),
  });
  if (row?.is_made === true) return { ok: true, id };
  if (row?.crowded_seconds == null) return { ok: false, reason: 'reference-used' };
  return { ok: false, reason: 'too-many', retryAfterSeconds: Math.max(1, Math.ceil(row.crowded_seconds)) };
}

/**
 * Creates no grant if the IP address or the signed-in user has too many unexchanged grants from the last hour. These
 * are pending grants, canceled ones, and those whose code was never redeemed. Concurrent requests can exceed the limit
 * slightly, which is harmless: the limit only keeps grants from piling up.
 *
 * Reads at most `limit` entries each of the partial indexes `oauth2_authorization_grants_unused` and
 * `..._unused_of_user`. The update that finds a pushed request waiting also consumes it, so it creates one grant even
 * if several instances use it at once. It uses the primary key, which null never matches.
 */
const insertGrant = statement<
  {
    /** Seconds until one of the counted grants expires; null: below the limits. */
    readonly crowded_seconds: number | null;
    readonly is_made: boolean;
  },
  {
    readonly id: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly redirectUriSent: boolean;
    readonly scope: readonly string[];
    readonly resources: readonly string[];
    readonly responseMode: string;
    readonly state: string | null;
    readonly nonce: string | null;
    readonly codeChallenge: string | null;
    readonly dpopKey: string | null;
    readonly prompt: readonly string[];
    readonly maxAge: number | null;
    readonly loginHint: string | null;
    readonly locale: string | null;
    readonly acrValues: readonly string[];
    readonly isAcrEssential: boolean;
    readonly claims: string | null;
    readonly parameters: string | null;
    readonly expectedUserId: string | null;
    readonly expectedSubject: string | null;
    readonly addressKey: string;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly limit: number;
    readonly userId: string | null;
    readonly requestUriHash: Buffer | null;
  }
>(
  'insert-authorization-grant',
  `with crowded as materialized (
    select min(of_address.expires_at) as ends_at from (
      select unused.expires_at from oauth2_authorization_grants unused
       where unused.requester_ip = :addressKey::inet and ${grantIsUnused('unused', ':now::timestamptz')}
       limit :limit::integer
    ) as of_address having count(*) >= :limit::integer
    union all
    select min(of_user.expires_at) from (
      select unused.expires_at from oauth2_authorization_grants unused
       where unused.requester_user_id = :userId::uuid and ${grantIsUnused('unused', ':now::timestamptz')}
       limit :limit::integer
    ) as of_user having count(*) >= :limit::integer
  ), bounds as materialized (
    select not exists (select from crowded) as are_kept
  ), consumed as (
    update oauth2_pushed_requests pushed
       set consumed_at = :now::timestamptz, authorization_grant_id = :id::uuid
      from bounds
     where pushed.request_uri_hash = :requestUriHash::bytea and pushed.client_id = :clientId::uuid and bounds.are_kept
       and ${pushedRequestIsWaiting('pushed', ':now::timestamptz')}
    returning pushed.request_uri_hash
  ), made as (
    insert into oauth2_authorization_grants (id, client_id, redirect_uri, redirect_uri_sent, scope, resources, response_mode,
      state, nonce, code_challenge, dpop_jkt, prompt, max_age, login_hint, locale, acr_values, acr_essential, claims, expected_user_id,
      expected_subject, requester_ip, created_at, expires_at, requester_user_id, parameters)
    select :id::uuid, :clientId::uuid, :redirectUri::text, :redirectUriSent::boolean, :scope::text[], :resources::text[],
      :responseMode::text, :state::text, :nonce::text, :codeChallenge::text, :dpopKey::text, :prompt::text[], :maxAge::integer,
      :loginHint::text,
      :locale::text, :acrValues::text[], :isAcrEssential::boolean, :claims::jsonb, :expectedUserId::uuid,
      :expectedSubject::text, :addressKey::inet, :now::timestamptz, :expiresAt::timestamptz, :userId::uuid,
      :parameters::jsonb
      from bounds
     where bounds.are_kept and (:requestUriHash::bytea is null or exists (select from consumed))
    returning id
  )
  select (select extract(epoch from max(crowded.ends_at) - :now::timestamptz)::float8 from crowded) as crowded_seconds,
         exists (select from made) as is_made`,
);
