/**
 * Returns an SQL condition: the login was not completed and has not expired. It does not check whether the first factor
 * is still valid, see `firstFactorStands`.
 * @param login alias of `user_pending_logins`
 * @param now the parameter that holds the process clock
 */
export function pendingLoginIsOpen(login: string, now: string): string {
  return `(${login}.completed_at is null and ${login}.expires_at > ${now})`;
}

/**
 * Returns an SQL condition: the first factor is still valid. The verified password is the current one, or the upstream
 * identity is linked to the account, see `identityStands`.
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
 * Returns an SQL condition: the identity belongs to the account, or to no account yet if the login is going to link it.
 * @param link alias of `upstream_links`
 * @param login rows with `user_id` and `link_on_completion` of the login
 */
export function identityStands(link: string, login: string): string {
  return `(${link}.user_id = ${login}.user_id
    or ${link}.user_id is null and ${login}.link_on_completion is not null)`;
}

/**
 * Returns the ID of an account's password, or null.
 * @param user SQL expression of the account
 */
export function passwordOf(user: string): string {
  return `(select p.id from user_passwords p where p.user_id = ${user})`;
}

/**
 * Returns an SQL condition: this browser is trusted and needs no code. The trust has not expired, and the password, the
 * app and the recovery codes are unchanged since. The latter matter because somebody may have used a recovery code to
 * have a browser trusted. Expects `:trustedNonceHash` and `:now`.
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
