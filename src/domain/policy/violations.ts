import type { OpenSessions, SessionLimit } from '#domain/oauth-sessions/session-limit.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { BanSetting } from './requester-policy.ts';

/** One reason why a person may not let a client in now (oauth 14.3). */
export type Violation =
  | { readonly code: 'admin-scope'; readonly scopes: readonly string[] }
  | { readonly code: 'requester-banned'; readonly setting: BanSetting }
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
  readonly bannedBy: BanSetting | undefined;
  readonly openSessions: OpenSessions;
}

/** Every reason against it; empty when the person may agree. Reads nothing. */
export function findViolations(input: PolicyInput, rules: PolicyRules): readonly Violation[] {
  const { user, scope, bannedBy, openSessions } = input;
  const violations: Violation[] = [];
  if (bannedBy !== undefined) violations.push({ code: 'requester-banned', setting: bannedBy });
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

/** For the operator: the setting that bans the requester. */
export function banSettingOf(violations: readonly Violation[]): BanSetting | undefined {
  return violations.find((violation) => violation.code === 'requester-banned')?.setting;
}

function describeViolation(violation: Violation): string {
  switch (violation.code) {
    case 'admin-scope':
      return 'the user may not grant an admin scope';
    case 'requester-banned':
      return 'the policy here forbids it to this requester';
    case 'too-many-sessions':
      return 'the user has too many sessions and must end some';
  }
}
