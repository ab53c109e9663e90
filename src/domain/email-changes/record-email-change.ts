/**
 * The confirmed addresses of an account change. Owns no table: addresses, authentications, events and jobs are changed by
 * their modules, in one transaction (account-graphql 5.1).
 */
import { type EmailAddress, partOfAddress } from '#domain/accounts/email-address.ts';
import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { ClientId, UserId } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';

export interface EmailChangeDeps {
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

/** Who changed it, and from where. */
export interface ChangedBy {
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The application of an administrator. */
  readonly client?: ClientId | undefined;
  /** The administrator, where a person is behind the application. */
  readonly admin?: UserId | undefined;
  /** Of the request, for the mails; undefined: that of the account. */
  readonly language?: string | undefined;
}

/**
 * Writes the event, and tells the person and the homeserver. Call it before the change itself: an address that is added
 * is not told, and one that is removed is.
 */
export async function recordEmailChange(
  { homeserver, sendsNotices }: EmailChangeDeps,
  transaction: Transaction,
  kind: 'email_added' | 'email_removed',
  change: ChangedBy & { readonly user: UserId; readonly email: EmailAddress; readonly now: number },
): Promise<void> {
  const { user, email, now, address, userAgent, client, admin, language } = change;
  const detail = { email: partOfAddress(email) };
  const eventId = await recordAuditEvent(transaction, {
    kind,
    at: now,
    userId: user,
    clientId: client,
    address,
    userAgent,
    detail: { ...detail, ...(admin !== undefined && { admin }) },
  });
  if (sendsNotices) await queueNotice(transaction, kind, { user, eventId, detail, language, now });
  await queueProvisioning(transaction, homeserver, { userId: user, now });
}
