import type { AdminRights } from '#domain/records/admin-rights.ts';
import type { OpenSessions, SessionLimit } from '#domain/records/session-limit.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { ModuleViolation } from './module/module-violations.ts';
import type { BanSetting } from './requester-policy.ts';

/** A reason why a user may not authorize a client now (oauth 14.3). */
export type Violation =
  /** The client is limited to groups that the user is not in. */
  | { readonly code: 'not-in-group' }
  | { readonly code: 'admin-scope'; readonly scopes: readonly string[] }
  | { readonly code: 'requester-banned'; readonly setting: BanSetting }
  /** From a rule of the operator's policy module. */
  | { readonly code: 'policy-module'; readonly violation: ModuleViolation }
  /** Number of sessions that must end first. */
  | { readonly code: 'too-many-sessions'; readonly needToRemove: number };

export interface PolicyRules {
  readonly scopeRules: Pick<ScopeRules, 'isAdmin' | 'deviceIdOf'>;
  readonly adminRights: Pick<AdminRights, 'mayUserAdminister'>;
  readonly sessionLimit: Pick<SessionLimit, 'excess'>;
}

export interface PolicyUser {
  readonly username: string;
  readonly canRequestAdmin: boolean;
}

/** What a user is about to authorize, and where the request comes from. */
export interface PolicyInput {
  readonly user: PolicyUser;
  /** Whether the client's groups permit the user (`clientAdmits`). */
  readonly isAdmitted: boolean;
  readonly scope: readonly string[];
  /** Violations of the requester rule, see `judgeGrant`. */
  readonly refusals: readonly Violation[];
  readonly openSessions: OpenSessions;
}

/**
 * Returns every violation; empty if the user may authorize the client. A user without access learns nothing else. Makes
 * no queries.
 */
export function findViolations(input: PolicyInput, rules: PolicyRules): readonly Violation[] {
  const { user, isAdmitted, scope, refusals, openSessions } = input;
  if (!isAdmitted) return [{ code: 'not-in-group' }];
  const violations = [...refusals];
  const adminScopes = scope.filter((name) => rules.scopeRules.isAdmin(name));
  if (adminScopes.length > 0 && !mayAdminister(user, rules)) {
    violations.push({ code: 'admin-scope', scopes: adminScopes });
  }
  const needToRemove = rules.sessionLimit.excess(openSessions, rules.scopeRules.deviceIdOf(scope));
  if (needToRemove > 0) violations.push({ code: 'too-many-sessions', needToRemove });
  return violations;
}

export function mayAdminister(
  { username, canRequestAdmin }: PolicyUser,
  { adminRights }: Pick<PolicyRules, 'adminRights'>,
): boolean {
  return adminRights.mayUserAdminister({ username, can_request_admin: canRequestAdmin });
}

/**
 * Describes violations for developers, in plain ASCII without a period at the end. Does not reveal what triggered a
 * ban.
 */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(describeViolation).join('; ');
}

/** The setting that rejects a request: a requester ban, or `module` with the codes from its rule. */
export type RefusingSetting = BanSetting | `module:${string}`;

/** Returns the rejecting setting for the operator. Undefined if neither the policy data nor the module rejects. */
export function refusingSetting(violations: readonly Violation[]): RefusingSetting | undefined {
  const banned = violations.find((violation) => violation.code === 'requester-banned');
  if (banned !== undefined) return banned.setting;
  return moduleSetting(violations.flatMap((one) => (one.code === 'policy-module' ? [one.violation] : [])));
}

/** Returns the same for the violations found by a policy module rule. */
export function moduleSetting(found: readonly ModuleViolation[]): RefusingSetting | undefined {
  return found.length === 0 ? undefined : `module:${found.map(({ code }) => code).join(',')}`;
}

function describeViolation(violation: Violation): string {
  switch (violation.code) {
    case 'not-in-group':
      return 'the user is not in a group that may use this client';
    case 'admin-scope':
      return 'the user may not grant an admin scope';
    case 'requester-banned':
      return 'the policy does not allow this requester';
    case 'policy-module':
      return 'the policy does not allow this';
    case 'too-many-sessions':
      return 'the user has too many sessions and must end some';
  }
}
