import { DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS, rotateSecret } from '#domain/clients/managed/rotate-secret.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { ManageDeps } from './accounts.ts';
import { clientAction, clientIdFrom, refusedClient } from './client-properties.ts';
import { operatorChange } from './operator-change.ts';

export interface RotateClientSecretOptions {
  readonly clientId: string;
  readonly graceSeconds: number | undefined;
  readonly json: boolean;
}

/**
 * `manage rotate-client-secret`: prints the new secret. Throws `ExitError` 1 if the client has no secret that can be
 * rotated; 2 for an invalid option.
 */
export async function rotateClientSecretCommand(deps: ManageDeps, options: RotateClientSecretOptions): Promise<void> {
  const { clientId, graceSeconds = DEFAULT_GRACE_SECONDS, json } = options;
  const id = clientIdFrom(clientId);
  if (graceSeconds > MAX_GRACE_SECONDS) throw new ExitError(ExitCode.usage, '--grace must be at most 7d');
  const action = clientAction('rotate-client-secret', id, ['client_secret']);
  const generated = await operatorChange(deps, action, async (transaction) => {
    const rotation = await rotateSecret(transaction, deps, id, Math.floor(graceSeconds));
    if (!rotation.ok) throw refusedClient(rotation.reason);
    return rotation.secret;
  });
  const secret = generated.reveal();
  deps.io.stdout(json ? `${JSON.stringify({ client_id: id, client_secret: secret })}\n` : `${secret}\n`);
}
