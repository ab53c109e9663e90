/**
 * Permission to replace a user's cross-signing keys (chat-compat 11.2). The homeserver grants it for ten minutes, and
 * the user completes the reset in a chat client.
 */
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { Homeserver } from './homeserver.ts';
import { provisionIfUnknown } from './provision-if-unknown.ts';

export interface AllowResetDeps {
  readonly database: Database;
  readonly homeserver: Homeserver;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether users get email notices about changes to their account. */
  readonly sendsNotices: boolean;
}

export interface AllowedReset {
  readonly user: { readonly id: UserId; readonly username: string };
  readonly by: AuditActor;
  /** Undefined if users do this for themselves. */
  readonly record: RecordAction | undefined;
  /** Language of the request; undefined to use the account's language. */
  readonly language: string | undefined;
}

/**
 * Requests the permission from the homeserver, then notifies the user by email. An attacker who controls the account
 * could read messages from then on.
 */
export async function allowCrossSigningReset(
  deps: AllowResetDeps,
  { user, by, record, language }: AllowedReset,
): Promise<'allowed' | 'unavailable'> {
  const { database, homeserver, clock, log, sendsNotices } = deps;
  const context = { kind: 'request' } as const;
  const result = await provisionIfUnknown(deps, user.id, context, () =>
    homeserver.allowCrossSigningReset(user.username, context),
  );
  if (!result.ok) {
    // The homeserver client already logs unavailability.
    if (result.reason !== 'unavailable')
      log.warn('homeserver.failed', 'homeserver rejected the cross-signing reset', { reason: result.detail });
    return 'unavailable';
  }
  const now = clock.now();
  await database.transaction(
    async (transaction) => {
      const event = { kind: 'cross_signing_reset_allowed', at: now, userId: user.id, ...by } as const;
      const eventId = await recordAuditEvent(transaction, event);
      if (sendsNotices)
        await queueNotice(transaction, 'cross_signing_reset', { user: user.id, eventId, language, now });
      await record?.(transaction);
    },
    { isRepeatable: true },
  );
  return 'allowed';
}
