import type { DecidedDeviceCodeRow } from '#domain/authorizations/poll-device-code.ts';
import { deviceCodeGrantIsRedeemable } from '#domain/records/liveness/authorizations.ts';
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
  redeeming: Redeeming<DecidedDeviceCodeRow, Prepared>,
): Promise<RedeemOutcome<Prepared>> {
  const polledAt = new Date(redeeming.presentedAt);
  return await redeem(deps, redeeming, { claim: claimForDeviceCode, store: redeemConfirmed }, { polledAt });
}

interface DeviceCodeParams {
  /** The code was valid at this time. */
  readonly polledAt: Date;
}

const CODE_IS_REDEEMABLE = deviceCodeGrantIsRedeemable('g', ':polledAt::timestamptz');

const claimForDeviceCode = statement<GrantClaimRow, GrantClaimParams & DeviceCodeParams>(
  'claim-device-for-device-code',
  grantClaimSql('oauth2_device_code_grants', CODE_IS_REDEEMABLE),
);

const redeemConfirmed = statement<RedeemedRow, RedeemParams & DeviceCodeParams>(
  'redeem-device-code',
  redeemSql('update oauth2_device_code_grants g set', CODE_IS_REDEEMABLE, 'null::jsonb as claims'),
);
