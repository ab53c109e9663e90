import { type AcceptedPasswordParams, acceptedPasswordCtes } from '#domain/accounts/passwords/accepted-password.ts';
import type { UserRow } from '#domain/accounts/user.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { statement } from '#platform/postgres/statement.ts';
import { browserSessionIsLive } from '../liveness.ts';

/** The account as it is now; no row when its password was changed since it was checked. */
export type RenewedAuthenticationRow = UserRow & {
  /** False when the session has ended, or its user may not use it. */
  readonly is_renewed: boolean;
  /** False when another request gave the session a new key meanwhile: that one reaches the browser. */
  readonly is_rotated: boolean;
};

/** A fresh authentication on a session whose user gave the right password again; its key is replaced. */
export const renewAuthentication = statement<
  RenewedAuthenticationRow,
  AcceptedPasswordParams & {
    readonly sessionId: string;
    readonly keyHash: Buffer;
    readonly newKeyHash: Buffer;
    readonly userAgent: string | null;
    readonly ip: string | null;
    readonly authenticationId: string;
    readonly auditEventId: string;
    readonly acr: string;
    readonly amr: readonly string[];
  }
>(
  'renew-authentication',
  `with ${acceptedPasswordCtes},
  renewed as (
    update user_sessions s set
      authenticated_at = :now::timestamptz,
      acr = :acr::text,
      amr = :amr::text[],
      failed_reauths = 0,
      key_hash = case when s.key_hash = :keyHash::bytea then :newKeyHash::bytea else s.key_hash end,
      previous_key_hash = case when s.key_hash = :keyHash::bytea then s.key_hash else s.previous_key_hash end,
      key_rotated_at = case when s.key_hash = :keyHash::bytea then :now::timestamptz else s.key_rotated_at end
    from proven
    where s.id = :sessionId::uuid and s.user_id = proven.user_id and ${browserSessionIsLive('s')}
    returning s.id, s.user_id, s.key_hash = :newKeyHash::bytea as is_rotated
  ),
  authenticated as (
    insert into user_session_authentications (id, user_session_id, kind, created_at)
    select :authenticationId::uuid, renewed.id, 'password', :now::timestamptz from renewed
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'reauthenticated', renewed.user_id, null, renewed.id, :ip::inet, :userAgent::text, null, :now::timestamptz
    from renewed
  )
  select account.user_id, account.username, account.display_name, account.locale, account.can_request_admin,
    account.is_locked, account.is_deactivated,
    exists (select from renewed) as is_renewed,
    exists (select from renewed where renewed.is_rotated) as is_rotated
  from account`,
);
