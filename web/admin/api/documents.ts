/**
 * Documents of the admin API (operations 4.2) under the names that the pages use. Their types are generated from the
 * API description.
 */
import type { Attributes, Bodies, Metas } from './responses.generated.ts';

export interface Resource<Of> {
  readonly id: string;
  readonly attributes: Of;
}

export interface Single<Of> {
  readonly data: Resource<Of>;
}

export interface List<Of> {
  readonly data: readonly Resource<Of>[];
  readonly links: { readonly next?: string; readonly prev?: string };
}

/** The response with `count=only`. */
export interface Count {
  readonly meta: { readonly count: number };
}

export type User = Attributes['listUsers'];
export type UserEmail = Attributes['listUserEmails'];
/** How a user signs in, and what belongs to the account. */
export type UserDetails = Attributes['getUserDetails'];
export type UserClaims = Attributes['getUserClaims'];
export type UserGroups = Attributes['getUserGroups'];
/** The response to a request for a recovery link. */
export type RecoveryLink = Bodies['createRecoveryLink'];
/** A personal access token, without its value. */
export type PersonalSession = Attributes['listPersonalSessions'];
/** A personal access token that was just created. */
export type PersonalToken = Attributes['createPersonalSession'];

export type Group = Attributes['listGroups'];
export type GroupDetails = Attributes['getGroup'];
export type Invitation = Attributes['listUserRegistrationTokens'];

export type UpstreamLink = Attributes['listUpstreamOAuthLinks'];
export type UpstreamProvider = Attributes['listUpstreamOAuthProviders'];

export type Client = Attributes['listOAuth2Clients'];
/** A client with its properties, which have the names of the configuration. */
export type ClientDetails = Attributes['getOAuth2Client'];
export type ClientSecret = ClientDetails['secrets'][number];
/** A client, and its secret if it was just generated. */
export interface WithSecret<Of> extends Single<Of> {
  readonly meta?: Metas['createOAuth2Client'];
}
export type ClientConnection = Attributes['connectOAuth2Client'];
export type ClientPreset = Attributes['listClientPresets'];
export type ClientTest = Attributes['testOAuth2Client'];

type BrowserSession = Attributes['listUserSessions'];
type AppSession = Attributes['listOAuth2Sessions'];
type ChatSession = Attributes['listCompatSessions'];
/** A session of any kind; members that its kind does not have are absent. */
export type Session = Pick<AppSession, keyof BrowserSession> &
  Partial<Omit<AppSession, keyof BrowserSession>> &
  Partial<Omit<ChatSession, keyof BrowserSession>>;

export type AuditEvent = Attributes['listAuditEvents'];
export type StatisticsOverview = Bodies['getStatisticsOverview'];
export type StatisticsSeries = Bodies['getStatisticsSeries'];
export type Job = Attributes['listJobs'];

/** The response of `health-findings`. */
export type HealthFindings = Bodies['listHealthFindings'];

/** The configuration in force. */
export type EffectiveConfiguration = Bodies['getEffectiveConfiguration'];
/** A version of the policy data, without its data. */
export type PolicyVersion = Attributes['listPolicyData'];
export type StoredPolicyData = Attributes['setPolicyData'];
export type PolicyValidation = Bodies['validatePolicyData'];
