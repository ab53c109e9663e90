import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';

/** Deletes all authorization grants and device code grants of a client that is about to be deleted. */
export async function deleteGrantsOfClient(queryable: Queryable, client: ClientId): Promise<void> {
  await queryable.execute(deleteGrants, { clientId: toUuid(client) });
}

const deleteGrants = statement<never, { readonly clientId: string }>(
  'delete-grants-of-client',
  `with of_devices as (
    delete from oauth2_device_code_grants where client_id = :clientId::uuid
  )
  delete from oauth2_authorization_grants where client_id = :clientId::uuid`,
);
