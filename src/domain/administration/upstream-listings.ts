import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import type { ProviderTimes } from '#domain/upstream/provider-errors.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Times in milliseconds since the epoch. */
export interface UpstreamLinkRecord {
  readonly id: string;
  readonly provider_id: string;
  readonly subject: string;
  /** Null if the identity is not linked to a user. */
  readonly user_id: string | null;
  readonly username: string | null;
  readonly human_account_name: string | null;
  readonly created_at: number;
}

export interface UpstreamLinkFilters {
  readonly user: string;
  readonly provider: string;
  readonly subject: string;
  /** The exact account name at the provider. */
  readonly accountName: string;
  readonly isLinked: boolean;
}

/** Counting the identities at a provider stops here. */
export const MAX_COUNTED_LINKS = 10_000;

export interface UpstreamProviderRecord extends ProviderTimes {
  readonly id: string;
  readonly issuer: string | null;
  readonly human_name: string | null;
  readonly created_at: number;
  readonly disabled_at: number | null;
  /** Of the usable keys, in order. */
  readonly key_types: readonly string[] | null;
  /** Identities with an account. At most `MAX_COUNTED_LINKS`. */
  readonly linked_users: number;
}

export const upstreamLinks = new Listing<UpstreamLinkRecord, UpstreamLinkFilters>('admin-upstream-links', {
  columns: {
    id: 'l.id',
    provider_id: 'l.provider_id',
    subject: 'l.subject',
    user_id: 'l.user_id',
    username: '(select u.username from users u where u.id = l.user_id)',
    human_account_name: 'l.human_account_name',
    created_at: ms('l.created_at'),
  },
  from: 'upstream_links l',
  filters: {
    user: 'l.user_id = :user::uuid',
    provider: 'l.provider_id = :provider::uuid',
    subject: 'l.subject = :subject::text',
    accountName: 'l.human_account_name = :accountName::text',
    isLinked: eitherWay('l.user_id is not null'),
  },
});

export const upstreamProviders = new Listing<UpstreamProviderRecord, { readonly isEnabled: boolean }>(
  'admin-upstream-providers',
  {
    columns: {
      id: 'p.id',
      issuer: 'p.issuer',
      human_name: 'p.human_name',
      created_at: ms('p.created_at'),
      disabled_at: ms('p.disabled_at'),
      metadata_fetched_at: ms('p.metadata_fetched_at'),
      key_types: 'p.key_types',
      keys_fetched_at: ms('p.keys_fetched_at'),
      last_success_at: ms('p.last_success_at'),
      last_error: 'p.last_error',
      last_error_at: ms('p.last_error_at'),
      linked_users: `(
        select count(*)::integer
          from (select from upstream_links l where l.provider_id = p.id and l.user_id is not null
                 limit ${MAX_COUNTED_LINKS}) counted
      )`,
    },
    from: 'upstream_providers p',
    filters: { isEnabled: eitherWay(providerIsEnabled('p')) },
  },
);
