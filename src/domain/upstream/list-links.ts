import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid, type UpstreamLinkId, type UpstreamProviderId, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from '#platform/postgres/owned-rows.ts';
import {
  countLists,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

/** An account's identity at an enabled provider. Times in milliseconds since the epoch. */
export interface ListedLink {
  readonly id: UpstreamLinkId;
  readonly providerId: UpstreamProviderId;
  readonly userId: UserId;
  readonly subject: string;
  readonly accountName: string | undefined;
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
}

interface LinkRow {
  readonly id: string;
  readonly provider_id: string;
  readonly user_id: string;
  readonly subject: string;
  readonly human_account_name: string | null;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

const COLUMNS = {
  id: 'l.id',
  provider_id: 'l.provider_id',
  user_id: 'l.user_id',
  subject: 'l.subject',
  human_account_name: 'l.human_account_name',
  created_at: ms('l.created_at'),
  last_used_at: ms('l.last_used_at'),
};
const LINKS = 'upstream_links l join upstream_providers p on p.id = l.provider_id';

/** Uses index `upstream_links_user`; an account has few links. */
const linksOfUsers = listStatements<LinkRow, object>('upstream-links-of-users', [
  { columns: COLUMNS, from: LINKS, where: `l.user_id = owner.id and ${providerIsEnabled('p')}` },
]);

const everyLinkOfUsers = listStatements<LinkRow, object>('every-upstream-link-of-users', [
  { columns: COLUMNS, from: 'upstream_links l', where: 'l.user_id = owner.id' },
]);

/** Returns a page of a user's links, including those of disabled providers. */
export async function listEveryLink(queryable: Queryable, user: UserId, window: PageWindow): Promise<Page<ListedLink>> {
  const [page] = await readPages(queryable, everyLinkOfUsers, [user], {}, window);
  return { items: (page?.items ?? []).map(listedLink), hasPrevious: false, hasNext: page?.hasNext === true };
}

/** Returns a page of links for each of these users. */
export async function listLinks(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<ListedLink>[]> {
  const pages = await readPages(queryable, linksOfUsers, users, {}, window);
  return pages.map((page) => ({ ...page, items: page.items.map(listedLink) }));
}

export async function countLinks(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, linksOfUsers, users, {});
}

const byIds = statement<LinkRow, OwnedParams>(
  'find-upstream-links',
  `select ${selectedColumns(COLUMNS)}
     from ${LINKS}
    where ${areOwned('l.id', 'l.user_id')} and l.user_id is not null
      and ${providerIsEnabled('p')}`,
);

/** Finds links of accounts by their IDs, in the same order. */
export async function findLinks(
  queryable: Queryable,
  ids: readonly UpstreamLinkId[],
  owner: Owner,
): Promise<(ListedLink | undefined)[]> {
  const rows = await findOwned(queryable, byIds, ids, owner, {});
  return rows.map((row) => row && listedLink(row));
}

function listedLink(row: LinkRow): ListedLink {
  return {
    id: fromUuid(row.id),
    providerId: fromUuid(row.provider_id),
    userId: fromUuid(row.user_id),
    subject: row.subject,
    accountName: row.human_account_name ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}
