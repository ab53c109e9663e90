import type { OpenSessions, SessionLimit } from '#domain/oauth-sessions/session-limit.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { ModuleViolation } from './module/module-violations.ts';
import type { BanSetting } from './requester-policy.ts';

/** One reason why a person may not let a client in now (oauth 14.3). */
export type Violation =
  | { readonly code: 'admin-scope'; readonly scopes: readonly string[] }
  | { readonly code: 'requester-banned'; readonly setting: BanSetting }
  /** By a rule of the operator's own. */
  | { readonly code: 'policy-module'; readonly violation: ModuleViolation }
  /** So many sessions have to end first. */
  | { readonly code: 'too-many-sessions'; readonly needToRemove: number };

export interface PolicyRules {
  readonly scopeRules: Pick<ScopeRules, 'isAdmin' | 'deviceIdOf'>;
  /** User names that may ask for admin scopes, in addition to accounts that have the right. */
  readonly adminUsers: Pick<ReadonlySet<string>, 'has'>;
  readonly sessionLimit: Pick<SessionLimit, 'excess'>;
}

export interface PolicyUser {
  readonly username: string;
  readonly canRequestAdmin: boolean;
}

/** What a person is about to agree to, and from where. */
export interface PolicyInput {
  readonly user: PolicyUser;
  readonly scope: readonly string[];
  /** What the rule of the requester has against it, see `judgeGrant`. */
  readonly refusals: readonly Violation[];
  readonly openSessions: OpenSessions;
}

/** Every reason against it; empty when the person may agree. Reads nothing. */
export function findViolations(input: PolicyInput, rules: PolicyRules): readonly Violation[] {
  const { user, scope, refusals, openSessions } = input;
  const violations = [...refusals];
  const adminScopes = scope.filter((name) => rules.scopeRules.isAdmin(name));
  if (adminScopes.length > 0 && !mayAdminister(user, rules)) {
    violations.push({ code: 'admin-scope', scopes: adminScopes });
  }
  const needToRemove = rules.sessionLimit.excess(openSessions, rules.scopeRules.deviceIdOf(scope));
  if (needToRemove > 0) violations.push({ code: 'too-many-sessions', needToRemove });
  return violations;
}

export function mayAdminister(user: PolicyUser, { adminUsers }: Pick<PolicyRules, 'adminUsers'>): boolean {
  return user.canRequestAdmin || adminUsers.has(user.username);
}

/** For developers: plain ASCII without a full stop. It does not tell by what to get around a ban. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(describeViolation).join('; ');
}

/** Which setting refuses: one that bans requesters, or `module`, with the codes that its rule gave. */
export type RefusingSetting = BanSetting | `module:${string}`;

/** For the operator: the setting that refuses; undefined when it is none of those that the policy data or module has. */
export function refusingSetting(violations: readonly Violation[]): RefusingSetting | undefined {
  const banned = violations.find((violation) => violation.code === 'requester-banned');
  if (banned !== undefined) return banned.setting;
  return moduleSetting(violations.flatMap((one) => (one.code === 'policy-module' ? [one.violation] : [])));
}

/** The same of what a rule of the policy module found. */
export function moduleSetting(found: readonly ModuleViolation[]): RefusingSetting | undefined {
  return found.length === 0 ? undefined : `module:${found.map(({ code }) => code).join(',')}`;
}

function describeViolation(violation: Violation): string {
  switch (violation.code) {
    case 'admin-scope':
      return 'the user may not grant an admin scope';
    case 'requester-banned':
      return 'the policy here forbids it to this requester';
    case 'policy-module':
      return 'the policy here forbids it';
    case 'too-many-sessions':
      return 'the user has too many sessions and must end some';
  }
}
