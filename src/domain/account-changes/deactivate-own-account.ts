import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type DeactivatedBy, deactivateUser } from './deactivate-user.ts';

export interface DeactivateOwnAccountDeps {
  readonly database: Database;
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

/** A deactivation by a user who has proven to own the account. */
export interface OwnDeactivation {
  readonly user: UserId;
  /** Whether the homeserver hides the user's messages. */
  readonly isErased: boolean;
  readonly by: Extract<DeactivatedBy, { readonly kind: 'person' }>;
}

export async function deactivateOwnAccount(
  { database, homeserver, clock, log, sendsNotices: isTold }: DeactivateOwnAccountDeps,
  { user, isErased, by }: OwnDeactivation,
): Promise<void> {
  const change = { user, by, isErased, isTold, now: clock.now() };
  const { isNew, browserSessions, oauth2Sessions, compatSessions } = await database.transaction(
    (transaction) => deactivateUser(transaction, homeserver, change),
    { isRepeatable: true },
  );
  if (!isNew) return;
  log.info('account.deactivated', 'account deactivated by its user', {
    user,
    erase: isErased,
    browser_sessions: browserSessions,
    oauth_sessions: oauth2Sessions,
    compat_sessions: compatSessions,
  });
}
