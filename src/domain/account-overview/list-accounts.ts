import { accountIsLocked, accountIsUsable } from '#domain/accounts/liveness.ts';
import { fromUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { countLists, listStatements, type Page, type PageWindow, readPages } from '#platform/postgres/page.ts';

/** An account in a list of all of them. */
export interface ListedAccount {
  readonly id: UserId;
  readonly username: string;
}

export interface AccountFilter {
  /** `active`: neither locked nor deactivated. */
  readonly state: 'active' | 'locked' | undefined;
  /** Who may ask for admin scopes, or who may not. */
  readonly mayAdminister: boolean | undefined;
  /** Names of those who may without the mark. */
  readonly listedAdmins: readonly string[];
}

interface FilterParams {
  readonly state: string | null;
  readonly mayAdminister: boolean | null;
  readonly listedAdmins: readonly string[];
}

const accounts = listStatements<{ id: string; username: string }, FilterParams>('accounts', [
  {
    columns: { id: 'u.id', username: 'u.username' },
    from: 'users u',
    where: `case :state::text when 'active' then ${accountIsUsable('u')} when 'locked' then ${accountIsLocked('u')} else true end
      and (:mayAdminister::boolean is null
           or (u.can_request_admin or u.username = any(:listedAdmins::text[])) = :mayAdminister::boolean)`,
  },
]);

/** Lists are of owners; this one is nobody's. */
const NOBODY = [fromUuid('00000000-0000-0000-0000-000000000000')];

/** A page of all accounts, the oldest first. For administrators. */
export async function listAccounts(
  queryable: Queryable,
  filter: AccountFilter,
  window: PageWindow,
): Promise<Page<ListedAccount>> {
  const [page] = await readPages(queryable, accounts, NOBODY, filterParams(filter), window);
  if (page === undefined) return { items: [], hasPrevious: false, hasNext: false };
  return { ...page, items: page.items.map(({ id, username }) => ({ id: fromUuid<'user'>(id), username })) };
}

/** Reads all of them. */
export async function countAccounts(queryable: Queryable, filter: AccountFilter): Promise<number> {
  const [total] = await countLists(queryable, accounts, NOBODY, filterParams(filter));
  return total ?? 0;
}

function filterParams({ state, mayAdminister, listedAdmins }: AccountFilter): FilterParams {
  return { state: state ?? null, mayAdminister: mayAdminister ?? null, listedAdmins };
}
