import { hasUsers } from '#domain/accounts/find-user.ts';
import { registerUser } from '#domain/accounts/registrations/register-user.ts';
import { usernameProblems } from '#domain/accounts/username.ts';
import { ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { AccountDeps } from './manage-deps.ts';
import { hashNewPassword } from './password-input.ts';

const CONFIGURATION_INVALID = 78;

export interface FirstAdmin {
  readonly username: string;
  readonly password: Secret;
}

/**
 * Creates the admin that the environment names (`LATCHKEY_ADMIN_USERNAME`), but only in a service without any user
 * (operations 2.4); instances that start together create one. Throws `ExitError` 78 for a name or password that may
 * not be used.
 */
export async function ensureFirstAdmin(deps: AccountDeps, log: Log, admin: FirstAdmin): Promise<void> {
  const { username } = admin;
  if (await hasUsers(deps.database)) return ignored(log);
  const problems = usernameProblems(username, deps.serverName);
  if (problems.length > 0) {
    throw new ExitError(CONFIGURATION_INVALID, `LATCHKEY_ADMIN_USERNAME is not allowed: ${problems.join(', ')}`);
  }
  const owner = { username, emails: [], serviceName: deps.serviceName };
  const rules = { ignoreComplexity: false, exitCode: CONFIGURATION_INVALID };
  const password = await hashNewPassword(deps, admin.password.reveal(), owner, rules);
  const now = deps.clock.now();
  const registration = {
    username,
    displayName: undefined,
    locale: deps.defaultLanguage,
    canRequestAdmin: true,
    emails: [],
    password,
    now,
  };
  const outcome = await registerUser(deps.database, registration);
  if (!outcome.ok) return ignored(log);
  log.info('startup', 'the first admin was created', { user: outcome.id });
}

function ignored(log: Log): void {
  log.info('startup', 'there are users already: LATCHKEY_ADMIN_USERNAME is ignored');
}
