import { lockAccount } from '#domain/account-changes/lock-account.ts';
import { reactivateUser } from '#domain/account-changes/reactivate-user.ts';
import { unlockUser } from '#domain/accounts/lock-user.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { endedDocument, endedSessions } from './ended-sessions.ts';
import { accountAction, operatorChange } from './operator-change.ts';

export interface LockUserOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly deactivate: boolean;
  /** Requires `deactivate`. */
  readonly erase: boolean;
  readonly json: boolean;
}

/** `manage lock-user` (operations 3.5). Throws `ExitError` 1 if the user does not exist. */
export async function lockUserCommand(deps: ManageDeps, options: LockUserOptions): Promise<void> {
  if (options.erase && !options.deactivate) throw new ExitError(ExitCode.usage, '--erase requires --deactivate');
  const user = await findManagedUser(deps, options.user);
  const end = options.deactivate ? { isErased: options.erase } : undefined;
  const changed = options.deactivate ? ['locked_at', 'deactivated_at'] : ['locked_at'];
  const lock = { user: user.id, by: {}, end, now: deps.clock.now() };
  const ended = await operatorChange(deps, accountAction('lock-user', user.id, changed), (_, database) =>
    lockAccount({ ...deps, database }, lock),
  );
  const { id, username } = user;
  if (options.json) {
    const deactivated = user.isDeactivated || ended !== undefined;
    const result = { id, username, locked: true, deactivated, ended: ended && endedDocument(ended) };
    deps.io.stdout(`${JSON.stringify(result)}\n`);
    return;
  }
  deps.io.stdout(`${username} is locked\n`);
  if (ended === undefined) return;
  deps.io.stdout(`${username} is ${ended.isNew ? 'deactivated' : 'already deactivated'}\n`);
  deps.io.stdout(endedSessions(ended));
  if (deps.homeserver.isConnected) deps.io.stdout('the homeserver will be notified\n');
}

export interface UnlockUserOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly reactivate: boolean;
  readonly json: boolean;
}

/** `manage unlock-user` (operations 3.5). Throws `ExitError` 1 if the user does not exist. */
export async function unlockUserCommand(deps: ManageDeps, options: UnlockUserOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  const { homeserver } = deps;
  const change = { user: user.id, now: deps.clock.now() };
  const isReactivated = options.reactivate && user.isDeactivated;
  const changed = isReactivated ? ['locked_at', 'deactivated_at'] : ['locked_at'];
  await operatorChange(deps, accountAction('unlock-user', user.id, changed), async (transaction) => {
    await unlockUser(transaction, homeserver, change);
    if (isReactivated) await reactivateUser(transaction, homeserver, change);
  });
  const { id, username } = user;
  const isQueued = isReactivated && homeserver.isConnected;
  if (options.json) {
    const deactivated = user.isDeactivated && (!isReactivated || isQueued);
    deps.io.stdout(`${JSON.stringify({ id, username, locked: false, deactivated, reactivation_queued: isQueued })}\n`);
    return;
  }
  deps.io.stdout(`${username} is unlocked\n`);
  if (isQueued)
    deps.io.stdout(`${username} will be reactivated here after the homeserver has reactivated the account\n`);
  else if (isReactivated) deps.io.stdout(`${username} is reactivated\n`);
  else if (user.isDeactivated)
    deps.io.stdout(`${username} is still deactivated; use --reactivate to reactivate the account\n`);
}
