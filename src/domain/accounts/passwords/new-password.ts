/** Replacing a lost or existing password. */
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { Strength } from './estimate-strength.ts';
import { checkNewPassword, type PasswordOwner, type PasswordProblem, type PasswordRules } from './password-rules.ts';

export interface NewPasswordDeps {
  readonly passwordRules: PasswordRules;
  readonly serviceName: string;
}

/** Why the password is rejected. */
export interface NewPasswordProblem {
  readonly problem: 'required' | 'password_unchanged' | PasswordProblem;
  /** The estimated strength, if it was estimated. */
  readonly strength?: Strength;
}

/** Returns what is wrong with the password. Throws like `checkNewPassword`. */
export async function findNewPasswordProblem(
  { passwordRules, serviceName }: NewPasswordDeps,
  newPassword: string,
  owner: Omit<PasswordOwner, 'serviceName'>,
  caller: HashCaller,
): Promise<NewPasswordProblem | undefined> {
  if (newPassword === '') return { problem: 'required' };
  return await checkNewPassword(passwordRules, newPassword, { ...owner, serviceName }, caller);
}
