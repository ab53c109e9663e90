import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import {
  findPasswordProblem,
  type PasswordOwner,
  type PasswordProblem,
} from '#domain/accounts/passwords/password-rules.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { isErrno, systemReason } from '#platform/base/system-errors.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import { type AccountDeps, COMMAND_CALLER, type ManageIo } from './accounts.ts';

export interface PasswordOptions {
  /** Given on the command line. */
  readonly password?: string | undefined;
  /** Path of a password file, `-` for standard input. */
  readonly passwordFile?: string | undefined;
}

/** Returns the password from the options; undefined if there is none. One trailing line terminator is removed. */
export async function readGivenPassword(options: PasswordOptions, io: ManageIo): Promise<string | undefined> {
  if (options.password !== undefined && options.passwordFile !== undefined) {
    throw new ExitError(ExitCode.usage, 'give the password either as an argument or with --password-file');
  }
  if (options.password !== undefined) {
    io.stderr('warning: a password on the command line is visible to other users of this machine\n');
    return options.password;
  }
  if (options.passwordFile === undefined) return undefined;
  const text =
    options.passwordFile === '-' ? (await buffer(io.stdin)).toString() : await readPasswordFile(options.passwordFile);
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new ExitError(ExitCode.failure, 'the password is empty');
  return password;
}

/** Prompts twice. Throws `ExitError` 1 if the passwords differ. */
export async function promptNewPassword(io: ManageIo): Promise<string | undefined> {
  const password = await io.prompts?.password('Password');
  if (password === undefined || password === '') return undefined;
  if ((await io.prompts?.password('Confirm password')) !== password) {
    throw new ExitError(ExitCode.failure, 'the passwords do not match');
  }
  return password;
}

/** Returns the error message for a rejected password. */
export function passwordRefusal(problem: PasswordProblem, deps: AccountDeps): string {
  if (typeof problem !== 'string') return problem.msg;
  switch (problem) {
    case 'password_too_short':
      return `password is too short: at least ${deps.rules.minimumLength} characters`;
    case 'password_too_long':
      return `password is too long: at most ${deps.rules.maximumLength} bytes`;
    case 'password_invalid':
      return 'password contains a zero byte';
    case 'password_compromised':
      return 'password is one of the most common ones';
    case 'password_leaked':
      return 'password is known from data breaches';
    case 'password_too_weak':
      return 'password is too weak';
  }
}

const COMPLEXITY = new Set<PasswordProblem>([
  'password_compromised',
  'password_leaked',
  'password_too_short',
  'password_too_weak',
]);

/**
 * Checks a new password and hashes it.
 * @param exitCode of the error if the password is rejected
 */
export async function hashNewPassword(
  deps: AccountDeps,
  password: string,
  owner: PasswordOwner,
  options: { readonly ignoreComplexity: boolean; readonly exitCode: ExitCode },
): Promise<StoredHash> {
  const problem = await findPasswordProblem(deps.rules, password, owner, COMMAND_CALLER);
  const isComplexity = typeof problem === 'object' || (problem !== undefined && COMPLEXITY.has(problem));
  const isIgnored = options.ignoreComplexity && isComplexity;
  if (problem !== undefined && !isIgnored) throw new ExitError(options.exitCode, passwordRefusal(problem, deps));
  const stored = await deps.hasher.hash(password, COMMAND_CALLER);
  if (stored === undefined)
    throw new ExitError(options.exitCode, 'password and pepper together are too long for bcrypt');
  return stored;
}

async function readPasswordFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ExitError(
      isErrno(error, 'EACCES') ? ExitCode.noPermission : ExitCode.failure,
      `cannot read the password file ${path}: ${systemReason(error)}`,
    );
  }
}
