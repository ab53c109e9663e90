import { usernameKey, usernameProblems } from './account-names.ts';
import { parseStoredEmailAddress } from './email-address.ts';

const MAX_CHARACTERS = 256;
const CHAT_ID_PREFIX = 'mxid:';

/** The name that a person typed to sign in, as the look-ups of browser-flows 3.2.3 need it. */
export interface LoginName {
  /** Without the server's part when that is ours; for an exact match. */
  readonly exact: string;
  /** Lower-cased, for the match that ignores case. */
  readonly key: string;
  /** The key of the address, when the text is one and signing in with it is allowed. */
  readonly emailKey: string | undefined;
}

export interface LoginNameRules {
  /** Server name of `@name:server` identifiers. */
  readonly serverName: string;
  readonly isEmailAllowed: boolean;
}

export function parseLoginName(text: string, rules: LoginNameRules): LoginName {
  const suffix = `:${rules.serverName}`;
  const isOurs = text.startsWith('@') && text.toLowerCase().endsWith(suffix.toLowerCase());
  const exact = isOurs ? text.slice(1, -suffix.length) : text;
  return {
    exact,
    key: usernameKey(exact),
    emailKey: rules.isEmailAllowed && text.includes('@') ? parseStoredEmailAddress(text)?.key : undefined,
  };
}

/**
 * The name that a `login_hint` proposes: `mxid:@name:server` of our server, an e-mail address where one may sign in
 * with it, or a plain username. Anything else is ignored.
 */
export function usernameOfHint(hint: string | undefined, rules: LoginNameRules): string | undefined {
  if (hint === undefined || hint.length > MAX_CHARACTERS) return undefined;
  if (hint.startsWith(CHAT_ID_PREFIX)) {
    const suffix = `:${rules.serverName}`;
    const isOurs = hint.startsWith(`${CHAT_ID_PREFIX}@`) && hint.toLowerCase().endsWith(suffix.toLowerCase());
    return isOurs ? validUsername(hint.slice(CHAT_ID_PREFIX.length + 1, -suffix.length), rules) : undefined;
  }
  if (hint.includes('@')) return rules.isEmailAllowed && parseStoredEmailAddress(hint) !== undefined ? hint : undefined;
  return validUsername(hint, rules);
}

function validUsername(name: string, rules: LoginNameRules): string | undefined {
  return usernameProblems(name, rules.serverName).length === 0 ? name : undefined;
}
