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

/** Operations of the admin API. Those of commands and of the account API show their names. */
const OPERATIONS: Readonly<Record<string, AdminKey>> = {
  checkUpstreamOAuthProvider: 'admin.action.provider_checked',
  validatePolicyData: 'admin.action.policy_checked',
  addGroupUser: 'admin.action.member_added',
  addGroupUsers: 'admin.action.member_added',
  addUpstreamOAuthLink: 'admin.event.upstream_linked',
  addUserEmail: 'admin.event.email_added',
  addUserRegistrationToken: 'admin.action.invitation_created',
  bulkFinishSessions: 'admin.event.sessions_ended',
  bulkUsers: 'admin.action.accounts_changed',
  cancelJob: 'admin.action.job_canceled',
  createGroup: 'admin.action.group_created',
  createOAuth2Client: 'admin.action.app_created',
  createPersonalSession: 'admin.action.token_created',
  createRecoveryLink: 'admin.event.recovery_started',
  createUser: 'admin.event.registered',
  deactivateUser: 'admin.event.account_deactivated',
  deleteGroup: 'admin.action.group_deleted',
  deleteOAuth2Client: 'admin.action.app_deleted',
  deleteUpstreamOAuthLink: 'admin.event.upstream_unlinked',
  deleteUserEmail: 'admin.event.email_removed',
  disableOAuth2Client: 'admin.action.app_disabled',
  enableOAuth2Client: 'admin.action.app_enabled',
  exportAuditEvents: 'admin.action.events_exported',
  exportUserData: 'admin.event.data_exported',
  finishCompatSession: 'admin.event.session_ended',
  finishOAuth2Session: 'admin.event.session_ended',
  finishUserSession: 'admin.event.session_ended',
  killUserSessions: 'admin.event.sessions_ended',
  lockUser: 'admin.event.account_locked',
  reactivateUser: 'admin.event.account_reactivated',
  regeneratePersonalSession: 'admin.action.token_replaced',
  removeGroupUser: 'admin.action.member_removed',
  removeUserPasskey: 'admin.event.passkey_removed',
  retryJob: 'admin.action.job_retried',
  revokePersonalSession: 'admin.action.token_revoked',
  revokeUserRegistrationToken: 'admin.action.invitation_revoked',
  rotateOAuth2ClientSecret: 'admin.action.app_secret',
  sendUserRegistrationToken: 'admin.action.invitation_sent',
  setPolicyData: 'admin.action.policy_changed',
  setUserClaims: 'admin.event.claims_changed',
  setUserGroups: 'admin.event.groups_changed',
  setUserPassword: 'admin.event.password_changed',
  testOAuth2Client: 'admin.action.app_tested',
  unlockUser: 'admin.event.account_unlocked',
  unrevokeUserRegistrationToken: 'admin.action.invitation_restored',
  updateGroup: 'admin.action.group_changed',
  updateOAuth2Client: 'admin.action.app_changed',
  updateUserRegistrationToken: 'admin.action.invitation_changed',
  userRemoveSecondFactors: 'admin.event.totp_removed',
  userSetAdmin: 'admin.action.admin_right',
};

/** Returns the text of an operation; undefined if it has none. */
export function operationText(operation: string): AdminKey | undefined {
  return OPERATIONS[operation];
}
