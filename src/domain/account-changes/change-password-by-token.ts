import {
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from '#domain/accounts/passwords/accepted-password.ts';
import type { Overloaded, PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type HashedPassword, hashAcceptedPassword } from './hash-accepted-password.ts';
import { type PasswordReplacement, type ReplacePasswordDeps, replacePassword } from './replace-password.ts';

export interface TokenPasswordChangeDeps extends ReplacePasswordDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly hasher: PasswordHasher;
  readonly passwordChecks: PasswordChecks;
}

/** The new password must already be validated. */
export interface TokenPasswordChange extends Omit<PasswordReplacement, 'stored' | 'keptSession' | 'admin'> {
  readonly user: UserId;
  /** The current password, as entered by the user. */
  readonly password: string;
  readonly newPassword: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

export type TokenPasswordChangeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | Exclude<HashedPassword, { readonly ok: true }>
  | Overloaded;

/**
 * Refunds rate-limit tokens and blocks concurrent password changes. Returns no row if the password has just been
 * changed.
 */
const takeAcceptedPassword = statement<{ user_id: string }, AcceptedPasswordParams>(
  'take-accepted-password',
  `with ${acceptedPasswordCtes}
  select proven.user_id from proven`,
);

/**
 * Changes a user's password from an application. Works as in a browser, except that no browser session is kept as the
 * user's current one.
 */
export async function changePasswordByToken(
  deps: TokenPasswordChangeDeps,
  change: TokenPasswordChange,
): Promise<TokenPasswordChangeOutcome> {
  const { user: account, password, address, userAgent, signal } = change;
  const attempt = { account, password, address, userAgent, signal, knownBrowsers: [] };
  const check = await deps.passwordChecks.check(attempt);
  if (!check.ok) return check;
  const hashed = await hashAcceptedPassword(deps, change, check.accepted.charges);
  if (!hashed.ok) return hashed;

  const now = deps.clock.now();
  const ended = await deps.database.transaction(
    async (transaction) => {
      if (!(await isStillAccepted(transaction, check.accepted, now))) return undefined;
      const replacement = { ...change, stored: hashed.stored, keptSession: undefined };
      return await replacePassword(deps, transaction, replacement, now);
    },
    { isRepeatable: true },
  );
  if (ended === undefined) return { ok: false, reason: 'invalid-credentials' };
  deps.log.info('password.changed', 'password changed by its user', { user: account, ...ended });
  return { ok: true };
}

async function isStillAccepted(transaction: Queryable, accepted: AcceptedPassword, now: number): Promise<boolean> {
  return (await transaction.first(takeAcceptedPassword, acceptedPasswordParams(accepted, now))) !== undefined;
}
