import { usernameOfHint } from '#domain/accounts/login-name.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { RegistrationDeps } from './deps.ts';

export const MAX_USERNAME_CHARACTERS = 255;

/** What the query proposes as username, by its own name or as `login_hint`. */
export function proposedUsername(deps: RegistrationDeps, context: RequestContext): string | undefined {
  const username = context.query.get('username')?.trim();
  if (username !== undefined && username.length <= MAX_USERNAME_CHARACTERS) return username;
  const { serverName } = deps.namePolicy;
  return usernameOfHint(context.query.get('login_hint'), { serverName, isEmailAllowed: false });
}
