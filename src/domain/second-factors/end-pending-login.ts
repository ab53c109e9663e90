import { pendingLoginIsOpen } from '#domain/records/liveness/pending-logins.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';

const end = statement<never, { readonly id: string; readonly now: Date }>(
  'end-pending-login',
  `update user_pending_logins l set expires_at = :now::timestamptz, setup_sealed = null
    where l.id = :id::uuid and ${pendingLoginIsOpen('l', ':now::timestamptz')}`,
);

/**
 * Ends a pending login, so that it can no longer be completed.
 * @param now milliseconds since the epoch
 */
export async function endPendingLogin(queryable: Queryable, id: PendingLoginId, now: number): Promise<void> {
  await queryable.execute(end, { id: toUuid(id), now: new Date(now) });
}
