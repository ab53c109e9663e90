import {
  type CheckCodeDeps,
  markVerified,
  tryEmailCode,
} from '#domain/accounts/email-authentications/check-email-code.ts';
import type { EmailAuthenticationId } from '#domain/accounts/email-authentications/email-authentication.ts';
import { findForSession } from '#domain/accounts/email-authentications/find-for-session.ts';
import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { addEmail, findEmailOwner, lockEmails, MAX_EMAILS } from '#domain/accounts/user-emails.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';
import { type ChangedBy, type EmailChangeDeps, recordEmailChange } from './record-email-change.ts';

export interface AddVerifiedEmailDeps extends EmailChangeDeps, CheckCodeDeps {
  readonly database: Database;
  readonly log: Log;
}

export interface EmailProof extends ChangedBy {
  readonly session: BrowserSessionId;
  readonly user: UserId;
  readonly authentication: EmailAuthenticationId;
  /** As entered by the user. */
  readonly code: string;
}

/**
 * `wrong`: also if the authentication belongs to another session or is already completed. `late`: the code was correct
 * but has expired. `in-use`: an account has the address. Only users who can read its email learn that. `too-many`: the
 * account has the maximum number of addresses.
 */
export type AddVerifiedEmailOutcome = 'added' | 'wrong' | 'late' | 'in-use' | 'too-many' | 'rate-limited';

type Verified = Exclude<AddVerifiedEmailOutcome, 'late' | 'rate-limited'> | 'taken-meanwhile';

/**
 * Adds an address to an account whose owner enters the code that was sent there. If two accounts complete this
 * concurrently, one of them adds it. An address that an account already has stays there.
 */
export async function addVerifiedEmail(
  deps: AddVerifiedEmailDeps,
  proof: EmailProof,
): Promise<AddVerifiedEmailOutcome> {
  const { database, clock, log } = deps;
  const { authentication: id, session, user, code } = proof;
  const [found] = await findForSession(database, [id], session, clock.now());
  if (found === undefined) return 'wrong';
  if (found.isExhausted && found.state === 'over') return 'rate-limited';
  const tried = await tryEmailCode(deps, id, code);
  if (!tried.ok) {
    log.info('email.code_refused', 'email verification code refused', { user, reason: tried.reason });
    switch (tried.reason) {
      case 'rate-limited':
      case 'late':
        return tried.reason;
      case 'not-open':
        // Its codes are older than any valid code.
        return found.state === 'over' ? 'late' : 'wrong';
      case 'malformed':
      case 'wrong':
        return 'wrong';
    }
  }

  const now = clock.now();
  const verified = { id, mail: tried.mail, now };
  const email = { address: found.email, key: found.emailKey };
  const outcome = await refusableTransaction<Verified>(
    database,
    async (transaction, refuse) => {
      const own = await lockEmails(transaction, user);
      if (own === undefined || !(await markVerified(transaction, verified))) return 'wrong';
      if ((await findEmailOwner(transaction, email.key)) !== undefined) return 'in-use';
      if (own.length >= MAX_EMAILS) return refuse('too-many');
      await recordEmailChange(deps, transaction, 'email_added', { ...proof, email, now });
      if ((await addEmail(transaction, user, email, now)) === undefined) return refuse('taken-meanwhile');
      return 'added';
    },
    { isRepeatable: true },
  );
  if (outcome === 'added') log.info('email.added', 'email address added', { user });
  if (outcome !== 'taken-meanwhile') return outcome;
  // The notice and the event are rolled back. The proof of the address is kept.
  await markVerified(database, verified);
  return 'in-use';
}
