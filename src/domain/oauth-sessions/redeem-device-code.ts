import { deviceCodeGrantIsRedeemable } from '#domain/authorizations/liveness.ts';
import type { AnsweredDeviceCodeRow } from '#domain/authorizations/poll-device-code.ts';
import type { Client } from '#domain/clients/client.ts';
import { clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  openSession,
  type RedeemingDevice,
  type RedeemParams,
  type Redemption,
  redeemParams,
  redeemSql,
} from './open-session.ts';

/**
 * Redeems a device code that was confirmed: session and tokens are stored and the grant is consumed, or nothing changes.
 * @returns false when another request was faster, or the user, the browser session or the client is gone by now
 */
export async function redeemDeviceCode(
  database: Database,
  redemption: Redemption<AnsweredDeviceCodeRow>,
  client: Client,
  device: RedeemingDevice,
): Promise<boolean> {
  return await openSession(database, redeem, redeemParams(redemption, client, device));
}

const redeem = statement<{ id: string }, RedeemParams>(
  'redeem-device-code',
  redeemSql(
    `update oauth2_device_code_grants g
       set exchanged_at = :now::timestamptz, oauth2_session_id = :sessionId::uuid
     where g.id = :grantId::uuid
       and g.user_session_id = :userSessionId::uuid
       and ${deviceCodeGrantIsRedeemable('g', ':now::timestamptz')}
       and exists (select from sign_in)
       and ${clientWithIdIsCurrent('g.client_id', ':clientVersion::integer')}
    returning g.client_id, g.scope, null::jsonb as claims, g.resources, g.locale, g.auth_time, g.acr, g.amr`,
  ),
);
