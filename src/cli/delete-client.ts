import { deleteClientForOperator } from '#domain/clients/delete-client.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import type { ManageDeps } from './accounts.ts';
import { clientAction, clientIdFrom, refusedClient } from './client-properties.ts';
import { operatorChange } from './operator-change.ts';

export interface DeleteClientOptions {
  readonly clientId: string;
  readonly json: boolean;
}

/**
 * `manage delete-client` (operations 3.5): deletes a client with its sessions and tokens. Throws `ExitError` 1 if it does
 * not exist, is defined in the configuration or belongs to the service; 2 for an invalid client ID.
 */
export async function deleteClientCommand(deps: ManageDeps, { clientId, json }: DeleteClientOptions): Promise<void> {
  const id = clientIdFrom(clientId);
  const { clock, homeserver } = deps;
  await operatorChange(deps, clientAction('delete-client', id), async (_, database) => {
    const outcome = await deleteClientForOperator({ database, clock, ...clientSessionEnder(homeserver) }, id);
    if (outcome !== 'deleted') throw refusedClient(outcome);
  });
  deps.io.stdout(json ? `${JSON.stringify({ deleted: id })}\n` : 'deleted\n');
}
