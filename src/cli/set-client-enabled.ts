import { setClientEnabled } from '#domain/clients/managed/set-client-enabled.ts';
import type { ManageDeps } from './accounts.ts';
import { clientAction, clientIdFrom, refusedClient } from './client-properties.ts';
import { operatorChange } from './operator-change.ts';

export interface SetClientEnabledOptions {
  readonly clientId: string;
  readonly isEnabled: boolean;
  readonly json: boolean;
}

/** `manage enable-client` and `disable-client`. Throws `ExitError` 1 if the client cannot be changed; 2 for its ID. */
export async function setClientEnabledCommand(deps: ManageDeps, options: SetClientEnabledOptions): Promise<void> {
  const { clientId, isEnabled, json } = options;
  const id = clientIdFrom(clientId);
  const action = clientAction(isEnabled ? 'enable-client' : 'disable-client', id, ['disabled_at']);
  const outcome = await operatorChange(
    deps,
    (done) => (done === 'changed' ? action : undefined),
    async (transaction) => {
      const done = await setClientEnabled(transaction, id, isEnabled, deps.clock.now());
      if (done !== 'changed' && done !== 'unchanged') throw refusedClient(done);
      return done;
    },
  );
  const state = isEnabled ? 'enabled' : 'disabled';
  if (json) deps.io.stdout(`${JSON.stringify({ client_id: id, disabled: !isEnabled })}\n`);
  else deps.io.stdout(outcome === 'changed' ? `${state}\n` : `already ${state}\n`);
}
