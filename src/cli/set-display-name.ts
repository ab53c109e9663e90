import { setDisplayName } from '#domain/accounts/set-display-name.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { accountAction, recordOfOperator } from './operator-change.ts';
import { readDisplayName } from './register-user.ts';

export interface SetDisplayNameOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  /** Empty: removes the display name. */
  readonly displayName: string;
  readonly json: boolean;
}

/**
 * `manage set-display-name` (operations 3.5). Updates the homeserver first. Throws `ExitError` 1 if the user does not
 * exist or the name is not allowed, 69 if the homeserver rejects it.
 */
export async function setDisplayNameCommand(deps: ManageDeps, options: SetDisplayNameOptions): Promise<void> {
  const displayName = options.displayName === '' ? undefined : readDisplayName(options.displayName);
  const { id, username } = await findManagedUser(deps, options.user);
  const outcome = await setDisplayName(deps, {
    user: { id, username },
    displayName,
    by: { detail: { actor: 'admin' } },
    record: recordOfOperator(deps, accountAction('set-display-name', id, ['displayname'])),
  });
  if (outcome !== 'set') {
    throw new ExitError(ExitCode.unavailable, 'the homeserver rejected the display name; nothing was changed');
  }
  if (options.json) {
    deps.io.stdout(`${JSON.stringify({ id, username, display_name: displayName ?? null })}\n`);
  } else {
    deps.io.stdout(`display name of ${username} ${displayName === undefined ? 'removed' : `set to ${displayName}`}\n`);
  }
}
