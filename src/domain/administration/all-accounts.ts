import { accountIsLocked, accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { countLists, listStatements, type Page, type PageWindow, readPages } from '#platform/postgres/page.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** An account in the list of all accounts. */
export interface ListedAccount {
  readonly id: UserId;
  readonly username: string;
}

export interface AccountFilter {
  /** `active`: neither locked nor deactivated. */
  readonly state: 'active' | 'locked' | undefined;
  /** Whether the account may request admin scopes. */
  readonly mayAdminister: boolean | undefined;
  /** Usernames that may request admin scopes by configuration, without the flag in the database. */
  readonly listedAdmins: readonly string[];
}

interface FilterParams {
  readonly state: string | null;
  readonly mayAdminister: boolean | null;
  readonly listedAdmins: readonly string[];
}

interface AccountRow {
  readonly id: string;
  readonly username: string;
}

const accounts = listStatements<AccountRow, FilterParams>('accounts', [
  {
    columns: { id: 'u.id', username: 'u.username' },
    from: 'users u',
    where: `case :state::text when 'active' then ${accountIsUsable('u')} when 'locked' then ${accountIsLocked('u')} else true end
      and (:mayAdminister::boolean is null
           or (u.can_request_admin or u.username = any(:listedAdmins::text[])) = :mayAdminister::boolean)`,
  },
]);

/** Lists have owners. This list has none, so it uses a placeholder. */
const NOBODY = [fromUuid('00000000-0000-0000-0000-000000000000')];

/** Returns a page of all accounts, oldest first, for administrators. */
export async function listAllAccounts(
  queryable: Queryable,
  filter: AccountFilter,
  window: PageWindow,
): Promise<Page<ListedAccount>> {
  const [page] = await readPages(queryable, accounts, NOBODY, filterParams(filter), window, listedAccount);
  return page ?? { items: [], hasPrevious: false, hasNext: false };
}

/** Counts the matching accounts with a full scan. */
export async function countAccounts(queryable: Queryable, filter: AccountFilter): Promise<number> {
  const [total] = await countLists(queryable, accounts, NOBODY, filterParams(filter));
  return total ?? 0;
}

function listedAccount({ id, username }: AccountRow): ListedAccount {
  return { id: fromUuid(id), username };
}

function filterParams({ state, mayAdminister, listedAdmins }: AccountFilter): FilterParams {
  return { state: state ?? null, mayAdminister: mayAdminister ?? null, listedAdmins };
}
