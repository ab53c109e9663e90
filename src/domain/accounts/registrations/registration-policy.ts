/** Which usernames users may register (browser-flows 5.5): the operator's policy. */
import type { Config } from '#config/config.ts';
import type { PolicyData, TextMatcher } from '#config/sections/policy.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import { isEmpty, matches, NOTHING } from '#domain/policy/text-matcher.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { foldUsername, type UsernameProblem, usernameProblems } from '../account-names.ts';
import { parseStoredEmailAddress } from '../email-address.ts';
import { isUsernameTaken } from '../find-user.ts';

/** Why a name is unavailable. */
export type NameProblem = UsernameProblem | 'username-banned' | 'username-not-allowed' | 'exists';

export interface NamePolicy {
  /** Server name of `@name:server` identifiers. */
  readonly serverName: string;
  /** Empty: every name. */
  readonly allowedUsernames: TextMatcher;
  readonly bannedUsernames: TextMatcher;
  /**
   * Names that carry admin rights, folded by `foldUsername`. Only operators can create these accounts. Otherwise the
   * first visitor to register such a name would become an administrator.
   */
  readonly reservedUsernames: ReadonlySet<string>;
}

/**
 * Returns the policy with getters, because the policy data can change while the service runs. A `register` rule in the
 * operator's policy module replaces the lists.
 */
export function namePolicyOf({ config, policy, moduleRules }: NamePolicyDeps): NamePolicy {
  return {
    serverName: config.homeserver.homeserver,
    get allowedUsernames() {
      return moduleRules.replaces('register') ? NOTHING : policy.data.registration.allowedUsernames;
    },
    get bannedUsernames() {
      return moduleRules.replaces('register') ? NOTHING : policy.data.registration.bannedUsernames;
    },
    get reservedUsernames() {
      return reservedNames(policy.data.adminUsers);
    },
  };
}

interface NamePolicyDeps {
  readonly config: Pick<Config, 'homeserver'>;
  readonly policy: { readonly data: Pick<PolicyData, 'adminUsers' | 'registration'> };
  readonly moduleRules: Pick<ModuleRules, 'replaces'>;
}

const folded = new WeakMap<readonly string[], ReadonlySet<string>>();

function reservedNames(adminUsers: readonly string[]): ReadonlySet<string> {
  const known = folded.get(adminUsers) ?? new Set(adminUsers.map(foldUsername));
  folded.set(adminUsers, known);
  return known;
}

/**
 * Returns every reason why this name is unavailable; empty if it is available. The database is queried only if the name
 * violates no rule, or only the rule against capitals. In that case the lower-case name is suggested only if it is
 * free.
 */
export async function findNameProblems(queryable: Queryable, name: string, policy: NamePolicy): Promise<NameProblem[]> {
  const problems = brokenRules(name, policy);
  const isMisspelt = problems.every((problem) => problem === 'username-invalid-chars');
  const wanted = problems.length === 0 ? name : isMisspelt ? suggestName(name, policy) : undefined;
  if (wanted === undefined || !(await isUsernameTaken(queryable, wanted))) return problems;
  return [...problems, 'exists'];
}

/** Returns the rules and lists that a name violates, without the database. */
export function brokenRules(name: string, policy: NamePolicy): NameProblem[] {
  const problems = new Set<NameProblem>(usernameProblems(name, policy.serverName));
  if (policy.reservedUsernames.has(foldUsername(name))) problems.add('username-reserved');
  if (matches(policy.bannedUsernames, name)) problems.add('username-banned');
  if (!isEmpty(policy.allowedUsernames) && !matches(policy.allowedUsernames, name))
    problems.add('username-not-allowed');
  return [...problems];
}

// The grammar of usernames, plus upper case.
const ANY_CASE = /^[A-Za-z0-9.=_/+-]+$/;

/** Returns the trimmed, lower-case name if it is valid and differs from the input; else undefined. */
export function suggestName(name: string, policy: NamePolicy): string | undefined {
  const suggestion = name.trim().toLowerCase();
  if (suggestion === name || !ANY_CASE.test(name.trim())) return undefined;
  return brokenRules(suggestion, policy).length === 0 ? suggestion : undefined;
}

/** Letters that Unicode decomposition does not turn into ASCII. */
const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map([
  ...([
    ['ß', 'ss'],
    ['æ', 'ae'],
    ['œ', 'oe'],
    ['þ', 'th'],
    ['ø', 'o'],
    ['ł', 'l'],
    ['đ', 'd'],
    ['ð', 'd'],
    ['ı', 'i'],
  ] as const),
]);
const MAX_NAME_CHARACTERS = 255;

/**
 * Returns the valid username closest to a name from an upstream provider: `Octo-Cat` becomes `octo-cat`, and an email
 * address is cut before the @. The user may change it. Returns undefined if no valid name results.
 */
export function nearestName(text: string, policy: NamePolicy): string | undefined {
  if (text.length > MAX_NAME_CHARACTERS * 4) return undefined;
  if (brokenRules(text, policy).length === 0) return text;
  const email = parseStoredEmailAddress(text)?.address;
  const name = (email === undefined ? text : email.slice(0, email.lastIndexOf('@')))
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z]/gu, (letter) => PLAIN_LETTERS.get(letter) ?? letter)
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9.=_/+-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, MAX_NAME_CHARACTERS - Buffer.byteLength(`@:${policy.serverName}`))
    .replace(/-$/, '');
  return brokenRules(name, policy).length === 0 ? name : undefined;
}
