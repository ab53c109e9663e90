import { fromUuid } from '#platform/base/ids.ts';
import { ownedList } from '#platform/postgres/owned-list.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { ConsentId } from '#vocabulary/ids.ts';
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

/** Finds the consents of a user by the primary key, then sorts them. */
export const consents = ownedList<ConsentRow, ListedConsent>({
  labels: { list: 'consents-of-users', find: 'find-consents' },
  columns: COLUMNS,
  from: 'oauth2_consents consent join oauth2_clients c on c.id = consent.client_id',
  owner: 'consent.user_id',
  toItem: listedConsent,
});

function listedConsent(row: ConsentRow): ListedConsent {
  return {
    id: fromUuid(row.id),
    client: clientPresentation(fromUuid(row.client_id), row.client),
    scope: row.scope,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
