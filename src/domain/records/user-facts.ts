import { ms } from '#platform/postgres/statement.ts';
import { extraClaimsFromJson } from '#protocol/oidc/extra-claims.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import type { UserFacts } from '#protocol/oidc/user-claims.ts';
import { providerIsEnabled } from './liveness/upstream-providers.ts';
import { primaryFirst } from './primary-email.ts';

/** Last change of the profile of user `u`, in milliseconds since the epoch. */
export const PROFILE_UPDATED_AT = ms('coalesce(u.updated_at, u.created_at)');

/** The columns from which claims are built. */
export interface UserFactsRow {
  readonly username: string;
  readonly display_name: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
  readonly time_zone: string | null;
  readonly locale: string | null;
  readonly updated_at: number;
  /** The primary address; null unless granted. */
  readonly email: string | null;
  /** Null unless granted. May contain duplicates. */
  readonly groups: readonly string[] | null;
  /** Null: none, or not granted. */
  readonly extra_claims: unknown;
}

/**
 * Returns a one-column query for `array()` with the groups of a user: those set by administrators, and those that the
 * configured providers reported at the last sign-in. Uses the index `upstream_links_user`.
 * @param user expression of the ID; @param groups column of `users`
 */
export function groupsOfUser(user: string, groups: string): string {
  return `select unnest(${groups}) union all
          select unnest(gl.groups) from upstream_links gl join upstream_providers gp on gp.id = gl.provider_id
           where gl.user_id = ${user} and ${providerIsEnabled('gp')}`;
}

/** Returns an SQL condition: whether the statement must look up the claim of the scope with this name. */
export function isRequested(name: 'email' | 'groups', scope: string, claims: string): string {
  return `('${name}' = any(${scope}) or ${claims} is not null)`;
}

/**
 * Returns columns of a `UserFactsRow` for the user `u`. The address is looked up (by the index `user_emails_user_id`)
 * only with the scope `email` or if individual claims were requested. Groups work the same with their scope.
 * @param scope an expression of type `text[]`
 * @param claims an expression of type `jsonb`: the individually requested claims, or null
 */
export function userFactsColumns(scope: string, claims: string): string {
  return `u.username,
          u.display_name,
          u.given_name,
          u.family_name,
          u.time_zone,
          u.locale,
          ${PROFILE_UPDATED_AT} as updated_at,
          case when ${isRequested('email', scope, claims)} then (
            select e.email from user_emails e where e.user_id = u.id order by ${primaryFirst('e')} limit 1
          ) end as email,
          case when ${isRequested('groups', scope, claims)} then array(${groupsOfUser('u.id', 'u.groups')}) end as groups,
          case when 'profile' = any(${scope}) then u.claims end as extra_claims`;
}

export function userFacts(row: UserFactsRow): UserFacts {
  return {
    username: row.username,
    displayName: row.display_name ?? undefined,
    givenName: row.given_name ?? undefined,
    familyName: row.family_name ?? undefined,
    timeZone: row.time_zone ?? undefined,
    locale: row.locale ?? undefined,
    updatedAt: row.updated_at,
    email: row.email ?? undefined,
    groups: sortedGroups(row.groups ?? []),
    extra: extraClaimsFromJson(row.extra_claims),
  };
}
