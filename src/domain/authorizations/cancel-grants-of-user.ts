import { deviceCodeGrantIsRedeemable, grantIsOpen } from '#domain/records/liveness/authorizations.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import type { CancelReason } from './cancel-authorization-grant.ts';

/** Uses the index `oauth2_authorization_grants_user_session`, and the one of device code grants. */
const cancelGrants = statement<
  never,
  { readonly userId: string; readonly clientId: string; readonly reason: string; readonly now: Date }
>(
  'cancel-grants-of-user',
  `with of_devices as (
    update oauth2_device_code_grants d set rejected_at = :now::timestamptz, fulfilled_at = null
      from user_sessions b
     where b.user_id = :userId::uuid and d.user_session_id = b.id and d.client_id = :clientId::uuid
       and ${deviceCodeGrantIsRedeemable('d', ':now::timestamptz')}
  )
  update oauth2_authorization_grants g set cancelled_at = :now::timestamptz, cancel_reason = :reason::text
    from user_sessions b
   where b.user_id = :userId::uuid and g.user_session_id = b.id and g.client_id = :clientId::uuid
     and ${grantIsOpen('g')}`,
);

/**
 * Cancels what a user has granted to a client but the client has not yet exchanged for tokens: authorization codes and
 * confirmed devices. Waits for an exchange in progress.
 */
export async function cancelGrantsOfUser(
  transaction: Queryable,
  user: UserId,
  client: ClientId,
  now: number,
): Promise<void> {
  const reason: CancelReason = 'application-revoked';
  await transaction.execute(cancelGrants, {
    userId: toUuid(user),
    clientId: toUuid(client),
    reason,
    now: new Date(now),
  });
}
