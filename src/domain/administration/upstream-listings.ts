import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Times in milliseconds since the epoch. */
export interface UpstreamLinkRecord {
  readonly id: string;
  readonly provider_id: string;
  readonly subject: string;
  /** Null if the identity is not linked to a user. */
  readonly user_id: string | null;
  readonly human_account_name: string | null;
  readonly created_at: number;
}

export interface UpstreamLinkFilters {
  readonly user: string;
  readonly provider: string;
  readonly subject: string;
  /** The exact account name at the provider. */
  readonly accountName: string;
}

export interface UpstreamProviderRecord {
  readonly id: string;
  readonly issuer: string | null;
  readonly human_name: string | null;
  readonly created_at: number;
  readonly disabled_at: number | null;
}

export const upstreamLinks = new Listing<UpstreamLinkRecord, UpstreamLinkFilters>('admin-upstream-links', {
  columns: {
    id: 'l.id',
    provider_id: 'l.provider_id',
    subject: 'l.subject',
    user_id: 'l.user_id',
    human_account_name: 'l.human_account_name',
    created_at: ms('l.created_at'),
  },
  from: 'upstream_links l',
  filters: {
    user: 'l.user_id = :user::uuid',
    provider: 'l.provider_id = :provider::uuid',
    subject: 'l.subject = :subject::text',
    accountName: 'l.human_account_name = :accountName::text',
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
    },
    from: 'upstream_providers p',
    filters: { isEnabled: eitherWay(providerIsEnabled('p')) },
  },
);
