import { identityStands, pendingLoginIsOpen } from '#domain/records/liveness/pending-logins.ts';
import { userColumns } from '#domain/records/user.ts';

/** Parameters of `COMPLETED_LOGIN_CTES`. */
export interface CompletedLoginParams {
  readonly now: Date;
  readonly pendingId: string;
}

/**
 * CTEs for a statement that completes a pending login, once. `account` (columns of `userColumns`) is empty if the login
 * is no longer open or its first factor was removed. `completed(user_id, user_session_id)` is the login, unless the
 * account is locked or deactivated.
 *
 * Because of the row locks, a concurrent password change, account lock or unlinking either commits first or waits. None
 * of these can miss a session created at the same time.
 */
export const COMPLETED_LOGIN_CTES = `pending as (
    select l.id, l.user_id, l.password_id, l.upstream_authorization_id, l.link_on_completion from user_pending_logins l
     where l.id = :pendingId::uuid and ${pendingLoginIsOpen('l', ':now::timestamptz')}
       for update of l
  ),
  held_password as (
    select p.id from pending join user_passwords p on p.user_id = pending.user_id and p.id = pending.password_id
       for share of p
  ),
  held_link as (
    select link.id
      from pending join upstream_authorizations used on used.id = pending.upstream_authorization_id
      join upstream_links link on link.id = used.link_id and ${identityStands('link', 'pending')}
       for share of link
  ),
  account as (
    select ${userColumns('u')} from pending join users u on u.id = pending.user_id
     where exists (select from held_password) or exists (select from held_link)
       for share of u
  ),
  completed as (
    update user_pending_logins l set completed_at = :now::timestamptz, setup_sealed = null
      from account
     where l.id = :pendingId::uuid and not account.is_locked and not account.is_deactivated
    returning l.user_id, l.user_session_id
  )`;
