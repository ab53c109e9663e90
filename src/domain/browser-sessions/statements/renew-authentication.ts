import { statement } from '#db/statement.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit-events/audit-event.ts';
import { type AcceptedPasswordParams, acceptedPasswordCtes } from '#domain/passwords/accepted-password.ts';
import type { UserRow } from '#domain/users/user-row.ts';

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
  [
    ...AcceptedPasswordParams,
    sessionId: string,
    keyHash: Buffer,
    newKeyHash: Buffer,
    userAgent: string | null,
    ip: string | null,
    authenticationId: string,
    auditEventId: string,
    acr: string,
    amr: readonly string[],
  ]
>(
  'renew-authentication',
  `with ${acceptedPasswordCtes},
  renewed as (
    update user_sessions s set
      authenticated_at = $1::timestamptz,
      acr = $16::text,
      amr = $17::text[],
      failed_reauths = 0,
      key_hash = case when s.key_hash = $10::bytea then $11::bytea else s.key_hash end,
      previous_key_hash = case when s.key_hash = $10::bytea then s.key_hash else s.previous_key_hash end,
      key_rotated_at = case when s.key_hash = $10::bytea then $1::timestamptz else s.key_rotated_at end
    from proven
    where s.id = $9::uuid and s.user_id = proven.user_id and s.finished_at is null
    returning s.id, s.user_id, s.key_hash = $11::bytea as is_rotated
  ),
  authenticated as (
    insert into user_session_authentications (id, user_session_id, kind, created_at)
    select $14::uuid, renewed.id, 'password', $1::timestamptz from renewed
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select $15::uuid, 'reauthenticated', renewed.user_id, null, renewed.id, $13::inet, $12::text, null, $1::timestamptz
    from renewed
  )
  select account.user_id, account.username, account.display_name, account.locale, account.can_request_admin,
    account.is_locked, account.is_deactivated,
    exists (select from renewed) as is_renewed,
    exists (select from renewed where renewed.is_rotated) as is_rotated
  from account`,
);
