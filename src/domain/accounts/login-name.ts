import { emailKey } from './email-address.ts';

/** What a person typed to say who they are, ready for the look-ups of browser-flows 3.2.3. */
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
    key: exact.toLowerCase(),
    emailKey: rules.isEmailAllowed && text.includes('@') ? emailKey(text) : undefined,
  };
}
