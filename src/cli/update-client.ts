import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import { type ClientPatching, changeClient } from '#domain/clients/managed/change-client.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { ManageDeps } from './accounts.ts';
import {
  clientAction,
  clientIdFrom,
  invalidProperty,
  type PropertyFlags,
  propertiesFrom,
  refusedClient,
} from './client-properties.ts';
import { operatorChange } from './operator-change.ts';

export interface UpdateClientOptions {
  readonly clientId: string;
  readonly flags: PropertyFlags;
  readonly json: boolean;
}

/**
 * `manage update-client`: a merge patch (RFC 7396), so that `--set KEY=null` restores a default. Throws `ExitError` 1 if
 * the client cannot be changed or a property is not accepted; 2 for an invalid option.
 */
export async function updateClientCommand(
  deps: ManageDeps,
  { clientId, flags, json }: UpdateClientOptions,
): Promise<void> {
  const id = clientIdFrom(clientId);
  const patch = propertiesFrom(flags);
  if (Object.keys(patch).length === 0) throw new ExitError(ExitCode.usage, 'name at least one property to change');
  const canceller = { ...deps, cancelGrantsOutsideRedirectUris, findOrCreateGroups };
  const { changed, secret: generated } = await operatorChange(
    deps,
    (done: Extract<ClientPatching, { ok: true }>) =>
      done.changed.length === 0 ? undefined : clientAction('update-client', id, done.changed),
    async (transaction) => {
      const outcome = await changeClient(transaction, canceller, id, { patch, versions: undefined });
      if (outcome.ok) return outcome;
      if (outcome.reason === 'invalid') throw invalidProperty(outcome.problem.path, outcome.problem.message);
      // Without expected versions, no version is outdated.
      throw refusedClient(outcome.reason === 'outdated' ? 'unknown' : outcome.reason);
    },
  );
  const secret = generated?.reveal();
  if (json) {
    deps.io.stdout(`${JSON.stringify({ changed, client_secret: secret ?? null })}\n`);
    return;
  }
  deps.io.stdout(changed.length === 0 ? 'no changes\n' : `changed: ${changed.join(', ')}\n`);
  if (secret !== undefined) deps.io.stdout(`client_secret: ${secret}\n`);
}
