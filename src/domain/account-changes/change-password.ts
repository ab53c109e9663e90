/**
 * Password changes by signed-in users. The modules of the password, the sessions and the events change them in one
 * transaction.
 */
import {
  countReauth,
  provePassword,
  type ReauthAttempt,
  type ReauthDeps,
  type ReauthOutcome,
  renewAuthentication,
} from '#domain/browser-sessions/reauthenticate.ts';
import type { Log } from '#platform/base/log.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import { type HashedPassword, hashAcceptedPassword } from './hash-accepted-password.ts';
import { type ReplacePasswordDeps, replacePassword } from './replace-password.ts';

export interface PasswordChangeDeps extends ReauthDeps, ReplacePasswordDeps {
  readonly log: Log;
  readonly hasher: PasswordHasher;
}

/** `password` is the current one. The new password must already be validated. */
export interface PasswordChangeAttempt extends ReauthAttempt {
  readonly newPassword: string;
  readonly endsOtherBrowsers: boolean;
  /** Also ends all sessions of applications and devices. */
  readonly endsApplications: boolean;
  /** Language of the page, for the email to the owner. */
  readonly language: string;
}

export type PasswordChangeOutcome = ReauthOutcome | Exclude<HashedPassword, { readonly ok: true }>;

/**
 * Replaces the password of a user who enters the current one, which also reauthenticates the session (account-graphql
 * 5.2, security R-33). A new password that equals the current one is rejected only after the current one was verified.
 * Otherwise the response would reveal what the current password is not.
 */
export async function changePassword(
  deps: PasswordChangeDeps,
  attempt: PasswordChangeAttempt,
): Promise<PasswordChangeOutcome> {
  const { log } = deps;
  const proof = await provePassword(deps, attempt);
  if (!proof.ok) return proof;
  const { accepted } = proof;
  const hashed = await hashAcceptedPassword(deps, attempt, accepted.charges);
  if (!hashed.ok) return hashed;

  const now = deps.clock.now();
  const { user, cookie } = attempt;
  const replacement = { ...attempt, user: user.id, stored: hashed.stored, keptSession: cookie.id };
  const { renewed, ended } = await deps.database.transaction(
    async (transaction) => {
      const renewed = await renewAuthentication(deps, transaction, attempt, accepted);
      const ended = renewed.ok ? await replacePassword(deps, transaction, replacement, now) : undefined;
      return { renewed, ended };
    },
    { isRepeatable: true },
  );
  if (ended !== undefined) log.info('password.changed', 'password changed by its user', { user: user.id, ...ended });
  return countReauth(renewed);
}
