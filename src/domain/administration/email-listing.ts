import { isPrimary } from '#domain/records/primary-email.ts';
import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** A confirmed address. Times in milliseconds since the epoch. */
export interface UserEmailRecord {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly is_primary: boolean;
  readonly created_at: number;
}

export interface UserEmailFilters {
  readonly user: string;
  /** Normalized form of the address, used for comparisons. */
  readonly key: string;
}

export const userEmails = new Listing<UserEmailRecord, UserEmailFilters>('admin-user-emails', {
  columns: {
    id: 'e.id',
    user_id: 'e.user_id',
    email: 'e.email',
    is_primary: isPrimary('e'),
    created_at: ms('e.created_at'),
  },
  from: 'user_emails e',
  filters: { user: 'e.user_id = :user::uuid', key: 'e.email_key = :key::text' },
});
