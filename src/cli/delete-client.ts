import { deleteDynamicClient } from '#domain/clients/delete-client.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { ManageDeps } from './accounts.ts';
import { operatorChange } from './operator-change.ts';
import { visible } from './visible-text.ts';

export interface DeleteClientOptions {
  readonly clientId: string;
  readonly json: boolean;
}

/**
 * `manage delete-client` (operations 3.5): deletes a dynamically registered client with its sessions and tokens. Throws
 * `ExitError` 1 if it does not exist or is not dynamically registered; 2 for an invalid client ID.
 */
export async function deleteClientCommand(deps: ManageDeps, { clientId, json }: DeleteClientOptions): Promise<void> {
  const id = parseId<'client'>(clientId);
  if (id === undefined) throw new ExitError(ExitCode.usage, `${visible(clientId)} is not a client id`);
  const { clock, homeserver } = deps;
  const action = { operation: 'delete-client', target: { type: 'oauth2-client', id } };
  await operatorChange(deps, action, async (_, database) => {
    const outcome = await deleteDynamicClient({ database, clock, ...clientSessionEnder(homeserver) }, id);
    if (outcome === 'unknown') throw new ExitError(ExitCode.failure, 'client not found');
    if (outcome === 'static') {
      throw new ExitError(ExitCode.failure, 'the client is defined in the configuration; remove it from clients there');
    }
    if (outcome === 'builtin') {
      throw new ExitError(
        ExitCode.failure,
        'the client is part of the service; to turn off the admin area, set admin_area.enabled',
      );
    }
  });
  deps.io.stdout(json ? `${JSON.stringify({ deleted: id })}\n` : 'deleted\n');
}
