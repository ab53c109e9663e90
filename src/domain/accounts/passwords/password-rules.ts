import type { PasswordsConfig } from '#config/sections/passwords.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { StrengthEstimator } from './strength-estimator.ts';

/** Codes of the rules that a new password breaks (browser-flows 5.7). */
export type PasswordProblem =
  | 'password_too_short'
  | 'password_too_long'
  | 'password_invalid'
  /** Among the most common ones, which are the first to be tried. */
  | 'password_compromised'
  | 'password_too_weak';

export type PasswordRules = Pick<PasswordsConfig, 'minimumComplexity' | 'minimumLength' | 'maximumLength'>;

/** The future owner of the password: names that are easy to guess. */
export interface PasswordOwner {
  readonly username: string;
  readonly emails: readonly string[];
  readonly serviceName: string;
}

/**
 * The first rule that a new password breaks; undefined when it may be used. It is judged exactly as received: nothing
 * is trimmed, lower-cased or normalised. Throws `overloaded` when too many passwords wait for their estimate.
 */
export async function findPasswordProblem(
  rules: PasswordRules,
  estimator: StrengthEstimator,
  password: string,
  owner: PasswordOwner,
  caller: HashCaller,
): Promise<PasswordProblem | undefined> {
  if (Buffer.byteLength(password) > rules.maximumLength) return 'password_too_long';
  if (password.includes('\0')) return 'password_invalid';
  if ([...password].length < rules.minimumLength) return 'password_too_short';
  const { score, isCommon } = await estimator.estimate(password, knownWords(owner), caller);
  if (isCommon) return 'password_compromised';
  return score < rules.minimumComplexity ? 'password_too_weak' : undefined;
}

/** Words that are easy to guess for someone who knows the account. */
export function knownWords(owner: PasswordOwner): string[] {
  const addresses = owner.emails.flatMap((email) => [email, ...email.split('@')]);
  const names = owner.serviceName.split(/\s+/);
  return [owner.username, ...addresses, owner.serviceName, ...names].filter((word) => word !== '');
}
