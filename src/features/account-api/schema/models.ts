/** The models behind the objects of the schema. The files of the types define their fields. */
import type { EmailAuthenticationId } from '#domain/accounts/email-authentications/email-authentication.ts';
import type { UserEmail as StoredUserEmail } from '#domain/accounts/list-user-emails.ts';
import type { Authentication } from '#domain/browser-sessions/last-authentications.ts';
import type { ListedBrowserSession } from '#domain/browser-sessions/list-browser-sessions.ts';
import type { ClientPresentation } from '#domain/clients/client-presentations.ts';
import type { ListedConsent } from '#domain/clients/list-consents.ts';
import type { ListedSsoLogin } from '#domain/compat-sessions/sso-logins/list-sso-logins.ts';
import type {
  ListedAppSession,
  ListedCompatSession,
  ListedOAuth2Session,
} from '#domain/oauth-sessions/list-app-sessions.ts';
import type { ConnectedClient } from '#domain/oauth-sessions/list-connected-applications.ts';
import type { Passkey as StoredPasskey } from '#domain/passkeys/passkey.ts';
import type { TotpEnrolment as BegunTotpEnrolment } from '#domain/second-factors/find-one-time-codes.ts';
import type { ListedLink } from '#domain/upstream/list-links.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import type { UpstreamProviderId, UserId } from '#vocabulary/ids.ts';
import { builder } from './builder.ts';

export interface UserModel {
  readonly type: 'User';
  readonly id: UserId;
  readonly username: string;
}
export interface UserEmailModel extends StoredUserEmail {
  readonly type: 'UserEmail';
}
/** Times in milliseconds since the epoch. */
export interface UserEmailAuthenticationModel {
  readonly type: 'UserEmailAuthentication';
  readonly id: EmailAuthenticationId;
  readonly email: string;
  readonly createdAt: number;
  readonly completedAt: number | undefined;
}
export interface AnonymousModel {
  readonly type: 'Anonymous';
}
export interface SiteConfigModel {
  readonly type: 'SiteConfig';
}
export interface BrowserSessionModel extends Pick<ListedBrowserSession, 'id' | 'userId' | 'createdAt'> {
  readonly type: 'BrowserSession';
  /** Undefined for the session that sends the request. Its other data is read when a field needs it. */
  readonly listed: ListedBrowserSession | undefined;
}
export interface AuthenticationModel extends Authentication {
  readonly type: 'Authentication';
}

export interface Oauth2ClientModel extends ClientPresentation {
  readonly type: 'Oauth2Client';
}
export interface Oauth2SessionModel extends ListedOAuth2Session {
  readonly type: 'Oauth2Session';
}
export interface CompatSessionModel extends ListedCompatSession {
  readonly type: 'CompatSession';
}
export type AppSessionModel = Oauth2SessionModel | CompatSessionModel;

export interface SsoLoginModel extends ListedSsoLogin {
  readonly type: 'CompatSsoLogin';
}
export interface UpstreamProviderModel {
  readonly type: 'UpstreamOAuth2Provider';
  readonly id: UpstreamProviderId;
  readonly createdAt: number;
  readonly provider: UpstreamProvider;
}
export interface ConnectedApplicationModel extends ConnectedClient {
  readonly type: 'ConnectedApplication';
}
export interface ConsentModel extends ListedConsent {
  readonly type: 'Consent';
}
export interface UpstreamLinkModel extends ListedLink {
  readonly type: 'UpstreamOAuth2Link';
}

export interface TotpEnrolmentModel extends BegunTotpEnrolment {
  readonly type: 'TotpEnrolment';
}
export interface PasskeyModel extends StoredPasskey {
  readonly type: 'Passkey';
}

export const User = builder.objectRef<UserModel>('User');
export const UserEmail = builder.objectRef<UserEmailModel>('UserEmail');
export const UserEmailAuthentication = builder.objectRef<UserEmailAuthenticationModel>('UserEmailAuthentication');
export const Anonymous = builder.objectRef<AnonymousModel>('Anonymous');
export const BrowserSession = builder.objectRef<BrowserSessionModel>('BrowserSession');
export const AuthenticationType = builder.objectRef<AuthenticationModel>('Authentication');

export const Oauth2Client = builder.objectRef<Oauth2ClientModel>('Oauth2Client');
export const Oauth2Session = builder.objectRef<Oauth2SessionModel>('Oauth2Session');
export const CompatSession = builder.objectRef<CompatSessionModel>('CompatSession');
export const CompatSsoLogin = builder.objectRef<SsoLoginModel>('CompatSsoLogin');

export const ConnectedApplication = builder.objectRef<ConnectedApplicationModel>('ConnectedApplication');
export const Consent = builder.objectRef<ConsentModel>('Consent');

export const UpstreamOAuth2Provider = builder.objectRef<UpstreamProviderModel>('UpstreamOAuth2Provider');
export const UpstreamOAuth2Link = builder.objectRef<UpstreamLinkModel>('UpstreamOAuth2Link');
export const TotpEnrolment = builder.objectRef<TotpEnrolmentModel>('TotpEnrolment');
export const Passkey = builder.objectRef<PasskeyModel>('Passkey');

export const ANONYMOUS: AnonymousModel = { type: 'Anonymous' };
export const SITE_CONFIG: SiteConfigModel = { type: 'SiteConfig' };

export function userModel({ id, username }: { readonly id: UserId; readonly username: string }): UserModel {
  return { type: 'User', id, username };
}

export function userEmailModel(email: StoredUserEmail): UserEmailModel {
  return { type: 'UserEmail', ...email };
}

export function userEmailAuthenticationModel({
  id,
  email,
  createdAt,
  completedAt,
}: Omit<UserEmailAuthenticationModel, 'type'>): UserEmailAuthenticationModel {
  return { type: 'UserEmailAuthentication', id, email, createdAt, completedAt };
}

export function browserSessionModel(session: ListedBrowserSession): BrowserSessionModel {
  const { id, userId, createdAt } = session;
  return { type: 'BrowserSession', id, userId, createdAt, listed: session };
}

export function appSessionModel(session: ListedAppSession): AppSessionModel {
  return session.kind === 'oauth2' ? { type: 'Oauth2Session', ...session } : { type: 'CompatSession', ...session };
}

export function clientModel(client: ClientPresentation): Oauth2ClientModel {
  return { type: 'Oauth2Client', ...client };
}

export function ssoLoginModel(login: ListedSsoLogin): SsoLoginModel {
  return { type: 'CompatSsoLogin', ...login };
}

export function linkModel(link: ListedLink): UpstreamLinkModel {
  return { type: 'UpstreamOAuth2Link', ...link };
}

export function passkeyModel(passkey: StoredPasskey): PasskeyModel {
  return { type: 'Passkey', ...passkey };
}

export function connectedApplicationModel(client: ConnectedClient): ConnectedApplicationModel {
  return { type: 'ConnectedApplication', ...client };
}

export function consentModel(consent: ListedConsent): ConsentModel {
  return { type: 'Consent', ...consent };
}
