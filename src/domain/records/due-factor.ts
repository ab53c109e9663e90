import type { Config } from '#config/config.ts';
import { sha256 } from '#platform/base/secret.ts';
import { browserIsTrusted } from './liveness/pending-logins.ts';

/** The operator's settings (browser-flows 4). */
export interface SecondFactorRules {
  /** `off`: no second factor is requested. `required`: users who sign in with a password must have a second factor. */
  readonly policy: Config['account']['secondFactor'];
  /** Whether users can sign in with passkeys. */
  readonly arePasskeysUsed: boolean;
  /** Whether users with a second factor must provide it after sign-in through an upstream provider. */
  readonly isRequiredAfterUpstream: boolean;
  /** Whether they must provide it when they reauthenticate with a password. */
  readonly isRequiredOnReauth: boolean;
  /** How long a browser can be trusted; 0 to trust none. */
  readonly trustDays: number;
}

export function secondFactorRulesOf({ account }: Pick<Config, 'account'>, arePasskeysUsed: boolean): SecondFactorRules {
  return {
    policy: account.secondFactor,
    arePasskeysUsed,
    isRequiredAfterUpstream: account.secondFactor !== 'off' && account.secondFactorAfterUpstream === 'if_enrolled',
    isRequiredOnReauth: account.secondFactor !== 'off' && account.secondFactorOnReauth,
    trustDays: account.secondFactorTrustDays,
  };
}

/** What the user must do next: provide a factor or set one up. */
export type DueFactor = 'totp' | 'passkey' | 'setup';

/** Parameters of `dueFactorCte`. */
export interface DueFactorParams {
  /** `off`, `optional` or `required`. */
  readonly secondFactor: string;
  readonly trustedNonceHash: Buffer | null;
  readonly arePasskeysUsed: boolean;
}

/**
 * Returns the CTE `due(factor)`: what a user must provide after the first factor, or null. Returns no row without a
 * user.
 * @param proven name of a CTE with the `user_id` of the user who proved the first factor
 */
export function dueFactorCte(verified: string): string {
  return `due as materialized (
    select case
        when :secondFactor::text = 'off' then null
        when exists (select from user_totp_secrets enrolled where enrolled.user_id = ${verified}.user_id)
          then case when not ${browserIsTrusted(`${verified}.user_id`)} then 'totp' end
        when :secondFactor::text = 'required' and :arePasskeysUsed::boolean
          and exists (select from user_passkeys device where device.user_id = ${verified}.user_id) then 'passkey'
        when :secondFactor::text = 'required' then 'setup'
      end as factor
    from ${verified}
  )`;
}

/** What `factorColumns` selects. */
export interface FactorRow {
  readonly has_totp: boolean;
  readonly has_passkey: boolean;
}

/**
 * Returns columns with the further factors of an account.
 * @param user SQL expression of the account, or null
 */
export function factorColumns(user: string): string {
  return `exists (select from user_totp_secrets app where app.user_id = ${user}) as has_totp,
    exists (select from user_passkeys device where device.user_id = ${user}) as has_passkey`;
}

/**
 * Returns an SQL condition with `:secondFactor`: the password is not enough for this account. For cases that cannot
 * request a further factor or trust a browser.
 * @param user SQL expression of the account
 */
export function furtherFactorIsDue(user: string): string {
  return `case :secondFactor::text
      when 'off' then false
      when 'required' then true
      else exists (select from user_totp_secrets enrolled where enrolled.user_id = ${user})
    end`;
}

/**
 * @param nonce of the account in this browser; undefined if the account was not used here
 * @param arePasskeysUsed used only with the policy `required`
 */
export function dueFactorParams(
  policy: SecondFactorRules['policy'],
  nonce: string | undefined,
  arePasskeysUsed = false,
): DueFactorParams {
  return { secondFactor: policy, trustedNonceHash: nonce === undefined ? null : sha256(nonce), arePasskeysUsed };
}
