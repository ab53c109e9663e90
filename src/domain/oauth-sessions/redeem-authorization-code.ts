import { codeIsValid } from '#domain/authorizations/liveness.ts';
import type { Client } from '#domain/clients/client.ts';
import { clientWithIdIsCurrent } from '#domain/clients/liveness.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CodeRow } from './judge-code.ts';
import {
  openSession,
  type RedeemingDevice,
  type RedeemParams,
  type Redemption,
  redeemParams,
  redeemSql,
} from './open-session.ts';
import type { TokenSettings } from './token-settings.ts';

/**
 * Redeems the code: session and tokens are stored and the grant is consumed, or nothing changes.
 * @returns false when another request was faster, or the user, the browser session or the client is gone by now
 */
export async function redeemAuthorizationCode(
  database: Database,
  redemption: Redemption<CodeRow>,
  client: Client,
  settings: TokenSettings,
  device: RedeemingDevice,
): Promise<boolean> {
  const oldest = new Date(redemption.now - settings.authorizationCodeTtlSeconds * 1000);
  return await openSession(database, redeemCode, { ...redeemParams(redemption, client, device), oldest });
}

const redeemCode = statement<
  { id: string },
  RedeemParams & {
    /** Codes fulfilled before this are too old. */
    readonly oldest: Date;
  }
>(
  'redeem-code',
  redeemSql(
    `update oauth2_authorization_grants g
       set exchanged_at = :now::timestamptz, oauth2_session_id = :sessionId::uuid
     where g.id = :grantId::uuid
       and g.user_session_id = :userSessionId::uuid
       and ${codeIsValid('g', ':oldest::timestamptz')}
       and exists (select from sign_in)
       and ${clientWithIdIsCurrent('g.client_id', ':clientVersion::integer')}
    returning g.client_id, g.scope, g.claims, g.resources, g.locale, g.auth_time, g.acr, g.amr`,
  ),
);
