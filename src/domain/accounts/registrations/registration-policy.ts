/** Who may register, and under which names (browser-flows 5.5): the rules of the operator. */
import { RE2JS } from 're2js';
import type { TextMatcher } from '#config/sections/policy.ts';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { foldUsername, type UsernameProblem, usernameProblems } from '../account-names.ts';
import { findUserByName } from '../find-user.ts';

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
 * Every reason why this name is not available now; empty when it is. Whether an account has it is looked up, by one
 * statement, only when no rule is broken.
 */
export async function findNameProblems(queryable: Queryable, name: string, policy: NamePolicy): Promise<NameProblem[]> {
  const problems = brokenRules(name, policy);
  if (problems.length > 0) return problems;
  return (await findUserByName(queryable, name)) === undefined ? [] : ['exists'];
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

/** Who may not register, whatever the name. */
export class RequesterPolicy {
  readonly #bannedNetworks: Networks;
  readonly #bannedUserAgents: TextMatcher;

  constructor(banned: { readonly bannedIps: readonly Cidr[]; readonly bannedUserAgents: TextMatcher }) {
    this.#bannedNetworks = new Networks(banned.bannedIps);
    this.#bannedUserAgents = banned.bannedUserAgents;
  }

  /**
   * The setting that bans a requester; undefined when none does.
   * @param address in canonical form
   */
  ban(address: string | undefined, userAgent: string | undefined): 'banned_ips' | 'banned_user_agents' | undefined {
    if (address !== undefined && this.#bannedNetworks.has(address)) return 'banned_ips';
    return userAgent !== undefined && matches(this.#bannedUserAgents, userAgent) ? 'banned_user_agents' : undefined;
  }
}

/** The time of a search grows with the text; allowed names and real user agents are shorter than this. */
const MAX_SEARCHED_CHARACTERS = 512;

const compiled = new WeakMap<TextMatcher, readonly RE2JS[]>();

/** Whether one of the matcher's texts or expressions matches, ignoring case. */
function matches(matcher: TextMatcher, text: string): boolean {
  const key = text.toLowerCase();
  const some = (texts: readonly string[], test: (text: string) => boolean) =>
    texts.some((one) => test(one.toLowerCase()));
  return (
    some(matcher.literals, (one) => key === one) ||
    some(matcher.prefixes, (one) => key.startsWith(one)) ||
    some(matcher.suffixes, (one) => key.endsWith(one)) ||
    some(matcher.substrings, (one) => key.includes(one)) ||
    expressions(matcher).some((expression) => expression.matcher(text.slice(0, MAX_SEARCHED_CHARACTERS)).find())
  );
}

/** Whether it has no texts and expressions, so that it matches nothing. */
function isEmpty(matcher: TextMatcher): boolean {
  return Object.values(matcher).every((texts: readonly string[]) => texts.length === 0);
}

function expressions(matcher: TextMatcher): readonly RE2JS[] {
  const known = compiled.get(matcher) ?? matcher.regexes.map((one) => RE2JS.compile(one, RE2JS.CASE_INSENSITIVE));
  compiled.set(matcher, known);
  return known;
}
