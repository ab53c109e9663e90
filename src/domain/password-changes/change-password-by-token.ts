import {
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from '#domain/accounts/passwords/accepted-password.ts';
import type { Overloaded, PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type HashedPassword, hashAcceptedPassword } from './hash-accepted-password.ts';
import { type PasswordReplacement, type ReplacePasswordDeps, replacePassword } from './replace-password.ts';

export interface TokenPasswordChangeDeps extends ReplacePasswordDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly hasher: PasswordHasher;
  readonly passwordChecks: PasswordChecks;
}

/** The new password may be used. */
export interface TokenPasswordChange extends Omit<PasswordReplacement, 'stored' | 'keptSession' | 'admin'> {
  readonly user: UserId;
  /** The current one, as typed. */
  readonly password: string;
  readonly newPassword: string;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

export type TokenPasswordChangeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'invalid-credentials' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | Exclude<HashedPassword, { readonly ok: true }>
  | Overloaded;

/** Gives tokens back and keeps others from changing the password; no row when somebody has changed it just now. */
const takeAcceptedPassword = statement<{ user_id: string }, AcceptedPasswordParams>(
  'take-accepted-password',
  `with ${acceptedPasswordCtes}
  select proven.user_id from proven`,
);

/** A person changes the own password in an application: as in a browser, but none of the browser sessions is the own. */
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
  deps.log.info('password.changed', 'a person changed the password', { user: account, ...ended });
  return { ok: true };
}

async function isStillAccepted(transaction: Queryable, accepted: AcceptedPassword, now: number): Promise<boolean> {
  return (await transaction.first(takeAcceptedPassword, acceptedPasswordParams(accepted, now))) !== undefined;
}
