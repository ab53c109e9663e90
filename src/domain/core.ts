/**
 * The shared services of the application. `createCore` is the only place that assembles them; `serve`, the tests and
 * the tools all use it. Domain modules never import this file. An operation declares the few services that it needs,
 * and accepts any object that has them.
 */
import type { Config } from '#config/config.ts';
import type { ConfigurationInForce } from '#config/reference/effective.ts';
import { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import { LeakedPasswords } from '#domain/accounts/passwords/leaked-passwords.ts';
import { type PasswordRules, passwordRulesOf } from '#domain/accounts/passwords/password-rules.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import { Captcha } from '#domain/captcha/captcha.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { ClientFailures } from '#domain/clients/client-failures.ts';
import { ClientKeys } from '#domain/clients/client-keys.ts';
import { Subjects } from '#domain/clients/subjects.ts';
import type { Deployment } from '#domain/health/read-health.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { PublishedKeys } from '#domain/keys/published-keys.ts';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import { relyingPartyOf } from '#domain/passkeys/relying-party.ts';
import { LivePolicy } from '#domain/policy/live-policy.ts';
import { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { PolicyModule } from '#domain/policy/module/policy-module.ts';
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
  /** Where the values of `config` come from. */
  readonly configuration: ConfigurationInForce;
  /** Host name and process id, as in the list of processes. */
  readonly processName: string;
  /** The operator's policy module (`policy.module`). */
  readonly policyModule?: PolicyModule | undefined;
  /** Version of Latchkey. */
  readonly version: string;
  /** What the checks of the deployment need to know about this program. */
  readonly deployment: Deployment;
}

/** What all features share, grouped by subject where several members belong together. */
export interface Core
  extends Omit<
    Resources,
    | 'configuration'
    | 'deployment'
    | 'estimator'
    | 'lag'
    | 'metricsPage'
    | 'policyModule'
    | 'processName'
    | 'tracing'
    | 'version'
  > {
  /** What only the operation of this process needs. */
  readonly process: Pick<Resources, 'configuration' | 'deployment' | 'lag' | 'metricsPage' | 'tracing' | 'version'> & {
    readonly name: string;
  };
  readonly clients: ClientDirectory;
  readonly clientAuthentication: { readonly failures: ClientFailures; readonly keys: ClientKeys };
  readonly subjects: Subjects;
  readonly scopeRules: ScopeRules;
  readonly resourceRules: ResourceRules;
  readonly adminRights: AdminRights;
  readonly sessionLimit: SessionLimit;
  readonly passwordChecks: PasswordChecks;
  readonly passwordRules: PasswordRules;
  readonly secondFactors: SecondFactorRules;
  readonly signIn: {
    /** Enabled methods, apart from upstream providers. */
    readonly methods: EnabledMethods;
    /** The relying party of users' passkeys; undefined: passkeys are disabled. */
    readonly relyingParty: RelyingParty | undefined;
  };
  readonly registrationMethods: ConfiguredRegistrationMethods;
  readonly upstream: {
    /** Providers for sign-in. */
    readonly providers: UpstreamProviders;
    readonly metadata: UpstreamMetadata;
    readonly keys: PublishedKeys;
  };
  /** Current policy data, refreshed in the background between `start` and `stop`. */
  readonly policy: LivePolicy;
  readonly moduleRules: ModuleRules;
  /** Writes last-seen times and counters in the background, between `start` and `stop`. */
  readonly activity: ActivityBuffer;
  readonly homeserver: Homeserver;
  readonly captcha: Captcha;
  /** Whether users get security notices about their account by email. */
  readonly sendsNotices: boolean;
}

/** @param before the core that a reload replaces; its unwritten activity is kept */
export function createCore(resources: Resources, before?: Pick<Core, 'activity'>): Core {
  const {
    configuration,
    deployment,
    estimator,
    lag,
    metricsPage,
    policyModule,
    processName,
    tracing,
    version,
    ...shared
  } = resources;
  const { config, database, clock, log, keyRing, hasher } = shared;
  const { resources: resourceServers } = config.oauth;
  const resourceScopes = resourceServers.flatMap(({ scopes }) => scopes);
  const scopeRules = new ScopeRules(config.protocolName, resourceScopes);
  const policy = new LivePolicy({ configured: config.policy.data, database, log });
  const moduleRules = new ModuleRules({ module: policyModule, policy, log });
  const publishedKeys = new PublishedKeys(resources);
  const providers = new UpstreamProviders(config.upstreamOauth2);
  const relyingParty = relyingPartyOf(config);
  const activity = before?.activity ?? new ActivityBuffer(database, log);
  return {
    ...shared,
    process: { configuration, deployment, lag, metricsPage, name: processName, tracing, version },
    clients: new ClientDirectory(database, keyRing, clock),
    clientAuthentication: {
      failures: new ClientFailures({
        database,
        clock,
        limiter: config.rateLimiting.clientAuthentication.perClient,
        origin: new URL(config.http.publicBase).origin,
      }),
      keys: new ClientKeys(publishedKeys),
    },
    subjects: new Subjects(resources.secretKeys),
    scopeRules,
    resourceRules: new ResourceRules(scopeRules, [config.http.issuer], resourceServers),
    adminRights: new AdminRights({ scopeRules, users: policy.adminUsers, clients: policy.adminClients }),
    sessionLimit: new SessionLimit(config.experimental.sessionLimit, config.oauth.sessionMaxLifetimeSeconds),
    passwordChecks: new PasswordChecks({
      database,
      hasher,
      clock,
      log,
      keyRing,
      limits: config.rateLimiting.login,
      counters: activity.counters,
      maximumBytes: config.passwords.maximumLength,
      sendsNotices: config.email.securityNotices,
    }),
    passwordRules: passwordRulesOf(config.passwords, {
      estimator,
      moduleRules,
      leakedPasswords: new LeakedPasswords({ ...shared, isAsked: config.passwords.hasBreachCheck }),
    }),
    secondFactors: secondFactorRulesOf(config, relyingParty !== undefined),
    signIn: {
      methods: { isPasswordEnabled: config.passwords.enabled, isPasskeyEnabled: relyingParty !== undefined },
      relyingParty,
    },
    registrationMethods: new ConfiguredRegistrationMethods(config, providers),
    upstream: { providers, metadata: new UpstreamMetadata({ ...resources, activity }), keys: publishedKeys },
    policy,
    moduleRules,
    activity,
    homeserver: openHomeserver(resources),
    captcha: new Captcha(resources),
    sendsNotices: config.email.securityNotices,
  };
}
