import { type ConsentId, fromUuid, type UserId } from '#platform/base/ids.ts';
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
import {
  type ClientPresentation,
  clientPresentation,
  type PresentationJson,
  presentationColumn,
} from './client-presentations.ts';

/** What a user has granted to an application. Times are milliseconds since the epoch. */
export interface ListedConsent {
  readonly id: ConsentId;
  readonly client: ClientPresentation;
  readonly scope: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface ConsentRow {
  readonly id: string;
  readonly client_id: string;
  readonly client: PresentationJson;
  readonly scope: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
}

const COLUMNS = {
  id: 'consent.id',
  client_id: 'consent.client_id',
  client: presentationColumn('c'),
  scope: 'consent.scope',
  created_at: ms('consent.created_at'),
  updated_at: ms('consent.updated_at'),
};
const CONSENTS = 'oauth2_consents consent join oauth2_clients c on c.id = consent.client_id';

/** Finds the consents of a user by the primary key, then sorts them. */
const consentsOfUsers = listStatements<ConsentRow, object>('consents-of-users', [
  { columns: COLUMNS, from: CONSENTS, where: 'consent.user_id = owner.id' },
]);

/** Returns a page of consents for each of these users. */
export async function listConsents(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<ListedConsent>[]> {
  const pages = await readPages(queryable, consentsOfUsers, users, {}, window);
  return pages.map((page) => ({ ...page, items: page.items.map(listedConsent) }));
}

export async function countConsents(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, consentsOfUsers, users, {});
}

const byIds = statement<ConsentRow, OwnedParams>(
  'find-consents',
  `select ${selectedColumns(COLUMNS)} from ${CONSENTS}
    where ${areOwned('consent.id', 'consent.user_id')}`,
);

/** Returns the consents with these IDs, in the same order. */
export async function findConsents(
  queryable: Queryable,
  ids: readonly ConsentId[],
  owner: Owner,
): Promise<(ListedConsent | undefined)[]> {
  const rows = await findOwned(queryable, byIds, ids, owner, {});
  return rows.map((row) => row && listedConsent(row));
}

function listedConsent(row: ConsentRow): ListedConsent {
  return {
    id: fromUuid(row.id),
    client: clientPresentation(fromUuid(row.client_id), row.client),
    scope: row.scope,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
