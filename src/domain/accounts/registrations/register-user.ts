import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { createUser } from '../create-user.ts';
import type { EmailAddress } from '../email-address.ts';
import { setPassword } from '../passwords/set-password.ts';
import { addEmail } from '../user-emails.ts';
import { refusableTransaction } from './refusable-transaction.ts';

export interface Registration {
  /** An ID that was already given to other services; undefined: generate one. */
  readonly id?: UserId | undefined;
  /** Validated with `usernameProblems`. */
  readonly username: string;
  readonly displayName: string | undefined;
  /** BCP 47 tag of the user's language. */
  readonly locale: string;
  readonly canRequestAdmin: boolean;
  /** The homeserver has reported that the name is available, or has just created the user. Ignored without one. */
  readonly isNewAtHomeserver: boolean;
  /** Confirmed, distinct addresses. */
  readonly emails: readonly EmailAddress[];
  readonly password: StoredHash | undefined;
  /** Undefined: an operator at the command line. */
  readonly by?: AuditActor;
  /** Undefined if nobody creates the account for its user. */
  readonly record?: RecordAction<UserId>;
  /** Links the account to upstream identities. An exception rolls everything back. */
  readonly bindIdentities?: (transaction: Transaction, user: UserId) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type RegistrationOutcome =
  | { readonly ok: true; readonly id: UserId }
  | { readonly ok: false; readonly reason: 'name-taken' }
  | { readonly ok: false; readonly reason: 'email-taken'; readonly email: string };

export interface RegisterUserDeps {
  readonly database: Database;
  readonly homeserver: Pick<Homeserver, 'isConnected' | 'createsUsers'>;
}

/**
 * Creates an account with its addresses and password in one transaction, and queues its provisioning on the homeserver.
 */
export async function registerUser(
  { database, homeserver }: RegisterUserDeps,
  registration: Registration,
): Promise<RegistrationOutcome> {
  return await refusableTransaction<RegistrationOutcome>(database, async (transaction, refuse) => {
    const { username, displayName, locale, canRequestAdmin, emails, password, by, now } = registration;
    const keepsUnknownDevices = !(homeserver.createsUsers && registration.isNewAtHomeserver);
    const account = { id: registration.id, username, displayName, locale, canRequestAdmin, keepsUnknownDevices, now };
    const id = await createUser(transaction, account);
    if (id === undefined) return refuse({ ok: false, reason: 'name-taken' });
    for (const email of emails) {
      const isAdded = (await addEmail(transaction, id, email, now)) !== undefined;
      if (!isAdded) return refuse({ ok: false, reason: 'email-taken', email: email.address });
    }
    if (password !== undefined) await setPassword(transaction, { user: id, stored: password, now });
    await registration.bindIdentities?.(transaction, id);
    await queueProvisioning(transaction, homeserver, { userId: id, displayName, now });
    await recordAuditEvent(transaction, { kind: 'registered', at: now, userId: id, ...by });
    await registration.record?.(transaction, id);
    return { ok: true, id };
  });
}
