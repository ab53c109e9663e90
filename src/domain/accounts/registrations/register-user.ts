import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import { createUser } from '../create-user.ts';
import type { EmailAddress } from '../email-address.ts';
import { setPassword } from '../passwords/set-password.ts';
import { addEmail } from '../user-emails.ts';

export interface Registration {
  /** Checked by `usernameProblems`. */
  readonly username: string;
  readonly displayName: string | undefined;
  /** BCP 47 tag of the language that the person reads. */
  readonly locale: string;
  readonly canRequestAdmin: boolean;
  /** Confirmed ones, distinct. */
  readonly emails: readonly EmailAddress[];
  readonly password: StoredHash | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type RegistrationOutcome =
  | { readonly ok: true; readonly id: UserId }
  | { readonly ok: false; readonly reason: 'name-taken' }
  | { readonly ok: false; readonly reason: 'email-taken'; readonly email: string };

/** Creates an account with its addresses and password, all or nothing, in a transaction of its own. */
export async function registerUser(database: Database, registration: Registration): Promise<RegistrationOutcome> {
  try {
    return await database.transaction(async (transaction) => {
      const { username, displayName, locale, canRequestAdmin, emails, password, now } = registration;
      const id = await createUser(transaction, { username, displayName, locale, canRequestAdmin, now });
      if (id === undefined) throw new Refused({ ok: false, reason: 'name-taken' });
      for (const email of emails) {
        const isAdded = await addEmail(transaction, id, email, now);
        if (!isAdded) throw new Refused({ ok: false, reason: 'email-taken', email: email.address });
      }
      if (password !== undefined) await setPassword(transaction, { user: id, stored: password, now });
      await recordAuditEvent(transaction, { kind: 'registered', at: now, userId: id });
      return { ok: true, id };
    });
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

/** Rolls the transaction back for an expected outcome. */
class Refused extends Error {
  readonly outcome: RegistrationOutcome;

  constructor(outcome: RegistrationOutcome) {
    super('registration refused');
    this.outcome = outcome;
  }
}
