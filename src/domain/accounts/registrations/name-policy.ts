import type { TextMatcher } from '#config/config.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { findUserByName } from '../find-user.ts';
import { foldUsername, type UsernameProblem, usernameProblems } from '../username.ts';
import { fits, isEmpty } from './text-matcher.ts';

/** Why a person cannot have a name, as policies call it (browser-flows 5.5). */
export type NameProblem = UsernameProblem | 'username-banned' | 'username-not-allowed' | 'exists';

export interface NamePolicy {
  /** Server name of `@name:server` identifiers. */
  readonly serverName: string;
  /** Empty: every name. */
  readonly allowedUsernames: TextMatcher;
  readonly bannedUsernames: TextMatcher;
  /**
   * Names that bring rights with them, folded by `foldUsername`. Only an operator makes such accounts: the first
   * stranger to ask for one would be an admin.
   */
  readonly reservedUsernames: ReadonlySet<string>;
}

/**
 * Every reason why a person cannot have this name now; none when they can. Whether somebody has it is asked, by one
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
  if (fits(policy.bannedUsernames, name)) problems.add('username-banned');
  if (!isEmpty(policy.allowedUsernames) && !fits(policy.allowedUsernames, name)) problems.add('username-not-allowed');
  return [...problems];
}

// Written with capital letters: what would be a good name in small ones.
const CAPITALS = /^[A-Za-z0-9.=_/+-]+$/;

/** The same name as it could be had: in small letters and without white space around it; undefined when that is no better. */
export function suggestName(name: string, policy: NamePolicy): string | undefined {
  const suggestion = name.trim().toLowerCase();
  if (suggestion === name || !CAPITALS.test(name.trim())) return undefined;
  return brokenRules(suggestion, policy).length === 0 ? suggestion : undefined;
}
