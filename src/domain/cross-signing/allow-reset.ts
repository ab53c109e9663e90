/**
 * Leave to replace the keys that vouch for the devices of a person (chat-compat 11.2): the homeserver gives it for ten
 * minutes, and the person does the rest in a chat client. Owns no table.
 */
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { makingKnown } from '#domain/homeserver/make-known.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';

export interface AllowResetDeps {
  readonly database: Database;
  readonly homeserver: Homeserver;
  readonly clock: Clock;
  readonly log: Log;
  /** People are told by mail what happens to their account. */
  readonly sendsNotices: boolean;
}

export interface AllowedReset {
  readonly user: { readonly id: UserId; readonly username: string };
  readonly by: AuditActor;
  /** Of the request; undefined: that of the account. */
  readonly language: string | undefined;
}

/**
 * Asks the homeserver for it, and then tells the person by mail: who has taken an account over could read along from
 * then on.
 */
export async function allowCrossSigningReset(
  deps: AllowResetDeps,
  { user, by, language }: AllowedReset,
): Promise<'allowed' | 'unavailable'> {
  const { database, homeserver, clock, log, sendsNotices } = deps;
  const context = { kind: 'request' } as const;
  const told = await makingKnown(deps, user.id, context, () =>
    homeserver.allowCrossSigningReset(user.username, context),
  );
  if (!told.ok) {
    // The call itself has logged that it could not be made.
    if (told.reason !== 'unavailable')
      log.warn('homeserver.failed', 'the homeserver allows no reset of keys', { reason: told.detail });
    return 'unavailable';
  }
  const now = clock.now();
  await database.transaction(
    async (transaction) => {
      const event = { kind: 'cross_signing_reset_allowed', at: now, userId: user.id, ...by } as const;
      const eventId = await recordAuditEvent(transaction, event);
      if (sendsNotices)
        await queueNotice(transaction, 'cross_signing_reset', { user: user.id, eventId, language, now });
    },
    { isRepeatable: true },
  );
  return 'allowed';
}
