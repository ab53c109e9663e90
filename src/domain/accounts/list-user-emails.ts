import { isPrimary } from '#domain/records/primary-email.ts';
import { fromUuid, type Ulid } from '#platform/base/ids.ts';
import { ownedList } from '#platform/postgres/owned-list.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

export type UserEmailId = Ulid<'user-email'>;

/** A confirmed address as shown to its owner. */
export interface UserEmail {
  readonly id: UserEmailId;
  readonly userId: UserId;
  readonly email: string;
  readonly emailKey: string;
  /** The address that applications get. */
  readonly isPrimary: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

interface UserEmailRow {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly email_key: string;
  readonly is_primary: boolean;
  readonly created_at: number;
}

const COLUMNS = {
  id: 'e.id',
  user_id: 'e.user_id',
  email: 'e.email',
  email_key: 'e.email_key',
  is_primary: isPrimary('e'),
  created_at: ms('e.created_at'),
};

/** An account has few addresses, so they are sorted without an index. */
export const userEmails = ownedList<UserEmailRow, UserEmail>({
  labels: { list: 'emails-of-users', find: 'find-user-emails' },
  columns: COLUMNS,
  from: 'user_emails e',
  owner: 'e.user_id',
  toItem: toUserEmail,
});

function toUserEmail(row: UserEmailRow): UserEmail {
  return {
    id: fromUuid(row.id),
    userId: fromUuid(row.user_id),
    email: row.email,
    emailKey: row.email_key,
    isPrimary: row.is_primary,
    createdAt: row.created_at,
  };
}
