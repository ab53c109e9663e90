/**
 * Sets a new password with a ticket. Other modules change the password, the sessions and the events, in one
 * transaction.
 */

import { type Overloaded, overloadedOutcome } from '#domain/accounts/passwords/check-password.ts';
import {
  findNewPasswordProblem,
  type NewPasswordDeps,
  type NewPasswordProblem,
} from '#domain/accounts/passwords/new-password.ts';
import { setPassword } from '#domain/accounts/passwords/set-password.ts';
import { endApplicationSessionsOfUser } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { type SignOutDeps, signOut } from '#domain/oauth-sessions/sign-out.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { recoverySessionIsOpen } from '#domain/records/liveness/recoveries.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { PasswordHasher, StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { FlowResult } from '#vocabulary/metric-labels.ts';
import {
  addressIsUnchanged,
  passwordIsUnchanged,
  type RecoveryTicket,
  type TicketDeps,
  ticketHash,
} from './recovery-ticket.ts';

export interface RecoverPasswordDeps
  extends TicketDeps,
    NewPasswordDeps,
    Pick<SignOutDeps, 'scopeRules' | 'homeserver'> {
  readonly database: Database;
  readonly hasher: PasswordHasher;
  readonly sendsNotices: boolean;
  /** Always signs out applications and devices, whatever the user chooses. */
  readonly signsOutDevices: boolean;
}

export interface RecoverPasswordAttempt {
  /** The submitted ticket, which has just been validated. */
  readonly ticketText: string;
  readonly ticket: RecoveryTicket;
  readonly newPassword: string;
  /** Also ends all sessions of applications and devices. */
  readonly endsApplications: boolean;
  /** Language of the page and the notice. */
  readonly language: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

export type RecoverPasswordOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'rejected'; readonly rejected: NewPasswordProblem }
  /** The ticket is no longer valid: another request used it, or the account was changed. */
  | { readonly ok: false; readonly reason: 'lost' }
  | Overloaded;

/**
 * Stores the new password and ends what an attacker may hold: all tickets, open recoveries and browser sessions of the
 * account (browser-flows 7.3, security R-33). Does not sign the user in.
 *
 * A weak password does not consume the ticket.
 */
export async function recoverPassword(
  deps: RecoverPasswordDeps,
  attempt: RecoverPasswordAttempt,
): Promise<RecoverPasswordOutcome> {
  const outcome = await recover(deps, attempt);
  metrics?.count('latchkey_recoveries_total', { method: 'email', result: resultOf(outcome) });
  return outcome;
}

function resultOf(outcome: RecoverPasswordOutcome): FlowResult {
  if (outcome.ok) return 'success';
  switch (outcome.reason) {
    case 'rejected':
      return 'rejected';
    case 'lost':
      return 'refused';
    case 'overloaded':
      return 'error';
  }
}

async function recover(deps: RecoverPasswordDeps, attempt: RecoverPasswordAttempt): Promise<RecoverPasswordOutcome> {
  let stored: StoredHash | undefined;
  try {
    const { emails, user } = attempt.ticket;
    const { newPassword } = attempt;
    const rejected = await findNewPasswordProblem(deps, newPassword, { ...user, emails }, callerOf(attempt));
    if (rejected !== undefined) return { ok: false, reason: 'rejected', rejected };
    stored = await deps.hasher.hash(newPassword, callerOf(attempt));
  } catch (error) {
    return overloadedOutcome(error, deps.log);
  }
  if (stored === undefined) return { ok: false, reason: 'rejected', rejected: { problem: 'password_too_long' } };

  const newHash = stored;
  const ended = await deps.database.transaction((transaction) => replace(deps, transaction, attempt, newHash), {
    isRepeatable: true,
  });
  if (ended === undefined) return { ok: false, reason: 'lost' };
  deps.log.info('password.recovered', 'password reset by a recovery email', {
    user: attempt.ticket.user.id,
    ...ended,
  });
  return { ok: true };
}

/** Returns undefined and changes nothing if the ticket is no longer valid. */
async function replace(
  deps: RecoverPasswordDeps,
  transaction: Transaction,
  attempt: RecoverPasswordAttempt,
  stored: StoredHash,
) {
  const { address, language, userAgent, ticketText } = attempt;
  const now = deps.clock.now();
  const hash = ticketHash(ticketText);
  // A concurrent recovery of the same account waits here, and the next statement then sees what was committed.
  await transaction.execute(lockAccount, { ticketHash: hash });
  const madeAfter = new Date(now - deps.ticketTtlSeconds * 1000);
  const consumed = await transaction.first(consumeTicket, { ticketHash: hash, madeAfter, now: new Date(now) });
  if (consumed === undefined) return undefined;
  const user: UserId = attempt.ticket.user.id;
  const reason = 'password_recovered';
  const syncsDevices = deps.homeserver.isConnected;
  const eventId = await setPassword(transaction, { user, stored, address, userAgent, now, event: reason });
  const endsApplications = attempt.endsApplications || deps.signsOutDevices;
  if (deps.sendsNotices) {
    const detail = { ends_browsers: true, ends_applications: endsApplications };
    await queueNotice(transaction, 'password_changed', { user, eventId, detail, language, now });
  }
  const all = { userId: user, which: 'all', reason, now, address, userAgent } as const;
  const browsers = await signOut({ ...deps, database: transaction }, all);
  const applications = endsApplications
    ? await endApplicationSessionsOfUser(transaction, user, { reason, now, syncsDevices })
    : undefined;
  return {
    browser_sessions: browsers,
    oauth_sessions: applications?.oauth2Sessions ?? 0,
    compat_sessions: applications?.compatSessions ?? 0,
  };
}

const lockAccount = statement<never, { readonly ticketHash: Buffer }>(
  'lock-account-of-recovery-ticket',
  `select u.id from users u
    where u.id = (select t.user_id from user_recovery_tickets t where t.ticket_hash = :ticketHash::bytea)
      for no key update of u`,
);

/**
 * Returns a row for the one caller whose ticket is still valid. Consumes every open session that had a ticket for the
 * account.
 */
const consumeTicket = statement<
  { user_id: string },
  { readonly ticketHash: Buffer; readonly madeAfter: Date; readonly now: Date }
>(
  'consume-recovery-ticket',
  `with valid as materialized (
    select t.user_id
      from user_recovery_tickets t
      join user_recovery_sessions s on s.id = t.session_id
      join users u on u.id = t.user_id
     where t.ticket_hash = :ticketHash::bytea and t.created_at > :madeAfter::timestamptz
       and ${recoverySessionIsOpen('s')} and ${passwordIsUnchanged('t')} and ${addressIsUnchanged('t')}
       and ${accountIsUsable('u')}
  ), consumed as (
    update user_recovery_sessions s set consumed_at = :now::timestamptz
      from valid
     where ${recoverySessionIsOpen('s')}
       and s.id = any (array(select of_account.session_id from user_recovery_tickets of_account
                              where of_account.user_id = (select valid.user_id from valid)))
  )
  select valid.user_id from valid`,
);

function callerOf({ address, signal }: RecoverPasswordAttempt): HashCaller {
  return { address: addressKey(address), signal };
}
