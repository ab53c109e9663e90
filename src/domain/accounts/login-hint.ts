import { emailKey } from './email-address.ts';
import type { LoginNameRules } from './login-name.ts';
import { usernameProblems } from './username.ts';

const MAX_CHARACTERS = 256;
const CHAT_ID_PREFIX = 'mxid:';

/**
 * The name that a `login_hint` proposes: `mxid:@name:server` of our server, an e-mail address where one may sign in
 * with it, or a plain username. Anything else is no name of ours and is ignored.
 */
export function usernameOfHint(hint: string | undefined, rules: LoginNameRules): string | undefined {
  if (hint === undefined || hint.length > MAX_CHARACTERS) return undefined;
  if (hint.startsWith(CHAT_ID_PREFIX)) {
    const suffix = `:${rules.serverName}`;
    const isOurs = hint.startsWith(`${CHAT_ID_PREFIX}@`) && hint.toLowerCase().endsWith(suffix.toLowerCase());
    return isOurs ? validUsername(hint.slice(CHAT_ID_PREFIX.length + 1, -suffix.length), rules) : undefined;
  }
  if (hint.includes('@')) return rules.isEmailAllowed && emailKey(hint) !== undefined ? hint : undefined;
  return validUsername(hint, rules);
}

function validUsername(name: string, rules: LoginNameRules): string | undefined {
  return usernameProblems(name, rules.serverName).length === 0 ? name : undefined;
}
