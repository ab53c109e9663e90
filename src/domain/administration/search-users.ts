import { accountIsDeactivated, accountIsLocked, accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { primaryFirst } from '#domain/records/primary-email.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { containing } from '#platform/postgres/like.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

/** An account that is both locked and deactivated counts as deactivated. */
export type UserStatus = 'active' | 'locked' | 'deactivated';

export interface FoundUser extends User {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The primary email address. */
  readonly email: string | undefined;
}

export interface UserSearch {
  /** Part of the username, the display name or an email address, case-insensitive. */
  readonly search: string | undefined;
  readonly status: UserStatus | undefined;
  readonly limit: number;
}

const matching = statement<
  UserRow & { readonly created_at: number; readonly email: string | null },
  { readonly pattern: string | null; readonly status: string | null; readonly limit: number }
>(
  'list-users',
  `select ${userColumns('u')}, ${ms('u.created_at')} as created_at,
          (select e.email from user_emails e where e.user_id = u.id order by ${primaryFirst('e')} limit 1) as email
     from users u
    where (:pattern::text is null or u.username_key like :pattern::text or lower(u.display_name) like :pattern::text
           or exists (select from user_emails e where e.user_id = u.id and e.email_key like :pattern::text))
      and case :status::text
            when 'active' then ${accountIsUsable('u')}
            when 'locked' then ${accountIsLocked('u')} and not (${accountIsDeactivated('u')})
            when 'deactivated' then ${accountIsDeactivated('u')}
            else true
          end
    order by u.username limit :limit::integer`,
);

/** Finds accounts for an operator, in order of their usernames. Scans all accounts. */
export async function searchUsers(queryable: Queryable, wanted: UserSearch): Promise<FoundUser[]> {
  const { search, status, limit } = wanted;
  const pattern = search === undefined ? null : containing(search);
  const rows = await queryable.rows(matching, { pattern, status: status ?? null, limit });
  return rows.map((row) => ({ ...toUser(row), createdAt: row.created_at, email: row.email ?? undefined }));
}
