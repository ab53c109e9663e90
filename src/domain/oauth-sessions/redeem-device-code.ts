import type { AnsweredDeviceCodeRow } from '#domain/authorizations/poll-device-code.ts';
import { deviceCodeGrantIsRedeemable } from '#domain/records/liveness/authorizations.ts';
import { clientWithIdIsCurrent } from '#domain/records/liveness/clients.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type RedeemedRow, type RedeemParams, redeemSql } from './open-session.ts';
import {
  type GrantClaimParams,
  type GrantClaimRow,
  grantClaimSql,
  type RedeemDeps,
  type Redeeming,
  type RedeemOutcome,
  redeem,
} from './redeem.ts';

/** Redeems a confirmed device code. */
export async function redeemDeviceCode<Prepared>(
  deps: RedeemDeps,
  redeeming: Redeeming<AnsweredDeviceCodeRow, Prepared>,
): Promise<RedeemOutcome<Prepared>> {
  const polledAt = new Date(redeeming.presentedAt);
  return await redeem(deps, redeeming, { claim: claimForDeviceCode, store: redeemConfirmed }, { polledAt });
}

interface DeviceCodeParams {
  /** The code was valid at this time. */
  readonly polledAt: Date;
}

const claimForDeviceCode = statement<GrantClaimRow, GrantClaimParams & DeviceCodeParams>(
  'claim-device-for-device-code',
  grantClaimSql(
    `select from oauth2_device_code_grants g
      where g.id = :grantId::uuid and ${deviceCodeGrantIsRedeemable('g', ':polledAt::timestamptz')}`,
  ),
);

const redeemConfirmed = statement<RedeemedRow, RedeemParams & DeviceCodeParams>(
  'redeem-device-code',
  redeemSql(
    `update oauth2_device_code_grants g
       set exchanged_at = :now::timestamptz, oauth2_session_id = :sessionId::uuid
     where g.id = :grantId::uuid
       and g.user_session_id = :userSessionId::uuid
       and ${deviceCodeGrantIsRedeemable('g', ':polledAt::timestamptz')}
       and exists (select from fenced)
       and ${clientWithIdIsCurrent('g.client_id', ':clientVersion::integer')}
    returning g.client_id, g.scope, null::jsonb as claims, g.resources, g.locale, g.auth_time, g.acr, g.amr`,
  ),
);
