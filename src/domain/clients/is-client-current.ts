import { clientWithIdIsCurrent } from '#domain/records/liveness/clients.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { Client } from './client.ts';

/**
 * Returns whether a cached record is still current. Called when a code or token was not found: deleting a client also
 * deletes its grants, so a statement that reads a grant cannot detect the deletion.
 */
export async function isClientCurrent(database: Queryable, client: Client): Promise<boolean> {
  const row = await database.first(readCurrent, { id: toUuid(client.id), version: client.version });
  return row?.is_current === true;
}

const readCurrent = statement<{ is_current: boolean }, { readonly id: string; readonly version: number }>(
  'client-is-current',
  `select ${clientWithIdIsCurrent(':id::uuid', ':version::integer')} as is_current`,
);
