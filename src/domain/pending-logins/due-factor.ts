import type { Config } from '#config/config.ts';
import { sha256 } from '#platform/base/secret.ts';
import { browserIsTrusted } from './liveness.ts';

/** What the operator wants (browser-flows 4). */
export interface SecondFactorRules {
  /** `off`: nobody is asked. `required`: who signs in with a password has to have a second factor. */
  readonly policy: Config['account']['secondFactor'];
  /** People sign in with passkeys. */
  readonly arePasskeysUsed: boolean;
  /** People who have one are asked for it after a sign-in through another service. */
  readonly isAskedAfterUpstream: boolean;
  /** The same after a password in a session. */
  readonly isAskedOnReauth: boolean;
  /** How long a browser can be trusted; 0: none is. */
  readonly trustDays: number;
}

export function secondFactorRulesOf({ account }: Pick<Config, 'account'>, arePasskeysUsed: boolean): SecondFactorRules {
  return {
    policy: account.secondFactor,
    arePasskeysUsed,
    isAskedAfterUpstream: account.secondFactor !== 'off' && account.secondFactorAfterUpstream === 'if_enrolled',
    isAskedOnReauth: account.secondFactor !== 'off' && account.secondFactorOnReauth,
    trustDays: account.secondFactorTrustDays,
  };
}

/** What a person is asked for next: one of their factors, or to set one up. */
export type DueFactor = 'totp' | 'passkey' | 'setup';

/** Parameters of `dueFactorCte`. */
export interface DueFactorParams {
  /** `off`, `optional` or `required`. */
  readonly secondFactor: string;
  readonly trustedNonceHash: Buffer | null;
  readonly arePasskeysUsed: boolean;
}

/**
 * The CTE `due(factor)`: what a person has to give after the first factor, null for nothing; no row without a person.
 * @param proven name of a CTE with the `user_id` of the person who gave the first one
 */
export function dueFactorCte(proven: string): string {
  return `due as materialized (
    select case
        when :secondFactor::text = 'off' then null
        when exists (select from user_totp_secrets enrolled where enrolled.user_id = ${proven}.user_id)
          then case when not ${browserIsTrusted(`${proven}.user_id`)} then 'totp' end
        when :secondFactor::text = 'required' and :arePasskeysUsed::boolean
          and exists (select from user_passkeys device where device.user_id = ${proven}.user_id) then 'passkey'
        when :secondFactor::text = 'required' then 'setup'
      end as factor
    from ${proven}
  )`;
}

/** What `factorColumns` selects. */
export interface FactorRow {
  readonly has_totp: boolean;
  readonly has_passkey: boolean;
}

/** Columns: which factors an account has besides the first. @param user SQL expression of the account, or null */
export function factorColumns(user: string): string {
  return `exists (select from user_totp_secrets app where app.user_id = ${user}) as has_totp,
    exists (select from user_passkeys device where device.user_id = ${user}) as has_passkey`;
}

/**
 * A condition for statements with `:secondFactor`: the password is not enough for this account, where nothing else can be
 * asked for and no browser be trusted. @param user SQL expression of the account
 */
export function furtherFactorIsDue(user: string): string {
  return `case :secondFactor::text
      when 'off' then false
      when 'required' then true
      else exists (select from user_totp_secrets enrolled where enrolled.user_id = ${user})
    end`;
}

/**
 * @param nonce of the account in this browser; undefined: nobody has signed in to it here
 * @param arePasskeysUsed only the policy `required` asks for one
 */
export function dueFactorParams(
  policy: SecondFactorRules['policy'],
  nonce: string | undefined,
  arePasskeysUsed = false,
): DueFactorParams {
  return { secondFactor: policy, trustedNonceHash: nonce === undefined ? null : sha256(nonce), arePasskeysUsed };
}
