import { codeIsValid } from '#domain/records/liveness/authorizations.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CodeRow } from './judge-code.ts';
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
import type { TokenSettings } from './token-settings.ts';

/** Redeems an authorization code. */
export async function redeemAuthorizationCode<Prepared>(
  deps: RedeemDeps,
  redeeming: Redeeming<CodeRow, Prepared>,
  { authorizationCodeTtlSeconds }: Pick<TokenSettings, 'authorizationCodeTtlSeconds'>,
): Promise<RedeemOutcome<Prepared>> {
  const oldest = new Date(redeeming.presentedAt - authorizationCodeTtlSeconds * 1000);
  const store = redeeming.client.kind === 'builtin' ? renewAdminArea : redeemCode;
  return await redeem(deps, redeeming, { claim: claimForCode, store }, { oldest });
}

interface CodeParams {
  /** Codes issued before this time have expired. */
  readonly oldest: Date;
}

const CODE_IS_VALID = codeIsValid('g', ':oldest::timestamptz');

const claimForCode = statement<GrantClaimRow, GrantClaimParams & CodeParams>(
  'claim-device-for-code',
  grantClaimSql('oauth2_authorization_grants', CODE_IS_VALID),
);

const redeemCode = statement<RedeemedRow, RedeemParams & CodeParams>(
  'redeem-code',
  redeemSql('update oauth2_authorization_grants g set', CODE_IS_VALID, 'g.claims'),
);

/** The admin area requests a token every few minutes. Its sessions must not pile up, nor their events. */
const renewAdminArea = statement<RedeemedRow, RedeemParams & CodeParams>(
  'renew-admin-area',
  redeemSql('update oauth2_authorization_grants g set', CODE_IS_VALID, 'g.claims', true),
);
