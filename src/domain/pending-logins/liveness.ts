/**
 * It waits for another factor: nobody has completed it, and its time is not over. Whether the first factor still lets
 * the person in is judged apart, see `firstFactorStands`. A condition for statements.
 * @param login alias of `user_pending_logins`; @param now the parameter that holds the process clock
 */
export function pendingLoginIsOpen(login: string, now: string): string {
  return `(${login}.completed_at is null and ${login}.expires_at > ${now})`;
}

/**
 * What the person began with still lets them in: the password that was right is the account's, or the identity at the
 * other service is linked to it, see `identityStands`. A condition for statements.
 * @param login alias of `user_pending_logins`
 */
export function firstFactorStands(login: string): string {
  return `case ${login}.first_factor
      when 'password' then exists (
        select from user_passwords held where held.user_id = ${login}.user_id and held.id = ${login}.password_id
      )
      else exists (
        select from upstream_authorizations used join upstream_links link on link.id = used.link_id
         where used.id = ${login}.upstream_authorization_id and ${identityStands('link', login)}
      )
    end`;
}

/**
 * The identity is the account's, or nobody's yet where the login is to link it. A condition for statements.
 * @param link alias of `upstream_links`; @param login of rows with `user_id` and `link_on_completion` of the login
 */
export function identityStands(link: string, login: string): string {
  return `(${link}.user_id = ${login}.user_id
    or ${link}.user_id is null and ${login}.link_on_completion is not null)`;
}

/** The password that an account has, null for none. @param user SQL expression of the account */
export function passwordOf(user: string): string {
  return `(select p.id from user_passwords p where p.user_id = ${user})`;
}

/**
 * Nobody is asked for a code in this browser: its trust is not over, and neither the password nor the app is another
 * one since, nor are the recovery codes: somebody may have seen one, and have had a browser trusted with it. A condition for statements with `:trustedNonceHash` and `:now`.
 * @param user SQL expression of an account that has one-time codes
 */
export function browserIsTrusted(user: string): string {
  return `exists (
    select from user_trusted_browsers trusted
      join user_totp_secrets enrolled on enrolled.user_id = trusted.user_id
     where trusted.user_id = ${user} and trusted.nonce_hash = :trustedNonceHash::bytea
       and trusted.expires_at > :now::timestamptz
       and trusted.password_id is not distinct from ${passwordOf('trusted.user_id')}
       and trusted.created_at >= enrolled.created_at
       and not exists (
         select from user_recovery_codes newer
          where newer.user_id = trusted.user_id and newer.created_at > trusted.created_at
       )
  )`;
}
