import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { Listing } from '#platform/postgres/listing.ts';

/** Claims that applications may receive about a user in addition to the account itself. */
export interface UserClaimsRecord {
  readonly id: string;
  /** Set by administrators. */
  readonly groups: readonly string[];
  /** Groups from each of the user's identities at a configured provider. */
  readonly upstream: readonly { readonly provider_id: string; readonly groups: readonly string[] }[];
  readonly claims: unknown;
}

export const userClaims = new Listing<UserClaimsRecord, Record<never, never>>('admin-user-claims', {
  columns: {
    id: 'u.id',
    groups: `coalesce(u.groups, '{}')`,
    upstream: `coalesce((
      select jsonb_agg(jsonb_build_object('provider_id', l.provider_id, 'groups', l.groups) order by l.id)
        from upstream_links l join upstream_providers p on p.id = l.provider_id
       where l.user_id = u.id and l.groups is not null and ${providerIsEnabled('p')}), '[]')`,
    claims: `coalesce(u.claims, '{}')`,
  },
  from: 'users u',
  filters: {},
});
