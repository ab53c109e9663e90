import type { EmailAddress } from '#domain/accounts/email-address.ts';
import type { UserEmailId } from '#domain/accounts/list-user-emails.ts';
import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { addEmail, findEmailOwner, lockEmails } from '#domain/accounts/user-emails.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type ChangedBy, type EmailChangeDeps, recordEmailChange } from './record-email-change.ts';

export type AddUnverifiedOutcome =
  | { readonly ok: true; readonly id: UserEmailId }
  /** `deactivated`: also if the account does not exist. */
  | { readonly ok: false; readonly reason: 'own' | 'in-use' | 'deactivated' };

/** Adds a confirmed address to an account on an administrator's word, without sending an email to it. */
export async function addUnverifiedEmail(
  deps: EmailChangeDeps & { readonly database: Database; readonly clock: Clock; readonly log: Log },
  user: UserId,
  email: EmailAddress,
  by: ChangedBy & { readonly record: RecordAction<UserEmailId> },
): Promise<AddUnverifiedOutcome> {
  const { database, clock, log } = deps;
  const { record, ...actor } = by;
  const now = clock.now();
  const outcome = await refusableTransaction<AddUnverifiedOutcome>(
    database,
    async (transaction, refuse) => {
      const own = await lockEmails(transaction, user);
      if (own === undefined) return { ok: false, reason: 'deactivated' };
      if (own.includes(email.key)) return { ok: false, reason: 'own' };
      if ((await findEmailOwner(transaction, email.key)) !== undefined) return { ok: false, reason: 'in-use' };
      await recordEmailChange(deps, transaction, 'email_added', { ...actor, user, email, now });
      const id = await addEmail(transaction, user, email, now);
      if (id === undefined) return refuse({ ok: false, reason: 'in-use' });
      await record(transaction, id);
      return { ok: true, id };
    },
    { isRepeatable: true },
  );
  if (outcome.ok) log.info('email.added', 'email address added by administrator', { user });
  return outcome;
}
