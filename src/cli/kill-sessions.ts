import { describeUser } from '#domain/administration/describe-user.ts';
import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import { endApplicationSessionsOfUser } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { revokePersonalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { type EndedSessions, endedDocument, endedSessions } from './ended-sessions.ts';
import { accountAction, operatorChange } from './operator-change.ts';

export interface KillSessionsOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  /** Prints what would end, without changes. */
  readonly dryRun: boolean;
  /** Does not end personal sessions. */
  readonly keepsPersonal: boolean;
  readonly json: boolean;
}

/** `manage kill-sessions` (operations 3.5). Throws `ExitError` 1 if the user does not exist. */
export async function killSessionsCommand(deps: ManageDeps, options: KillSessionsOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  const { id, username } = user;
  const { dryRun, keepsPersonal } = options;
  const sessions = dryRun ? await liveSessions(deps, id, keepsPersonal) : await endAll(deps, id, keepsPersonal);
  if (options.json) {
    const result = { id, username, dry_run: dryRun, ended: endedDocument(sessions) };
    deps.io.stdout(`${JSON.stringify(result)}\n`);
    return;
  }
  deps.io.stdout(dryRun ? `would have ${endedSessions(sessions)}` : endedSessions(sessions));
}

async function liveSessions({ database }: ManageDeps, user: UserId, keepsPersonal: boolean): Promise<EndedSessions> {
  const { browser = 0, oauth2 = 0, compat = 0, personal = 0 } = (await describeUser(database, user))?.sessions ?? {};
  const counts = { browserSessions: browser, oauth2Sessions: oauth2, compatSessions: compat };
  return keepsPersonal ? counts : { ...counts, personalSessions: personal };
}

async function endAll(deps: ManageDeps, user: UserId, keepsPersonal: boolean): Promise<EndedSessions> {
  const { clock, homeserver } = deps;
  const end = { reason: 'admin', now: clock.now() } as const;
  const told = { now: end.now, syncsDevices: homeserver.isConnected };
  return await operatorChange(deps, accountAction('kill-sessions', user), async (transaction) => ({
    browserSessions: await finishBrowserSession(transaction, { userId: user, which: 'all', ...end }),
    ...(await endApplicationSessionsOfUser(transaction, user, { ...end, ...told })),
    ...(!keepsPersonal && { personalSessions: await revokePersonalSessionsOfUser(transaction, user, told) }),
  }));
}
