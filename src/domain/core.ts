/**
 * The shared services of the application. `createCore` is the only place that assembles them; `serve`, the tests and
 * the tools all use it. Domain modules never import this file. An operation declares the few services that it needs,
 * and accepts any object that has them.
 */
import type { Config } from '#config/config.ts';
import { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import { LeakedPasswords } from '#domain/accounts/passwords/leaked-passwords.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import type { SessionLimits } from '#domain/browser-sessions/viewer.ts';
import { Captcha } from '#domain/captcha/captcha.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { ClientFailures } from '#domain/clients/client-failures.ts';
import { ClientKeys } from '#domain/clients/client-keys.ts';
import { Subjects } from '#domain/clients/subjects.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { PublishedKeys } from '#domain/keys/published-keys.ts';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import { relyingPartyOf } from '#domain/passkeys/relying-party.ts';
import { LivePolicy } from '#domain/policy/live-policy.ts';
import { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { PolicyModule } from '#domain/policy/module/policy-module.ts';
import { RequesterPolicy } from '#domain/policy/requester-policy.ts';
import { AdminRights } from '#domain/records/admin-rights.ts';
import { type SecondFactorRules, secondFactorRulesOf } from '#domain/records/due-factor.ts';
import { SessionLimit } from '#domain/records/session-limit.ts';
import type { EnabledMethods } from '#domain/upstream/login-methods.ts';
import { UpstreamMetadata } from '#domain/upstream/provider-metadata.ts';
import { ConfiguredRegistrationMethods } from '#domain/upstream/registration-methods.ts';
import { UpstreamProviders } from '#domain/upstream/upstream-providers.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { MetricsPage } from '#platform/base/metrics.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Tracing } from '#platform/base/tracing.ts';
import type { EventLoopLag } from '#platform/http/overload.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';
import type { InstanceState } from './instance-state.ts';

/** Resources that are opened before the service starts and closed after it has stopped. */
export interface Resources {
  readonly config: Config;
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly log: LogWriter;
  readonly keyRing: KeyRing;
  readonly signingKeys: SigningKeys;
  readonly secretKeys: SecretKeys;
  readonly hasher: PasswordHasher;
  readonly estimator: StrengthEstimator;
  readonly lag: Pick<EventLoopLag, 'isLagging' | 'isStalled'>;
  readonly instance: InstanceState;
  /** HTTP requests to URLs provided by clients. */
  readonly outbound: OutboundHttp;
  /** Undefined unless metrics are scraped (`telemetry.metrics.exporter`). */
  readonly metricsPage?: MetricsPage | undefined;
  readonly tracing: Tracing;
  /** The operator's policy module (`policy.module`). */
  readonly policyModule?: PolicyModule | undefined;
  /** Version of Latchkey. */
  readonly version: string;
}

export interface Core extends Resources {
  readonly clients: ClientDirectory;
  readonly subjects: Subjects;
  readonly clientFailures: ClientFailures;
  readonly publishedKeys: PublishedKeys;
  readonly clientKeys: ClientKeys;
  readonly passwordChecks: PasswordChecks;
  readonly secondFactors: SecondFactorRules;
  /** Writes last-seen times in the background, between `start` and `stop`. */
  readonly activity: ActivityBuffer;
  readonly sessionLimits: SessionLimits;
  readonly scopeRules: ScopeRules;
  readonly resourceRules: ResourceRules;
  readonly adminRights: AdminRights;
  /** Current policy data, refreshed in the background between `start` and `stop`. */
  readonly policy: LivePolicy;
  /** Usernames that may request admin scopes, in addition to accounts with that right. */
  readonly adminUsers: LivePolicy['adminUsers'];
  readonly moduleRules: ModuleRules;
  readonly leakedPasswords: LeakedPasswords;
  readonly requesterPolicy: RequesterPolicy;
  readonly sessionLimit: SessionLimit;
  /** Whether users get security notices about their account by email. */
  readonly sendsNotices: boolean;
  readonly homeserver: Homeserver;
  readonly captcha: Captcha;
  /** The relying party of users' passkeys; undefined: passkeys are disabled. */
  readonly relyingParty: RelyingParty | undefined;
  /** Enabled sign-in methods, apart from upstream providers. */
  readonly enabledMethods: EnabledMethods;
  /** Upstream providers for sign-in. */
  readonly upstreamProviders: UpstreamProviders;
  readonly upstreamMetadata: UpstreamMetadata;
  readonly registrationMethods: ConfiguredRegistrationMethods;
  /** Whether users can register by at least one method. */
  readonly isRegistrationOpen: boolean;
  /** Whether users can reset their password with a link sent by email. */
  readonly isRecoveryOpen: boolean;
}

/** @param before the core that a reload replaces; its unwritten activity is kept */
export function createCore(resources: Resources, before?: Pick<Core, 'activity'>): Core {
  const { config, database, clock, log, keyRing, hasher } = resources;
  const { resources: resourceServers } = config.oauth;
  const resourceScopes = resourceServers.flatMap(({ scopes }) => scopes);
  const scopeRules = new ScopeRules(config.protocolName, resourceScopes);
  const policy = new LivePolicy({ configured: config.policy.data, database, log });
  const moduleRules = new ModuleRules({ module: resources.policyModule, policy, log });
  const publishedKeys = new PublishedKeys(resources);
  const upstreamProviders = new UpstreamProviders(config.upstreamOauth2);
  const relyingParty = relyingPartyOf(config);
  const registrationMethods = new ConfiguredRegistrationMethods(config, upstreamProviders);
  return {
    ...resources,
    clients: new ClientDirectory(database, keyRing, clock),
    subjects: new Subjects(resources.secretKeys),
    clientFailures: new ClientFailures({
      database,
      clock,
      limiter: config.rateLimiting.clientAuthentication.perClient,
      origin: new URL(config.http.publicBase).origin,
    }),
    publishedKeys,
    clientKeys: new ClientKeys(publishedKeys),
    passwordChecks: new PasswordChecks({
      database,
      hasher,
      clock,
      log,
      keyRing,
      limits: config.rateLimiting.login,
      maximumBytes: config.passwords.maximumLength,
      sendsNotices: config.email.securityNotices,
    }),
    secondFactors: secondFactorRulesOf(config, relyingParty !== undefined),
    activity: before?.activity ?? new ActivityBuffer(database, log),
    sessionLimits: { idleSeconds: config.retention.unusedBrowserSessionsSeconds },
    scopeRules,
    resourceRules: new ResourceRules(scopeRules, [config.http.issuer], resourceServers),
    adminRights: new AdminRights({
      scopeRules,
      users: policy.adminUsers,
      clients: policy.adminClients,
    }),
    policy,
    adminUsers: policy.adminUsers,
    moduleRules,
    requesterPolicy: new RequesterPolicy(policy, moduleRules),
    sessionLimit: new SessionLimit(config.experimental.sessionLimit, config.oauth.sessionMaxLifetimeSeconds),
    sendsNotices: config.email.securityNotices,
    homeserver: openHomeserver(resources),
    captcha: new Captcha(resources),
    leakedPasswords: new LeakedPasswords({ ...resources, isAsked: config.passwords.hasBreachCheck }),
    relyingParty,
    enabledMethods: { isPasswordEnabled: config.passwords.enabled, isPasskeyEnabled: relyingParty !== undefined },
    upstreamProviders,
    upstreamMetadata: new UpstreamMetadata(resources),
    registrationMethods,
    isRegistrationOpen: registrationMethods.isAnyOpen,
    isRecoveryOpen: config.passwords.enabled && config.account.passwordRecoveryEnabled,
  };
}
