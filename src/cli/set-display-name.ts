import { setDisplayName } from '#domain/accounts/set-display-name.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { readDisplayName } from './register-user.ts';

export interface SetDisplayNameOptions {
  /** A username, `@user:server` or an identifier. */
  readonly user: string;
  /** Empty: none any more. */
  readonly displayName: string;
  readonly json: boolean;
}

/**
 * `manage set-display-name` (operations 3.5). The homeserver is told first. Throws `ExitError` 1 when there is no such user
 * or the name may not be used, 69 when the homeserver does not take it.
 */
export async function setDisplayNameCommand(deps: ManageDeps, options: SetDisplayNameOptions): Promise<void> {
  const displayName = options.displayName === '' ? undefined : readDisplayName(options.displayName);
  const { id, username } = await findManagedUser(deps, options.user);
  const outcome = await setDisplayName(deps, {
    user: { id, username },
    displayName,
    by: { detail: { actor: 'admin' } },
  });
  if (outcome !== 'set') {
    throw new ExitError(ExitCode.unavailable, 'the homeserver did not take the display name: nothing was changed');
  }
  if (options.json) {
    deps.io.stdout(`${JSON.stringify({ id, username, display_name: displayName ?? null })}\n`);
  } else {
    deps.io.stdout(
      `${username} ${displayName === undefined ? 'has no display name any more' : `is called ${displayName}`}\n`,
    );
  }
}
