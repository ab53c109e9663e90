import { listAdmins, setAdmin } from '#domain/accounts/admin-mark.ts';
import { endAdminSessionsOfUser } from '#domain/oauth-sessions/end-admin-sessions.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { accountAction, operatorChange } from './operator-change.ts';

export interface AdminOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly json: boolean;
}

/** `manage promote-admin` (operations 3.5). Throws `ExitError` 1 if the user does not exist. */
export async function promoteAdminCommand(deps: ManageDeps, options: AdminOptions): Promise<void> {
  const { id, username } = await findManagedUser(deps, options.user);
  const now = deps.clock.now();
  const action = accountAction('promote-admin', id, ['admin']);
  const mark = { user: id, isAdmin: true, now };
  const isChanged = await operatorChange(deps, action, (transaction) => setAdmin(transaction, mark));
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, admin: true, changed: isChanged })}\n`);
  else deps.io.stdout(`${username} ${isChanged ? 'can now' : 'can already'} request admin scopes\n`);
  if (deps.adminArea !== undefined) deps.io.stderr(`admin area: ${deps.adminArea}\n`);
}

export interface DemoteOptions extends AdminOptions {
  /** Ends sessions that hold an admin scope. */
  readonly killSessions: boolean;
}

/** `manage demote-admin` (operations 3.5). Throws `ExitError` 1 if the user does not exist. */
export async function demoteAdminCommand(deps: ManageDeps, options: DemoteOptions): Promise<void> {
  const { id, username } = await findManagedUser(deps, options.user);
  const now = deps.clock.now();
  const action = accountAction('demote-admin', id, ['admin']);
  const { isChanged, ended } = await operatorChange(deps, action, async (transaction) => ({
    isChanged: await setAdmin(transaction, { user: id, isAdmin: false, now }),
    ended: options.killSessions ? await endAdminSessionsOfUser(transaction, deps, id, now) : undefined,
  }));
  if (deps.listedAdmins.includes(username)) {
    deps.io.stderr(`warning: ${username} can still request admin scopes because of policy.data.admin_users\n`);
  }
  if (options.json) {
    const result = { id, username, admin: false, changed: isChanged, ended_sessions: ended };
    deps.io.stdout(`${JSON.stringify(result)}\n`);
    return;
  }
  deps.io.stdout(`${username} ${isChanged ? 'can no longer' : 'was not allowed to'} request admin scopes\n`);
  if (ended !== undefined) deps.io.stdout(`sessions with an admin scope ended: ${ended}\n`);
}

/** `manage list-admin-users` (operations 3.5). */
export async function listAdminUsersCommand(deps: ManageDeps, options: { readonly json: boolean }): Promise<void> {
  const admins = await listAdmins(deps.database);
  if (options.json) {
    const listed = admins.map(({ id, username, isLocked, isDeactivated }) => {
      return { id, username, locked: isLocked, deactivated: isDeactivated };
    });
    deps.io.stdout(`${JSON.stringify(listed)}\n`);
  } else {
    for (const { id, username } of admins) deps.io.stdout(`${id}\t${username}\n`);
  }
  deps.io.stderr(`total: ${admins.length}\n`);
  const others = deps.listedAdmins.filter((name) => !admins.some(({ username }) => username === name));
  if (others.length > 0) deps.io.stderr(`also in policy.data.admin_users: ${others.join(', ')}\n`);
}
