import { refundCtes } from '#domain/rate-limits/charge-sql.ts';
import type { Charges } from '#domain/rate-limits/rate-limits.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import { type User, userColumns } from '../user.ts';

/** A password that was just verified, and what the statement that acts on it has to do. */
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

/** Parameters of every statement that acts on a password found right. */
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

/** What `toUser` reads, from the CTE `account` below. */
export const ACCEPTED_ACCOUNT_COLUMNS = `account.user_id, account.username, account.display_name, account.locale,
    account.can_request_admin, account.is_locked, account.is_deactivated`;

/**
 * CTEs for the parameters above: `account` (columns of `userColumns`; empty when the password was changed
 * since it was checked) and `proven(user_id)`, the account unless it is locked or deactivated. Tokens are given back,
 * failures in a row forgotten, and an outdated hash is replaced.
 *
 * The locks make a change of password or a lock of the account that commits at the same moment come first or wait for
 * this statement: it cannot miss a session that is made at that moment.
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
