import { refundCtes } from '#domain/limits/charge-sql.ts';
import type { Charges } from '#domain/limits/rate-limits.ts';
import { type User, userColumns } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';

/** A password that was just verified, and the writes left to the statement that acts on it. */
export interface AcceptedPassword {
  readonly user: User;
  /** The verified password. A statement that acts on it fails if the account has a different password by then. */
  readonly passwordId: string;
  /** Rate limit tokens to refund: only failures count. */
  readonly charges: Charges;
  /** Key of the count of consecutive failures. */
  readonly subject: string;
  /** Hash by the newest scheme, if the stored hash is outdated. */
  readonly newHash: StoredHash | undefined;
}

/** Parameters of every statement that acts on a verified password. */
export type AcceptedPasswordParams = {
  readonly now: Date;
  readonly userId: string;
  readonly passwordId: string;
  readonly chargedKeys: readonly string[];
  readonly chargedSeconds: readonly number[];
  readonly subject: string;
  readonly newHash: string | null;
  readonly newSchemeVersion: number | null;
};

/** @param now milliseconds since the epoch */
export function acceptedPasswordParams(accepted: AcceptedPassword, now: number): AcceptedPasswordParams {
  return {
    now: new Date(now),
    userId: toUuid(accepted.user.id),
    passwordId: accepted.passwordId,
    chargedKeys: accepted.charges.keys,
    chargedSeconds: accepted.charges.seconds,
    subject: accepted.subject,
    newHash: accepted.newHash?.hash ?? null,
    newSchemeVersion: accepted.newHash?.schemeVersion ?? null,
  };
}

/** The columns that `toUser` reads, from the CTE `account` below. */
export const ACCEPTED_ACCOUNT_COLUMNS = `account.user_id, account.username, account.display_name, account.locale,
    account.can_request_admin, account.is_locked, account.is_deactivated`;

/**
 * CTEs for the parameters above. `account` has the columns of `userColumns` and is empty if the password was changed
 * since the check. `proven(user_id)` is the account unless it is locked or deactivated. The CTEs also refund the rate
 * limit tokens, clear the failure count and replace an outdated hash.
 *
 * Row locks serialize this statement with concurrent password changes and account locks. Those either commit first or
 * wait, so they cannot miss a session created here.
 */
export const acceptedPasswordCtes = `account as (
    select ${userColumns('u')}
    from users u join user_passwords p on p.user_id = u.id
    where u.id = :userId::uuid and p.id = :passwordId::uuid
    for share of u for no key update of p
  ),
  proven as (
    select account.user_id from account where not account.is_locked and not account.is_deactivated
  ),
  ${refundCtes(':chargedKeys::text[]', ':chargedSeconds::float8[]', 'exists (select from account)')},
  forgotten as (
    delete from login_failures where key = :subject::text and exists (select from account)
  ),
  rehashed as (
    update user_passwords p set hash = :newHash::text, scheme_version = :newSchemeVersion::integer
    from proven where p.user_id = proven.user_id and p.id = :passwordId::uuid and :newHash::text is not null
  )`;
