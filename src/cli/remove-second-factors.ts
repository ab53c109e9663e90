import { removeSecondFactors } from '#domain/second-factors/remove-second-factors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { accountAction, operatorChange } from './operator-change.ts';

export interface RemoveFactorsOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly json: boolean;
}

/** `manage remove-second-factors`. Throws `ExitError` 1 if the user does not exist. */
export async function removeSecondFactorsCommand(deps: ManageDeps, options: RemoveFactorsOptions): Promise<void> {
  const { id, username } = await findManagedUser(deps, options.user);
  const removal = { user: id, by: {}, now: deps.clock.now() };
  const isRemoved = await operatorChange(deps, accountAction('remove-second-factors', id), (transaction) =>
    removeSecondFactors(transaction, removal, deps.sendsNotices),
  );
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, removed: isRemoved })}\n`);
  else if (isRemoved) deps.io.stdout(`authenticator app and recovery codes of ${username} removed\n`);
  else deps.io.stdout(`${username} has no authenticator app\n`);
}
