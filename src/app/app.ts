/**
 * Composition: configuration and open resources in, the visible list of features out. Builds and never listens, so
 * that tests and `serve` put the same service together.
 */

import { assetPaths } from '#browser/assets.ts';
import { brandOf } from '#browser/brand.ts';
import { Csrf } from '#browser/csrf.ts';
import { Interstitials } from '#browser/interstitials.tsx';
import { Pages } from '#browser/pages.ts';
import { loadTranslations } from '#browser/translations.ts';
import { Urls } from '#browser/urls.ts';
import { Viewers } from '#browser/viewer.ts';
import type { Config } from '#config/config.ts';
import { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { RequesterPolicy } from '#domain/accounts/registrations/requester-policy.ts';
import { foldUsername } from '#domain/accounts/username.ts';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { AdminRights } from '#domain/oauth-sessions/admin-rights.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { mount as mountAuthorization } from '#features/authorization/routes.ts';
import { mount as mountDiscovery } from '#features/discovery/routes.ts';
import { mount as mountIndexPage } from '#features/index-page/routes.tsx';
import { mount as mountIntrospection } from '#features/introspection/routes.ts';
import { mount as mountLogin } from '#features/login/routes.tsx';
import { mount as mountLogout } from '#features/logout/routes.tsx';
import type { AssetFiles } from '#features/operations/asset-files.ts';
import type { InstanceState } from '#features/operations/instance-state.ts';
import { mount as mountOperations } from '#features/operations/routes.ts';
import { mount as mountReauth } from '#features/reauth/routes.tsx';
import { mount as mountRegistration } from '#features/registration/routes.ts';
import { mount as mountRevocation } from '#features/revocation/routes.ts';
import { mount as mountToken } from '#features/token/routes.ts';
import { mount as mountUserinfo } from '#features/userinfo/routes.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Cookies } from '#platform/http/cookies.ts';
import type { EventLoopLag } from '#platform/http/event-loop-lag.ts';
import type { Route } from '#platform/http/route.ts';
import { createHttpServer, type HttpServer } from '#platform/http/server.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import { createErrorFormats } from './error-formats.ts';

export interface AppDeps {
  readonly config: Config;
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly log: LogWriter;
  readonly keyRing: KeyRing;
  readonly signingKeys: SigningKeys;
  readonly hasher: PasswordHasher;
  readonly estimator: StrengthEstimator;
  readonly lag: Pick<EventLoopLag, 'isLagging' | 'isStalled'>;
  readonly assets: AssetFiles;
  /** What this instance knows of itself that keeps it from being ready. */
  readonly state: Pick<InstanceState, 'checks'>;
  /** Of the program. */
  readonly version: string;
}

export interface App {
  readonly server: HttpServer;
  /** Everything that the server mounts. */
  readonly routes: readonly Route[];
  /** Writes last-seen times in the background until `stop` writes the rest. */
  readonly activity: ActivityBuffer;
}

export function buildApp(deps: AppDeps): App {
  const { config, database, clock, log, keyRing, signingKeys } = deps;
  const urls = new Urls(config.http.publicBase);
  const catalog = loadTranslations();
  const { serviceName, policyUri, tosUri, imprint } = config.branding;
  const brand = brandOf(config.branding);
  const assets = deps.assets.with(Object.values(brand).filter((file) => file !== undefined));
  const site = {
    serviceName,
    brand,
    template: config.templates.page,
    policyUri,
    tosUri,
    imprint,
    indexPath: urls.index(),
    ...assetPaths(urls.basePath, assets.publishedNames),
  };
  const pages = new Pages({ site, catalog, defaultLanguage: config.i18n.defaultLanguage });
  const csrf = new Csrf({ urls, clock });
  const activity = new ActivityBuffer(database, log);
  const limits = { idleSeconds: undefined, lifetimeSeconds: undefined };
  const viewers = new Viewers({ database, clock, limits, activity });
  const interstitials = new Interstitials({ pages, csrf, urls });
  const clients = new ClientDirectory(database, keyRing, clock);
  const { issuer } = config.http;
  const { protocolName } = config;
  const scopeRules = new ScopeRules(protocolName);
  const authentication = new ClientAuthentication({
    clients,
    database,
    clock,
    log,
    limiter: config.rateLimiting.clientAuthentication.perClient,
    issuer,
    origin: urls.origin,
  });
  const checks = new PasswordChecks({
    database,
    hasher: deps.hasher,
    clock,
    log,
    keyRing,
    limits: config.rateLimiting.login,
    maximumBytes: config.passwords.maximumLength,
  });
  const adminUsers = new Set(config.policy.data.adminUsers);
  const settings = {
    accessTokenTtlSeconds: config.experimental.accessTokenTtlSeconds,
    authorizationCodeTtlSeconds: config.oauth.authorizationCodeTtlSeconds,
    refreshGraceSeconds: config.oauth.refreshGraceSeconds,
    sessionMaxLifetimeSeconds: config.oauth.sessionMaxLifetimeSeconds,
  };
  const isRegistrationOpen = config.passwords.enabled && config.account.passwordRegistrationEnabled;
  const browser = { urls, pages, csrf, viewers, interstitials, protocolName, serviceName };
  const adminClients = new Set(config.policy.data.adminClients);
  const adminRights = new AdminRights({ scopeRules, users: adminUsers, clients: adminClients });
  const tokens = { adminRights, authentication, database, clock, log, activity, scopeRules, settings, issuer };

  const routes: Route[] = [
    ...mountDiscovery({
      urls,
      issuer,
      protocolName,
      signingKeys,
      languages: catalog.languages,
      policyUri,
      tosUri,
      serviceDocumentation: config.oauth.serviceDocumentation,
      isRegistrationOpen,
    }),
    ...mountIndexPage({
      ...browser,
      redirect: config.index.redirect,
      showsTechnicalInfo: config.branding.showTechnicalInfo,
      isRegistrationOpen,
    }),
    ...mountLogin({
      ...browser,
      database,
      clock,
      clients,
      signIn: {
        database,
        clock,
        log,
        checks,
        loginNames: {
          serverName: config.homeserver.homeserver,
          isEmailAllowed: config.account.loginWithEmailAllowed,
        },
      },
      loginMessage: config.branding.loginMessage,
      arePasswordsEnabled: config.passwords.enabled,
      isRegistrationOpen,
    }),
    ...mountLogout({ ...browser, database, clock }),
    ...mountReauth({ ...browser, database, clock, log, checks, arePasswordsEnabled: config.passwords.enabled }),
    ...mountRegistration({
      ...browser,
      database,
      clock,
      log,
      clients,
      hasher: deps.hasher,
      estimator: deps.estimator,
      limits: config.rateLimiting,
      namePolicy: {
        serverName: config.homeserver.homeserver,
        ...config.policy.data.registration,
        reservedUsernames: new Set(config.policy.data.adminUsers.map(foldUsername)),
      },
      requesterPolicy: new RequesterPolicy(config.policy.data.requester),
      passwordRules: config.passwords,
      tosUri,
      isOpen: isRegistrationOpen,
      ttlSeconds: config.account.registrationTtlSeconds,
    }),
    ...mountAuthorization({
      ...browser,
      database,
      clock,
      log,
      clients,
      keyRing,
      scopeRules,
      issuer,
      signingKeys,
      adminUsers,
      languages: catalog.languages,
      serverName: config.homeserver.homeserver,
      rememberConsent: config.oauth.rememberConsent,
      isRegistrationOpen,
      grantTtlSeconds: config.oauth.authorizationGrantTtlSeconds,
      reauthMaxAgeSeconds: config.account.reauthMaxAgeSeconds,
    }),
    ...mountToken({
      ...tokens,
      signingKeys,
      idTokenTtlSeconds: config.oauth.idTokenTtlSeconds,
      rotationKeys: keyRing.deriveAll('refresh-rotation'),
    }),
    ...mountIntrospection({
      ...tokens,
      signingKeys,
      homeserverSecret: config.homeserver.secret,
      callers: config.oauth.introspectionCallers,
    }),
    ...mountRevocation({ authentication, database, clock }),
    ...mountUserinfo({ database, clock, activity, issuer, adminRights }),
    ...mountOperations({
      assets,
      icon: brand.icon?.name ?? 'favicon.svg',
      health: {
        version: deps.version,
        lag: deps.lag,
        checks: {
          ...deps.state.checks,
          overloaded: () => !server.isOverloaded,
          database: async () => {
            await database.ping();
            return true;
          },
        },
      },
    }),
  ];
  const server: HttpServer = createHttpServer({
    routes,
    http: config.http,
    limits: config.limits,
    address: urls,
    protocolName,
    log,
    cookies: new Cookies({ keys: keyRing, address: urls, log }),
    errorFormats: createErrorFormats({ issuer, pages, urls }),
    lag: deps.lag,
  });
  return { server, routes, activity };
}
