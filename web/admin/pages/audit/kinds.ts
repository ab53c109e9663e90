import type { AdminKey } from '../../i18n/translations.ts';

/** Kinds of audit events, as the API names them, with their texts. A test compares them with those that the server records. */
export const TEXTS = {
  account_deactivated: 'admin.event.account_deactivated',
  account_locked: 'admin.event.account_locked',
  account_reactivated: 'admin.event.account_reactivated',
  account_unlocked: 'admin.event.account_unlocked',
  admin_action: 'admin.event.admin_action',
  admin_granted: 'admin.event.admin_granted',
  admin_revoked: 'admin.event.admin_revoked',
  app_access_lost: 'admin.event.app_access_lost',
  application_revoked: 'admin.event.application_revoked',
  claims_changed: 'admin.event.claims_changed',
  consent_given: 'admin.event.consent_given',
  consent_revoked: 'admin.event.consent_revoked',
  cross_signing_reset_allowed: 'admin.event.cross_signing_reset_allowed',
  data_exported: 'admin.event.data_exported',
  display_name_changed: 'admin.event.display_name_changed',
  email_added: 'admin.event.email_added',
  email_removed: 'admin.event.email_removed',
  groups_changed: 'admin.event.groups_changed',
  login: 'admin.event.login',
  login_failed: 'admin.event.login_failed',
  logout: 'admin.event.logout',
  passkey_added: 'admin.event.passkey_added',
  passkey_removed: 'admin.event.passkey_removed',
  password_changed: 'admin.event.password_changed',
  password_recovered: 'admin.event.password_recovered',
  primary_email_changed: 'admin.event.primary_email_changed',
  reauthenticated: 'admin.event.reauthenticated',
  recovery_code_used: 'admin.event.recovery_code_used',
  recovery_codes_generated: 'admin.event.recovery_codes_generated',
  recovery_started: 'admin.event.recovery_started',
  registered: 'admin.event.registered',
  session_ended: 'admin.event.session_ended',
  session_started: 'admin.event.session_started',
  sessions_ended: 'admin.event.sessions_ended',
  totp_added: 'admin.event.totp_added',
  totp_removed: 'admin.event.totp_removed',
  upstream_linked: 'admin.event.upstream_linked',
  upstream_unlinked: 'admin.event.upstream_unlinked',
} as const satisfies Readonly<Record<string, AdminKey>>;

type Kind = keyof typeof TEXTS;

export const KINDS = Object.keys(TEXTS).filter(isKind);

/** Returns the text of a kind; undefined for one of another version of the server. */
export function eventText(kind: string): AdminKey | undefined {
  return isKind(kind) ? TEXTS[kind] : undefined;
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(TEXTS, kind);
}
