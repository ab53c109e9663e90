/**
 * Browsers where a user may skip the second factor (browser-flows 4.2), table `user_trusted_browsers`. The nonce for
 * the account in the `known` cookie identifies a browser. A new password, a new enrollment or new recovery codes end
 * the trust automatically.
 */

import { passwordOf } from '#domain/records/liveness/pending-logins.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** Parameters of `trustBrowserCte`. */
export interface TrustParams {
  /** Null if the user did not ask for it. */
  readonly trustedNonceHash: Buffer | null;
  readonly trustedUntil: Date | null;
}

/**
 * Returns a CTE that trusts the browser of a newly opened session.
 * @param opened name of a CTE with its `user_id`
 */
export function trustBrowserCte(opened: string): string {
  return `trusting as (
    insert into user_trusted_browsers as former (user_id, nonce_hash, password_id, created_at, expires_at)
    select ${opened}.user_id, :trustedNonceHash::bytea, ${passwordOf(`${opened}.user_id`)}, :now::timestamptz,
      :trustedUntil::timestamptz
    from ${opened} where :trustedNonceHash::bytea is not null
    on conflict (nonce_hash) do update set
      password_id = excluded.password_id, created_at = excluded.created_at, expires_at = excluded.expires_at
      where former.user_id = excluded.user_id
  )`;
}

const end = statement<never, { readonly userId: string }>(
  'end-trust-in-browsers',
  'delete from user_trusted_browsers where user_id = :userId::uuid',
);

/** Ends the trust in all browsers of a user, because a device with one may be lost or stolen. */
export async function endTrust(transaction: Queryable, user: UserId): Promise<void> {
  await transaction.execute(end, { userId: toUuid(user) });
}
