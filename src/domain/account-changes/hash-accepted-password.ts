import { type Overloaded, overloadedOutcome } from '#domain/accounts/passwords/check-password.ts';
import type { NewPasswordProblem } from '#domain/accounts/passwords/new-password.ts';
import { type Charges, refundTokens } from '#domain/limits/rate-limits.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import type { PasswordHasher, StoredHash } from '#platform/password-hash/password-hasher.ts';
import { preparePassword } from '#platform/password-hash/prepare-password.ts';
import type { Queryable } from '#platform/postgres/database.ts';

interface HashDeps {
  readonly database: Queryable;
  readonly log: Log;
  readonly hasher: PasswordHasher;
}

interface Accepted {
  /** The current password, as entered by the user. */
  readonly password: string;
  readonly newPassword: string;
  readonly address: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type HashedPassword =
  | { readonly ok: true; readonly stored: StoredHash }
  | { readonly ok: false; readonly reason: 'rejected'; readonly rejected: NewPasswordProblem }
  | Overloaded;

/**
 * Hashes the new password of a user who has just entered the correct current one. If this fails, it refunds the
 * rate-limit tokens of the check: the password was correct, and no later step would refund them.
 */
export async function hashAcceptedPassword(
  { database, log, hasher }: HashDeps,
  { password, newPassword, address, signal }: Accepted,
  charges: Charges,
): Promise<HashedPassword> {
  let stored: StoredHash | undefined;
  try {
    if (preparePassword(newPassword) === preparePassword(password)) return rejected('password_unchanged');
    stored = await hasher.hash(newPassword, { address: addressKey(address), signal });
  } catch (error) {
    return overloadedOutcome(error, log);
  } finally {
    if (stored === undefined) await refundTokens(database, charges);
  }
  return stored === undefined ? rejected('password_too_long') : { ok: true, stored };
}

function rejected(problem: 'password_unchanged' | 'password_too_long'): HashedPassword {
  return { ok: false, reason: 'rejected', rejected: { problem } };
}
