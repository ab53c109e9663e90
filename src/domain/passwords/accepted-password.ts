import { toUuid } from '#base/ids.ts';
import { refundCtes } from '#domain/rate-limits/charge-sql.ts';
import type { Charges } from '#domain/rate-limits/rate-limits.ts';
import type { User } from '#domain/users/user.ts';
import { userColumns } from '#domain/users/user-row.ts';
import type { StoredHash } from '#gateways/password-hash/password-hasher.ts';

/** A password that was found right a moment ago, and what is due for it. */
export interface AcceptedPassword {
  readonly user: User;
  /** The password that was checked; a statement that acts on it fails when it is no longer the account's. */
  readonly passwordId: string;
  /** Tokens to give back: only failures count. */
  readonly charges: Charges;
  /** Key of the count of failures in a row. */
  readonly subject: string;
  /** By the newest scheme, when the stored hash is outdated. */
  readonly newHash: StoredHash | undefined;
}

/** First parameters of every statement that acts on a password found right, in this order. */
export type AcceptedPasswordParams = [
  now: Date,
  userId: string,
  passwordId: string,
  chargedKeys: readonly string[],
  chargedSeconds: readonly number[],
  subject: string,
  newHash: string | null,
  newSchemeVersion: number | null,
];

/** @param now milliseconds since the epoch */
export function acceptedPasswordParams(accepted: AcceptedPassword, now: number): AcceptedPasswordParams {
  return [
    new Date(now),
    toUuid(accepted.user.id),
    accepted.passwordId,
    accepted.charges.keys,
    accepted.charges.seconds,
    accepted.subject,
    accepted.newHash?.hash ?? null,
    accepted.newHash?.schemeVersion ?? null,
  ];
}

/**
 * CTEs for parameters `$1` to `$8` above: `account` (columns of `userColumns`; empty when the password was changed
 * since it was checked) and `proven(user_id)`, the account unless it is locked or deactivated. Tokens are given back,
 * failures in a row forgotten, and an outdated hash is replaced.
 *
 * The locks make a change of password or a lock that commits at the same moment come first or wait for us: no session
 * is made behind its back.
 */
export const acceptedPasswordCtes = `account as (
    select ${userColumns('u')}
    from users u join user_passwords p on p.user_id = u.id
    where u.id = $2::uuid and p.id = $3::uuid
    for share of u for no key update of p
  ),
  proven as (
    select account.user_id from account where not account.is_locked and not account.is_deactivated
  ),
  ${refundCtes('$4::text[]', '$5::float8[]', 'exists (select from account)')},
  forgotten as (
    delete from login_failures where key = $6::text and exists (select from account)
  ),
  rehashed as (
    update user_passwords p set hash = $7::text, scheme_version = $8::integer
    from proven where p.user_id = proven.user_id and p.id = $3::uuid and $7::text is not null
  )`;
