/** The kinds of records that have an identifier. */
import type { Ulid } from '#platform/base/ids.ts';

export type UserId = Ulid<'user'>;
export type BrowserSessionId = Ulid<'browser-session'>;
export type RegistrationId = Ulid<'registration'>;
export type RecoverySessionId = Ulid<'recovery-session'>;
export type RecoveryTicketId = Ulid<'recovery-ticket'>;
export type ClientId = Ulid<'client'>;
export type AuthorizationGrantId = Ulid<'authorization-grant'>;
export type DeviceCodeGrantId = Ulid<'device-code-grant'>;
export type UpstreamProviderId = Ulid<'upstream-provider'>;
export type UpstreamLinkId = Ulid<'upstream-link'>;
export type UpstreamAuthorizationId = Ulid<'upstream-authorization'>;
export type OAuth2SessionId = Ulid<'oauth2-session'>;
export type CompatSessionId = Ulid<'compat-session'>;
export type CompatSsoLoginId = Ulid<'compat-sso-login'>;
export type PasskeyId = Ulid<'passkey'>;
export type PersonalSessionId = Ulid<'personal-session'>;
export type ConsentId = Ulid<'consent'>;
export type PendingLoginId = Ulid<'pending-login'>;
export type AuditEventId = Ulid<'audit-event'>;
export type DataExportId = Ulid<'data-export'>;
export type GroupId = Ulid<'group'>;
export type TotpEnrolmentId = Ulid<'totp-enrolment'>;
