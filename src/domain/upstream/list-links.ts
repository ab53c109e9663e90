import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ownedList } from '#platform/postgres/owned-list.ts';
import { listStatements, type Page, type PageWindow, readPages } from '#platform/postgres/page.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { UpstreamLinkId, UpstreamProviderId, UserId } from '#vocabulary/ids.ts';

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

/** Uses index `upstream_links_user`; an account has few links. */
export const links = ownedList<LinkRow, ListedLink>({
  labels: { list: 'upstream-links-of-users', find: 'find-upstream-links' },
  columns: COLUMNS,
  from: 'upstream_links l join upstream_providers p on p.id = l.provider_id',
  owner: 'l.user_id',
  mayBeUnowned: true,
  where: providerIsEnabled('p'),
  toItem: listedLink,
});

const everyLinkOfUsers = listStatements<LinkRow, object>('every-upstream-link-of-users', [
  { columns: COLUMNS, from: 'upstream_links l', where: 'l.user_id = owner.id' },
]);

/** Returns a page of a user's links, including those of disabled providers. */
export async function listEveryLink(queryable: Queryable, user: UserId, window: PageWindow): Promise<Page<ListedLink>> {
  const [page] = await readPages(queryable, everyLinkOfUsers, [user], {}, window, listedLink);
  return { items: page?.items ?? [], hasPrevious: false, hasNext: page?.hasNext === true };
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
