import { setPassword } from '#domain/accounts/passwords/set-password.ts';
import { listEmails } from '#domain/accounts/user-emails.ts';
import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import { endApplicationSessionsOfUser } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { revokePersonalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { endedDocument, endedSessions } from './ended-sessions.ts';
import { accountAction, operatorChange } from './operator-change.ts';
import { hashNewPassword, type PasswordOptions, promptNewPassword, readGivenPassword } from './password-input.ts';

export interface SetPasswordOptions extends PasswordOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly ignoreComplexity: boolean;
  /** Also ends all sessions of the user. */
  readonly killSessions: boolean;
  readonly json: boolean;
}

/**
 * `manage set-password` (operations 3.5). Throws `ExitError` 1 if the user does not exist or the password is not
 * allowed, 2 if it is missing and the command cannot prompt on a terminal.
 */
export async function setPasswordCommand(deps: ManageDeps, options: SetPasswordOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  // A deactivated account must not get a password.
  if (user.isDeactivated) throw new ExitError(ExitCode.failure, 'the user is deactivated');
  const password = (await readGivenPassword(options, deps.io)) ?? (await promptNewPassword(deps.io));
  if (password === undefined)
    throw new ExitError(
      ExitCode.usage,
      'the password is missing: pass its file with --password-file, or - for standard input',
    );
  const emails = await listEmails(deps.database, user.id);
  const owner = { username: user.username, emails, serviceName: deps.serviceName };
  const rules = { ignoreComplexity: options.ignoreComplexity, exitCode: ExitCode.failure };
  const stored = await hashNewPassword(deps, password, owner, rules);

  const now = deps.clock.now();
  const reason = 'password_changed';
  const action = accountAction('set-password', user.id, ['password']);
  const ended = await operatorChange(deps, action, async (transaction) => {
    const eventId = await setPassword(transaction, { user: user.id, stored, now });
    if (deps.sendsNotices) {
      const detail = { ends_browsers: options.killSessions, ends_applications: options.killSessions };
      await queueNotice(transaction, 'password_changed', { user: user.id, eventId, detail, now });
    }
    if (!options.killSessions) return undefined;
    const told = { now, syncsDevices: deps.homeserver.isConnected };
    return {
      browserSessions: await finishBrowserSession(transaction, { userId: user.id, which: 'all', reason, now }),
      ...(await endApplicationSessionsOfUser(transaction, user.id, { reason, ...told })),
      personalSessions: await revokePersonalSessionsOfUser(transaction, user.id, told),
    };
  });
  const result = { id: user.id, username: user.username, ended: ended && endedDocument(ended) };
  if (options.json) {
    deps.io.stdout(`${JSON.stringify(result)}\n`);
    return;
  }
  deps.io.stdout(`password of ${user.username} set\n`);
  if (ended !== undefined) deps.io.stdout(endedSessions(ended));
}
