import { parseStoredEmailAddress, partOfAddress } from '#domain/accounts/email-address.ts';
import type { UserEmail } from '#domain/accounts/list-user-emails.ts';
import { lockEmails, makeEmailPrimary } from '#domain/accounts/user-emails.ts';
import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { ChangedBy } from './record-email-change.ts';

export type SetPrimaryEmailOutcome = 'set' | 'not-found';

/**
 * Makes an address the primary one, which applications receive. Nothing changes at the homeserver, which treats all
 * addresses alike. If the address is already primary, no event is recorded.
 */
export async function setPrimaryEmail(
  { database, clock, log }: { readonly database: Database; readonly clock: Clock; readonly log: Log },
  { userId: user, email: text, emailKey: key }: UserEmail,
  { address, userAgent, clientId, detail, record }: ChangedBy & { readonly record: RecordAction | undefined },
): Promise<SetPrimaryEmailOutcome> {
  const email = parseStoredEmailAddress(text) ?? { address: text, key };
  const outcome = await database.transaction<SetPrimaryEmailOutcome | 'unchanged'>(
    async (transaction) => {
      const own = await lockEmails(transaction, user);
      if (own === undefined || !own.includes(key)) return 'not-found';
      if (own[0] === key) return 'unchanged';
      await recordAuditEvent(transaction, {
        kind: 'primary_email_changed',
        at: clock.now(),
        userId: user,
        clientId,
        address,
        userAgent,
        detail: { ...detail, email: partOfAddress(email) },
      });
      await makeEmailPrimary(transaction, user, key);
      await record?.(transaction);
      return 'set';
    },
    { isRepeatable: true },
  );
  if (outcome === 'set') log.info('email.primary_set', 'primary email address changed', { user });
  return outcome === 'unchanged' ? 'set' : outcome;
}
