import { readFile } from 'node:fs/promises';
import { usernameProblems } from '#domain/accounts/account-names.ts';
import { hasUsers } from '#domain/accounts/find-user.ts';
import { registerUser } from '#domain/accounts/registrations/register-user.ts';
import { OPERATOR, recordAdminAction } from '#domain/audit/record-admin-action.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { AccountDeps } from './accounts.ts';
import { hashNewPassword } from './password-input.ts';

/** The admin account requested by `LATCHKEY_ADMIN_USERNAME` (operations 2.4). */
export interface RequestedAdmin {
  readonly username: string;
  readonly password: string;
}

/** @throws ExitError 78 if the variables conflict or the password file cannot be read */
export async function readFirstAdmin(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<RequestedAdmin | undefined> {
  const username = environment['LATCHKEY_ADMIN_USERNAME'];
  const password = environment['LATCHKEY_ADMIN_PASSWORD'];
  const file = environment['LATCHKEY_ADMIN_PASSWORD_FILE'];
  if (username === undefined || username === '') return undefined;
  if (password !== undefined && file !== undefined) {
    throw new ExitError(
      ExitCode.config,
      'LATCHKEY_ADMIN_PASSWORD and LATCHKEY_ADMIN_PASSWORD_FILE are both set; set only one of them',
    );
  }
  if (password !== undefined) return { username, password };
  if (file === undefined) {
    throw new ExitError(
      ExitCode.config,
      'LATCHKEY_ADMIN_USERNAME requires LATCHKEY_ADMIN_PASSWORD or LATCHKEY_ADMIN_PASSWORD_FILE',
    );
  }
  try {
    return { username, password: (await readFile(file, 'utf8')).replace(/\r?\n$/, '') };
  } catch (error) {
    throw new ExitError(ExitCode.config, `LATCHKEY_ADMIN_PASSWORD_FILE: ${describeError(error).message}`, {
      cause: error,
    });
  }
}

export interface FirstAdmin {
  readonly username: string;
  readonly password: Secret;
}

/**
 * Creates the admin that the environment names (`LATCHKEY_ADMIN_USERNAME`), but only if there are no users yet
 * (operations 2.4). Instances that start concurrently create one account. Throws `ExitError` 78 for a name or password
 * that is not allowed.
 */
export async function ensureFirstAdmin(deps: AccountDeps, log: Log, admin: FirstAdmin): Promise<void> {
  const { username } = admin;
  if (await hasUsers(deps.database)) return ignored(log);
  const problems = usernameProblems(username, deps.serverName);
  if (problems.length > 0) {
    throw new ExitError(ExitCode.config, `LATCHKEY_ADMIN_USERNAME is not allowed: ${problems.join(', ')}`);
  }
  const owner = { username, emails: [], serviceName: deps.serviceName };
  const rules = { ignoreComplexity: false, exitCode: ExitCode.config };
  const password = await hashNewPassword(deps, admin.password.reveal(), owner, rules);
  const now = deps.clock.now();
  const registration = {
    username,
    displayName: undefined,
    locale: deps.defaultLanguage,
    canRequestAdmin: true,
    // The start does not depend on the homeserver.
    isNewAtHomeserver: false,
    emails: [],
    password,
    record: async (transaction: Queryable, id: UserId) => {
      const target = { type: 'user', id, userId: id };
      await recordAdminAction(transaction, OPERATOR, { operation: 'create-first-admin', target }, now);
    },
    now,
  };
  const outcome = await registerUser(deps, registration);
  if (!outcome.ok) return ignored(log);
  log.info('startup', 'first admin account created', { user: outcome.id });
}

function ignored(log: Log): void {
  log.info('startup', 'users already exist: LATCHKEY_ADMIN_USERNAME is ignored');
}
