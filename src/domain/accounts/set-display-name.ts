import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { provisionIfUnknown } from '#domain/homeserver/provision-if-unknown.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { parseDisplayName } from './account-names.ts';

const storeDisplayName = statement<
  never,
  { readonly userId: string; readonly displayName: string | null; readonly now: Date }
>(
  'store-display-name',
  `update users set display_name = :displayName::text, updated_at = :now::timestamptz where id = :userId::uuid`,
);

export interface SetDisplayNameDeps {
  readonly database: Database;
  readonly homeserver: Homeserver;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DisplayNameChange {
  readonly user: { readonly id: UserId; readonly username: string };
  /** As typed; undefined: remove it. */
  readonly displayName: string | undefined;
  readonly by: AuditActor;
  /** Undefined if users change their own name. */
  readonly record?: RecordAction | undefined;
}

/**
 * Sets or removes a user's display name, on the homeserver first. If the homeserver rejects the name, it is not stored
 * here either. Of two concurrent changes, the one that reaches the homeserver last wins.
 */
export async function setDisplayName(
  deps: SetDisplayNameDeps,
  { user, displayName: typed, by, record }: DisplayNameChange,
): Promise<'set' | 'invalid' | 'unavailable'> {
  const displayName = typed === undefined ? undefined : parseDisplayName(typed);
  if (typed !== undefined && displayName === undefined) return 'invalid';
  const { database, homeserver, clock, log } = deps;
  const context = { kind: 'request' } as const;
  const told = await provisionIfUnknown(deps, user.id, context, () =>
    homeserver.setDisplayName(user.username, displayName, context),
  );
  if (!told.ok) {
    // A failed request was already logged by the call.
    if (told.reason !== 'unavailable')
      log.warn('homeserver.failed', 'homeserver rejected a display name', { reason: told.detail });
    return 'unavailable';
  }
  const now = clock.now();
  await database.transaction(
    async (transaction) => {
      const userId = toUuid(user.id);
      await transaction.execute(storeDisplayName, { userId, displayName: displayName ?? null, now: new Date(now) });
      await recordAuditEvent(transaction, { kind: 'display_name_changed', at: now, userId: user.id, ...by });
      await record?.(transaction);
    },
    { isRepeatable: true },
  );
  return 'set';
}
