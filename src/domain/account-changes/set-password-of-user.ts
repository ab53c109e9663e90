import { findUser } from '#domain/accounts/find-user.ts';
import { type Overloaded, overloadedOutcome } from '#domain/accounts/passwords/check-password.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Clock } from '#platform/base/clock.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import type { PasswordHasher, StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import { type PasswordReplacement, type ReplacePasswordDeps, replacePassword } from './replace-password.ts';

export interface SetPasswordOfUserDeps extends ReplacePasswordDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly hasher: PasswordHasher;
}

/** The new password must already be validated. */
export interface PasswordOfUser extends Omit<PasswordReplacement, 'stored' | 'keptSession'> {
  readonly newPassword: string;
  readonly admin: NonNullable<PasswordReplacement['admin']>;
  readonly record: RecordAction;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

export type SetPasswordOfUserOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'gone' }
  | Overloaded;

/** Sets an account's password on behalf of an administrator, who is authorized by a token. */
export async function setPasswordOfUser(
  deps: SetPasswordOfUserDeps,
  change: PasswordOfUser,
): Promise<SetPasswordOfUserOutcome> {
  const { admin, newPassword, user, address, signal } = change;
  let stored: StoredHash | undefined;
  try {
    stored = await deps.hasher.hash(newPassword, { address: addressKey(address), signal });
  } catch (error) {
    return overloadedOutcome(error, deps.log);
  }
  if (stored === undefined) throw new Error('an accepted password is too long to be hashed');
  const replacement = { ...change, stored, keptSession: undefined };
  const now = deps.clock.now();
  const ended = await deps.database.transaction(
    async (transaction) => {
      // A deactivated account has no password and must stay without one.
      if ((await findUser(transaction, user))?.isDeactivated !== false) return undefined;
      const replaced = await replacePassword(deps, transaction, replacement, now);
      await change.record(transaction);
      return replaced;
    },
    { isRepeatable: true },
  );
  if (ended === undefined) return { ok: false, reason: 'gone' };
  deps.log.info('password.set', 'password set by administrator', {
    user,
    client: admin.clientId,
    admin: admin.userId,
    ...ended,
  });
  return { ok: true };
}
