/**
 * Changes to the confirmed addresses of an account. Addresses, authentications, events and jobs are changed by their
 * modules in one transaction (account-graphql 5.1).
 */
import { type EmailAddress, partOfAddress } from '#domain/accounts/email-address.ts';
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';

export interface EmailChangeDeps {
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

/** Who changed it, and from where. */
export interface ChangedBy extends AuditActor {
  /** Language of the request, for the email; undefined to use the account's language. */
  readonly language?: string | undefined;
}

/**
 * Records the event and notifies the user and the homeserver. Call it before the change itself: an address about to be
 * removed gets the notice, and an address about to be added does not.
 */
export async function recordEmailChange(
  { homeserver, sendsNotices }: EmailChangeDeps,
  transaction: Transaction,
  kind: 'email_added' | 'email_removed',
  change: ChangedBy & { readonly user: UserId; readonly email: EmailAddress; readonly now: number },
): Promise<void> {
  const { user, email, now, address, userAgent, clientId, language } = change;
  const detail = { email: partOfAddress(email) };
  const eventId = await recordAuditEvent(transaction, {
    kind,
    at: now,
    userId: user,
    clientId,
    address,
    userAgent,
    detail: { ...change.detail, ...detail },
  });
  if (sendsNotices) await queueNotice(transaction, kind, { user, eventId, detail, language, now });
  await queueProvisioning(transaction, homeserver, { userId: user, now });
}
