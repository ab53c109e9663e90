import { sectorUriColumn } from '#domain/clients/subjects.ts';
import type { AdminRights } from '#domain/records/admin-rights.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { clientIsEnabled, clientIsVouchedFor } from '#domain/records/liveness/clients.ts';
import {
  accessTokenIsLive,
  accessTokenIsUnrevoked,
  ancestorsAreLive,
  oauthSessionIsLive,
} from '#domain/records/liveness/oauth-sessions.ts';
import { primaryFirst } from '#domain/records/primary-email.ts';
import { groupsOfUser, isRequested, PROFILE_UPDATED_AT, type UserFactsRow } from '#domain/records/user-facts.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { endedOfAge, type TokenSettings } from './token-settings.ts';

/**
 * Returns the user of an access token presented at a resource of this service. Records the token's first use if it has
 * the needed scope. Uses one statement.
 * @param tokenHash `accessTokenHash`
 * @param key thumbprint of the proven key; a bound token requires its key, an unbound one requires none
 * @param now milliseconds since the epoch
 * @returns undefined if the token is not live or has no user; the caller checks the scope
 */
export async function findUserOfAccessToken(
  database: Queryable,
  tokenHash: Buffer,
  key: string | undefined,
  neededScope: string,
  settings: Pick<TokenSettings, 'sessionMaxLifetimeSeconds'>,
  rights: AdminRights,
  now: number,
): Promise<UserOfTokenRow | undefined> {
  const row = await database.first(useAccessToken, {
    tokenHash,
    tokenKey: key ?? null,
    now: new Date(now),
    endedOfAge: endedOfAge(settings, now),
    neededScope,
  });
  return row?.is_live === true ? { ...row, scope: rights.remainingScope(row.scope, row) } : undefined;
}

export interface UserOfTokenRow extends UserFactsRow {
  readonly session_id: string;
  readonly user_id: string;
  readonly scope: readonly string[];
  /** Individually requested claims; see `claimsFromJson`. */
  readonly claims: unknown;
  readonly client_id: string;
  /** Null: `client_id` is the ID. */
  readonly client_document_url: string | null;
  readonly client_scope: string | null;
  /** See `sectorHost`. */
  readonly sector_uri: string | null;
  /** Null: userinfo responses are JSON. */
  readonly userinfo_alg: string | null;
  /** Claims configured by the operator for all users of the client; null: none. */
  readonly client_claims: unknown;
  readonly can_request_admin: boolean;
  readonly is_live: boolean;
}

/** Uses the unique index on `token_hash`, then primary keys. */
const PRESENTED = `select t.id,
           s.id as session_id,
           u.id as user_id,
           u.username,
           u.display_name,
           u.given_name,
           u.family_name,
           u.time_zone,
           u.locale,
           ${PROFILE_UPDATED_AT} as updated_at,
           u.can_request_admin,
           u.groups as own_groups,
           case when 'profile' = any(t.scope) then u.claims end as extra_claims,
           c.id as client_id,
           c.document_url as client_document_url,
           c.metadata ->> 'scope' as client_scope,
           ${sectorUriColumn('c')} as sector_uri,
           c.metadata ->> 'userinfo_signed_response_alg' as userinfo_alg,
           case when ${clientIsVouchedFor('c')} then c.metadata -> 'claims' end as client_claims,
           t.scope,
           s.claims,
           t.first_used_at is null and :neededScope::text = any(t.scope) as is_first_use,
           ${accessTokenIsLive('t', ':now::timestamptz')} and t.dpop_jkt is not distinct from :tokenKey::text
             and (:endedOfAge::timestamptz is null or s.created_at > :endedOfAge::timestamptz)
             and ${oauthSessionIsLive('s')} and ${ancestorsAreLive('s')} and ${clientIsEnabled('c')}
             and ${accountIsUsable('u')} as is_live
      from oauth2_access_tokens t
      join oauth2_sessions s on s.id = t.session_id
      join oauth2_clients c on c.id = s.client_id
      join users u on u.id = s.user_id
     where t.token_hash = :tokenHash::bytea`;

/** Uses the indexes `user_emails_user_id` and `upstream_links_user`. */
const USER = `p.session_id,
         p.user_id,
         p.username,
         p.display_name,
         p.given_name,
         p.family_name,
         p.time_zone,
         p.locale,
         p.updated_at,
         p.can_request_admin,
         p.client_id,
         p.client_document_url,
         p.client_scope,
         p.sector_uri,
         p.userinfo_alg,
         p.scope,
         p.claims,
         case when p.is_live and ${isRequested('email', 'p.scope', 'p.claims')} then (
           select e.email from user_emails e where e.user_id = p.user_id order by ${primaryFirst('e')} limit 1
         ) end as email,
         case when p.is_live and ${isRequested('groups', 'p.scope', 'p.claims')} then array(
           ${groupsOfUser('p.user_id', 'p.own_groups')}
         ) end as groups,
         p.extra_claims,
         p.client_claims`;

/**
 * Reads an access token presented at a resource of this service and records its first use. The mark is set only for a
 * live token that has the scope. Liveness is also a condition of the update itself: a token that is revoked at the same
 * time counts as revoked, since otherwise the reuse of its refresh token would go undetected.
 */
const useAccessToken = lookup<
  UserOfTokenRow,
  {
    readonly tokenHash: Buffer;
    readonly tokenKey: string | null;
    readonly now: Date;
    /** See `endedOfAge`. */
    readonly endedOfAge: Date | null;
    readonly neededScope: string;
  }
>(
  'use-access-token',
  `with presented as materialized (
    ${PRESENTED}
  ), marked as (
    update oauth2_access_tokens t
       set first_used_at = coalesce(t.first_used_at, :now::timestamptz)
      from presented p
     where t.id = p.id and ${accessTokenIsUnrevoked('t')} and p.is_live and p.is_first_use
    returning t.id
  )
  select ${USER},
         p.is_live and (not p.is_first_use or exists (select from marked)) as is_live
    from presented p`,
  // `offset 0` prevents inlining, which would evaluate `is_live` several times.
  `select ${USER},
         p.is_live,
         p.is_live and p.is_first_use as is_incomplete
    from (${PRESENTED} offset 0) as p`,
);
