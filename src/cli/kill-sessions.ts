import { describeUser } from '#domain/account-overview/describe-user.ts';
import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import { endApplicationSessionsOfUser } from '#domain/oauth-sessions/end-oauth2-session.ts';
import type { UserId } from '#platform/base/ids.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { type EndedSessions, endedSessions } from './ended-sessions.ts';

export interface KillSessionsOptions {
  /** A username, `@user:server` or an identifier. */
  readonly user: string;
  /** Says what would end, and changes nothing. */
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** `manage kill-sessions` (operations 3.5). Throws `ExitError` 1 when there is no such user. */
export async function killSessionsCommand(deps: ManageDeps, options: KillSessionsOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  const { id, username } = user;
  const sessions = options.dryRun ? await liveSessions(deps, id) : await endAll(deps, id);
  if (options.json) {
    const { browserSessions: browser, oauth2Sessions: oauth2, compatSessions: compat } = sessions;
    const result = { id, username, dry_run: options.dryRun, ended: { browser, oauth2, compat } };
    deps.io.stdout(`${JSON.stringify(result)}\n`);
    return;
  }
  deps.io.stdout(options.dryRun ? `would have ${endedSessions(sessions)}` : endedSessions(sessions));
}

async function liveSessions({ database }: ManageDeps, user: UserId): Promise<EndedSessions> {
  const { browser = 0, oauth2 = 0, compat = 0 } = (await describeUser(database, user))?.sessions ?? {};
  return { browserSessions: browser, oauth2Sessions: oauth2, compatSessions: compat };
}

async function endAll({ database, clock, homeserver }: ManageDeps, user: UserId): Promise<EndedSessions> {
  const end = { reason: 'admin', now: clock.now() } as const;
  return await database.transaction(async (transaction) => ({
    browserSessions: await finishBrowserSession(transaction, { userId: user, which: 'all', ...end }),
    ...(await endApplicationSessionsOfUser(transaction, user, { ...end, syncsDevices: homeserver.isConnected })),
  }));
}
