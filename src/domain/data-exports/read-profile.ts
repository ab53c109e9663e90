import { groupsOfUser } from '#domain/records/user-facts.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { type ExtraClaims, extraClaimsFromJson } from '#protocol/oidc/extra-claims.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** What an account stores about its user. Times in milliseconds since the epoch. */
export interface ExportedProfile {
  readonly username: string;
  readonly displayName: string | undefined;
  readonly givenName: string | undefined;
  readonly familyName: string | undefined;
  readonly timeZone: string | undefined;
  readonly language: string | undefined;
  readonly canRequestAdmin: boolean;
  readonly createdAt: number;
  readonly lockedAt: number | undefined;
  readonly hasPassword: boolean;
  /** All groups that applications receive, sorted. */
  readonly groups: readonly string[];
  /** Extra claims set by administrators. */
  readonly claims: ExtraClaims;
  readonly acceptedTerms: readonly { readonly uri: string; readonly at: number }[];
  /** Phone numbers and the like, imported from a homeserver that had its own sign-in. */
  readonly unsupportedThreepids: readonly { readonly medium: string; readonly address: string }[];
}

interface ProfileRow {
  readonly username: string;
  readonly display_name: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
  readonly time_zone: string | null;
  readonly locale: string | null;
  readonly can_request_admin: boolean;
  readonly created_at: number;
  readonly locked_at: number | null;
  readonly has_password: boolean;
  readonly groups: readonly string[];
  readonly claims: unknown;
  readonly terms: readonly { readonly uri: string; readonly at: number }[];
  readonly threepids: readonly { readonly medium: string; readonly address: string }[];
}

const profileOfUser = statement<ProfileRow, { readonly userId: string }>(
  'read-profile-to-export',
  `select u.username, u.display_name, u.given_name, u.family_name, u.time_zone, u.locale, u.can_request_admin,
          ${ms('u.created_at')} as created_at, ${ms('u.locked_at')} as locked_at,
          exists (select from user_passwords p where p.user_id = u.id) as has_password,
          array(${groupsOfUser('u.id', 'u.groups')}) as groups, u.claims,
          coalesce((select jsonb_agg(jsonb_build_object('uri', t.terms_uri, 'at', ${ms('t.accepted_at')}) order by t.accepted_at)
                      from user_terms t where t.user_id = u.id), '[]') as terms,
          coalesce((select jsonb_agg(jsonb_build_object('medium', i.medium, 'address', i.address) order by i.medium, i.address)
                      from user_unsupported_threepids i where i.user_id = u.id), '[]') as threepids
     from users u where u.id = :userId::uuid`,
);

export async function readProfile(queryable: Queryable, user: UserId): Promise<ExportedProfile | undefined> {
  const row = await queryable.first(profileOfUser, { userId: toUuid(user) });
  if (row === undefined) return undefined;
  return {
    username: row.username,
    displayName: row.display_name ?? undefined,
    givenName: row.given_name ?? undefined,
    familyName: row.family_name ?? undefined,
    timeZone: row.time_zone ?? undefined,
    language: row.locale ?? undefined,
    canRequestAdmin: row.can_request_admin,
    createdAt: row.created_at,
    lockedAt: row.locked_at ?? undefined,
    hasPassword: row.has_password,
    groups: sortedGroups(row.groups),
    claims: extraClaimsFromJson(row.claims),
    acceptedTerms: row.terms,
    unsupportedThreepids: row.threepids,
  };
}
