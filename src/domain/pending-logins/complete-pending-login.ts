import { userColumns } from '#domain/accounts/user.ts';
import { identityStands, pendingLoginIsOpen } from './liveness.ts';

/** Parameters of `COMPLETED_LOGIN_CTES`. */
export interface CompletedLoginParams {
  readonly now: Date;
  readonly pendingId: string;
}

/**
 * CTEs for a statement that gives the person what the pending login was for: `account` (columns of `userColumns`; empty
 * when the login is not open any more, or what it began with was taken away) and `completed(user_id, user_session_id)`,
 * the login, unless the account is locked or deactivated. It is completed once.
 *
 * The locks make a change of the password, a lock of the account or the end of a link that commits at the same moment
 * come first or wait: none can miss a session that is made at that moment.
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
