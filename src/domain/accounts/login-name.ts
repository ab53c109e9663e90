import { usernameKey, usernameProblems } from './account-names.ts';
import { parseStoredEmailAddress } from './email-address.ts';

const MAX_CHARACTERS = 256;
const CHAT_ID_PREFIX = 'mxid:';

/** The name that a user typed to sign in, prepared for the lookups of browser-flows 3.2.3. */
export interface LoginName {
  /** For exact matches; without the server part if it is this server's. */
  readonly exact: string;
  /** In lower case, for matches that ignore case. */
  readonly key: string;
  /** Comparison key of the address, if the text is an email address and sign-in by email is allowed. */
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
 * Returns the name that a `login_hint` proposes: `mxid:@name:server` of this server, an email address if sign-in by
 * email is allowed, or a plain username. Ignores anything else.
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
