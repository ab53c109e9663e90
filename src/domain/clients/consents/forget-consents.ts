import { type ClientId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { deleteConsentsOfClient } from './writes.ts';

/** Everyone is asked again: the consent page now shows something else about the client than people agreed to. */
export async function forgetConsentsOfClient(queryable: Queryable, client: ClientId): Promise<void> {
  await queryable.execute(deleteConsentsOfClient, { clientId: toUuid(client) });
}
