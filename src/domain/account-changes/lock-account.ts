import { lockUser } from '#domain/accounts/lock-user.ts';
import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type DeactivationOutcome, deactivateUser } from './deactivate-user.ts';

export interface LockAccountDeps {
  readonly database: Database;
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface AccountLock {
  readonly user: UserId;
  /** The administrator or operator. */
  readonly by: AuditActor;
  /** Also deactivates the account permanently; undefined to lock it only. */
  readonly end: { readonly isErased: boolean } | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Locks an account for an administrator or operator and notifies the user once.
 * @returns what ended with the account; undefined if it was only locked
 */
export async function lockAccount(
  { database, homeserver, sendsNotices: isTold }: LockAccountDeps,
  { user, by, end, now }: AccountLock,
): Promise<DeactivationOutcome | undefined> {
  return await database.transaction(
    async (transaction) => {
      const isNew = await lockUser(transaction, homeserver, { user, by, now });
      if (end !== undefined) {
        const { isErased } = end;
        const change = { user, by: { kind: 'admin', actor: by }, isErased, isTold, now } as const;
        return await deactivateUser(transaction, homeserver, change);
      }
      if (isNew && isTold) await queueNotice(transaction, 'account_locked', { user, now });
      return undefined;
    },
    { isRepeatable: true },
  );
}
