/** Under which names people may register (browser-flows 5.5): the rules of the operator. */
import type { Config } from '#config/config.ts';
import type { PolicyData, TextMatcher } from '#config/sections/policy.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import { isEmpty, matches, NOTHING } from '#domain/policy/text-matcher.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { foldUsername, type UsernameProblem, usernameProblems } from '../account-names.ts';
import { parseStoredEmailAddress } from '../email-address.ts';
import { isUsernameTaken } from '../find-user.ts';

/** Why a name is not available. */
export type NameProblem = UsernameProblem | 'username-banned' | 'username-not-allowed' | 'exists';

export interface NamePolicy {
  /** Server name of `@name:server` identifiers. */
  readonly serverName: string;
  /** Empty: every name. */
  readonly allowedUsernames: TextMatcher;
  readonly bannedUsernames: TextMatcher;
  /**
   * Names that carry rights, folded by `foldUsername`. Only an operator creates such accounts: otherwise the first
   * stranger to register one would be an admin.
   */
  readonly reservedUsernames: ReadonlySet<string>;
}

/**
 * A rule `register` of the operator's own decides in place of the lists. Its members are read when they are needed: the data of the policy
 * changes while the service runs.
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
 * Every reason why this name is not available now; empty when it is. Whether an account has it is looked up, by one
 * statement, only when no rule is broken, or none but by capitals: the name in lower case is offered only if it is free.
 */
export async function findNameProblems(queryable: Queryable, name: string, policy: NamePolicy): Promise<NameProblem[]> {
  const problems = brokenRules(name, policy);
  const isMisspelt = problems.every((problem) => problem === 'username-invalid-chars');
  const wanted = problems.length === 0 ? name : isMisspelt ? suggestName(name, policy) : undefined;
  if (wanted === undefined || !(await isUsernameTaken(queryable, wanted))) return problems;
  return [...problems, 'exists'];
}

function brokenRules(name: string, policy: NamePolicy): NameProblem[] {
  const problems = new Set<NameProblem>(usernameProblems(name, policy.serverName));
  if (policy.reservedUsernames.has(foldUsername(name))) problems.add('username-reserved');
  if (matches(policy.bannedUsernames, name)) problems.add('username-banned');
  if (!isEmpty(policy.allowedUsernames) && !matches(policy.allowedUsernames, name))
    problems.add('username-not-allowed');
  return [...problems];
}

// The grammar of usernames with upper case allowed.
const ANY_CASE = /^[A-Za-z0-9.=_/+-]+$/;

/** The name in lower case and without surrounding white space, when the rules allow that and it differs; else undefined. */
export function suggestName(name: string, policy: NamePolicy): string | undefined {
  const suggestion = name.trim().toLowerCase();
  if (suggestion === name || !ANY_CASE.test(name.trim())) return undefined;
  return brokenRules(suggestion, policy).length === 0 ? suggestion : undefined;
}

/** Letters that no decomposition turns into ASCII ones. */
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
 * The name that the rules allow and that is nearest to what a sign-in provider calls a person: `Octo-Cat` becomes
 * `octo-cat`, and of an email address the part before the @ is taken. The person may change it. Undefined: there is none.
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
