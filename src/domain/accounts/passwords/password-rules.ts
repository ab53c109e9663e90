import type { PasswordsConfig } from '#config/sections/passwords.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import { preparePassword } from '#platform/password-hash/prepare-password.ts';
import type { Strength } from './estimate-strength.ts';
import type { LeakedPasswords } from './leaked-passwords.ts';
import type { StrengthEstimator } from './strength-estimator.ts';

/** Codes of the rules that a new password can violate (browser-flows 5.7). */
export type PasswordProblem =
  | 'password_too_short'
  | 'password_too_long'
  | 'password_invalid'
  /** One of the most common passwords, which attackers try first. */
  | 'password_compromised'
  /** Found in a public leak. */
  | 'password_leaked'
  | 'password_too_weak'
  /** Rejected by the operator's policy module. */
  | ModuleViolation;

export interface PasswordRules extends Pick<PasswordsConfig, 'minimumComplexity' | 'minimumLength' | 'maximumLength'> {
  readonly estimator: StrengthEstimator;
  readonly moduleRules: Pick<ModuleRules, 'judge' | 'replaces'>;
  readonly leakedPasswords: Pick<LeakedPasswords, 'has'>;
}

export function passwordRulesOf(
  { minimumComplexity, minimumLength, maximumLength }: PasswordsConfig,
  judges: Pick<PasswordRules, 'estimator' | 'leakedPasswords' | 'moduleRules'>,
): PasswordRules {
  return { minimumComplexity, minimumLength, maximumLength, ...judges };
}

/** The owner of the new password. These names are easy to guess. */
export interface PasswordOwner {
  readonly username: string;
  readonly displayName?: string | undefined;
  readonly emails: readonly string[];
  readonly serviceName: string;
}

/** The rule that a new password violates, and the strength if it was estimated. */
export interface RejectedPassword {
  readonly problem: PasswordProblem;
  readonly strength?: Strength;
}

/**
 * Returns the first rule that a new password violates; undefined if it is acceptable. Judges the password in the form
 * that is hashed, without trimming or lower-casing. May call an external service, so do not call this within a
 * transaction. Throws `overloaded` if too many passwords are waiting for an estimate.
 */
export async function checkNewPassword(
  rules: PasswordRules,
  typed: string,
  owner: PasswordOwner,
  caller: HashCaller,
): Promise<RejectedPassword | undefined> {
  const password = preparePassword(typed);
  if (Buffer.byteLength(password) > rules.maximumLength) return { problem: 'password_too_long' };
  if (password.includes('\0')) return { problem: 'password_invalid' };
  const rejected = rules.moduleRules.replaces('password')
    ? await judgeByModule(rules, password, owner)
    : await judgeStrength(rules, password, owner, caller);
  if (rejected !== undefined) return rejected;
  // Last, because it calls an external service.
  return (await rules.leakedPasswords.has(password)) ? { problem: 'password_leaked' } : undefined;
}

async function judgeStrength(...[rules, password, owner, caller]: Parameters<typeof checkNewPassword>) {
  if ([...password].length < rules.minimumLength) return { problem: 'password_too_short' } as const;
  const strength = await rules.estimator.estimate(password, knownWords(owner), caller);
  if (strength.isCommon) return { problem: 'password_compromised', strength } as const;
  return strength.score < rules.minimumComplexity ? ({ problem: 'password_too_weak', strength } as const) : undefined;
}

/** Combines all violations that the policy module reports into one problem. */
async function judgeByModule(
  { moduleRules }: PasswordRules,
  password: string,
  { username, displayName, emails }: PasswordOwner,
): Promise<RejectedPassword | undefined> {
  const input = { password, username, display_name: displayName ?? null, emails: [...emails] };
  const [first, ...others] = await moduleRules.judge('password', input);
  if (first === undefined) return undefined;
  return { problem: { ...first, msg: [first, ...others].map(({ msg }) => msg).join(' ') } };
}

/** Returns the code of a rule, or the message of the policy module. */
export function passwordProblemText(problem: PasswordProblem): string {
  if (problem === 'password_leaked') return 'password_compromised (found in a data breach)';
  return typeof problem === 'string' ? problem : problem.msg;
}

/** Returns only the problem. Throws like `checkNewPassword`. */
export async function findPasswordProblem(
  ...judged: Parameters<typeof checkNewPassword>
): Promise<PasswordProblem | undefined> {
  return (await checkNewPassword(...judged))?.problem;
}

/** Returns words that are easy to guess for an attacker who knows the account. */
export function knownWords(owner: PasswordOwner): string[] {
  const addresses = owner.emails.flatMap((email) => [email, ...email.split('@')]);
  const names = [owner.displayName ?? '', owner.serviceName].flatMap((name) => [name, ...name.split(/\s+/)]);
  return [owner.username, ...addresses, ...names].filter((word) => word !== '');
}
