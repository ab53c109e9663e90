import { isPrimary } from '#domain/records/primary-email.ts';
import { fromUuid, type Ulid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from '#platform/postgres/owned-rows.ts';
import { countLists, listStatements, type Page, type PageWindow, readPages } from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

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
const emailsOfUsers = listStatements<UserEmailRow, Record<never, never>>('emails-of-users', [
  { columns: COLUMNS, from: 'user_emails e', where: 'e.user_id = owner.id' },
]);

/** Returns a page of addresses for each of these users, oldest first. */
export async function listUserEmails(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<UserEmail>[]> {
  const pages = await readPages(queryable, emailsOfUsers, users, {}, window);
  return pages.map((page) => ({ ...page, items: page.items.map(toUserEmail) }));
}

export async function countUserEmails(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, emailsOfUsers, users, {});
}

const byIds = statement<UserEmailRow, OwnedParams>(
  'find-user-emails',
  `select ${Object.entries(COLUMNS)
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(', ')}
     from user_emails e
    where ${areOwned('e.id', 'e.user_id')}`,
);

/** Returns the addresses with these IDs, in the same order. */
export async function findUserEmails(
  queryable: Queryable,
  ids: readonly UserEmailId[],
  owner: Owner,
): Promise<(UserEmail | undefined)[]> {
  const rows = await findOwned(queryable, byIds, ids, owner, {});
  return rows.map((row) => row && toUserEmail(row));
}

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
