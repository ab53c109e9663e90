/** A new password in place of a lost or former one. */
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { Strength } from './estimate-strength.ts';
import { judgePassword, type PasswordOwner, type PasswordProblem, type PasswordRules } from './password-rules.ts';
import type { StrengthEstimator } from './strength-estimator.ts';

export interface NewPasswordDeps {
  readonly estimator: StrengthEstimator;
  readonly passwordRules: PasswordRules;
  readonly serviceName: string;
}

/** Why it may not be used. */
export interface NewPasswordProblem {
  readonly problem: 'required' | 'password_unchanged' | PasswordProblem;
  /** How hard it is to guess, where that was estimated. */
  readonly strength?: Strength;
}

/** What is wrong with it. Throws as `judgePassword`. */
export async function findNewPasswordProblem(
  { passwordRules, estimator, serviceName }: NewPasswordDeps,
  newPassword: string,
  owner: Omit<PasswordOwner, 'serviceName'>,
  caller: HashCaller,
): Promise<NewPasswordProblem | undefined> {
  if (newPassword === '') return { problem: 'required' };
  return await judgePassword(passwordRules, estimator, newPassword, { ...owner, serviceName }, caller);
}
