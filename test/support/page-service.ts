import { assetPaths } from '#browser/assets.ts';
import { Csrf } from '#browser/csrf.ts';
import { pageFormat } from '#browser/error-format.tsx';
import { Interstitials } from '#browser/interstitials.tsx';
import { Pages } from '#browser/pages.ts';
import { loadTranslations } from '#browser/translations.ts';
import { Urls } from '#browser/urls.ts';
import { Viewers } from '#browser/viewer.ts';
import type { HttpConfig } from '#config/sections/http.ts';
import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { NamePolicy } from '#domain/accounts/registrations/name-policy.ts';
import { RequesterPolicy } from '#domain/accounts/registrations/requester-policy.ts';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import type { SessionLimits } from '#domain/browser-sessions/viewer.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { mount as mountIndexPage } from '#features/index-page/routes.tsx';
import { mount as mountLogin } from '#features/login/routes.tsx';
import { mount as mountLogout } from '#features/logout/routes.tsx';
import { mount as mountRegistration } from '#features/registration/routes.ts';
import { oauthJsonFormat } from '#oauth-endpoint/error-format.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Cookies } from '#platform/http/cookies.ts';
import { renderPlainJson } from '#platform/http/error-format.ts';
import { createHttpServer } from '#platform/http/server.ts';
import { LogWriter } from '#platform/log/log-writer.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { cheapHasher } from './accounts.ts';
import { Browser } from './browser.ts';
import { FakeClock } from './fake-clock.ts';
import { parseRequestLine, REQUEST_LINE, type RequestLine } from './log-expression.ts';

const AMPLE = { burst: 100_000, perSecond: 1000 };

export interface PageServiceOptions {
  /** That of another service on the same database. */
  readonly clock?: FakeClock;
  readonly publicBase?: string;
  readonly limits?: Partial<RateLimitingConfig['login']>;
  readonly sessionLimits?: SessionLimits;
  readonly hasher?: PasswordHasher;
  readonly arePasswordsEnabled?: boolean;
  readonly isEmailAllowed?: boolean;
  readonly loginMessage?: string;
  readonly indexRedirect?: string;
  /** Lets people register; closed unless given. */
  readonly registration?: RegistrationOptions;
}

export interface RegistrationOptions {
  readonly estimator: StrengthEstimator;
  readonly isOpen?: boolean;
  readonly tosUri?: string;
  readonly namePolicy?: Partial<NamePolicy>;
  readonly requester?: Partial<ConstructorParameters<typeof RequesterPolicy>[0]>;
  readonly limits?: Partial<Pick<RateLimitingConfig, 'registration' | 'registrationCheck'>>;
  readonly ttlSeconds?: number;
}

/** Index, sign-in and sign-out behind a real server, on a port of their own. */
export interface PageService {
  readonly clock: FakeClock;
  readonly keyRing: KeyRing;
  /** A browser at an address of its own, so that tests do not share the bucket of one. */
  browser(options?: { readonly address?: string; readonly acceptLanguage?: string }): Browser;
  /** Lines of the log so far. */
  readonly lines: readonly string[];
  /** The line of the last request. */
  lastRequest(): RequestLine;
  /** Codes of `auth.refused`, in order. */
  refusals(): string[];
  stop(): Promise<void>;
}

const HTTP: Pick<HttpConfig, 'trustedProxies' | 'clientIpHeader' | 'hsts'> = {
  trustedProxies: [{ address: '127.0.0.1', prefixLength: 32, family: 'ipv4' }],
  clientIpHeader: 'x-forwarded-for',
  hsts: true,
};

export async function startPages(database: OpenDatabase, options: PageServiceOptions = {}): Promise<PageService> {
  const clock = options.clock ?? new FakeClock();
  const lines: string[] = [];
  const log = new LogWriter({
    level: 'info',
    targetLevels: {},
    format: 'text',
    padLevel: false,
    hasColor: false,
    clock,
    sink: { write: (line) => lines.push(line.trimEnd()) },
  });
  const urls = new Urls(options.publicBase ?? 'https://auth.example.org/');
  const keyRing = new KeyRing(Buffer.alloc(32, 9));
  const cookies = new Cookies({ keys: keyRing, address: urls, log });
  const csrf = new Csrf({ urls, clock });
  const serviceName = 'example.org';
  const site = { serviceName, indexPath: urls.index(), ...assetPaths(urls.basePath, {}) };
  const pages = new Pages({ site, catalog: loadTranslations(), defaultLanguage: 'en' });
  const interstitials = new Interstitials({ pages, csrf, urls });
  const viewers = new Viewers({
    database,
    clock,
    limits: options.sessionLimits ?? { idleSeconds: undefined, lifetimeSeconds: undefined },
    activity: new ActivityBuffer(database, log),
  });
  const limits = { perIp: AMPLE, perAccount: AMPLE, perKnownBrowser: AMPLE, ...options.limits };
  const hasher = options.hasher ?? cheapHasher();
  const checks = new PasswordChecks({ database, hasher, clock, log, keyRing, limits, maximumBytes: 1024 });
  const loginNames = { serverName: 'example.org', isEmailAllowed: options.isEmailAllowed ?? true };
  const shared = { database, clock, urls, pages, csrf, viewers, interstitials, serviceName, protocolName: 'chat' };
  const clients = new ClientDirectory(database, keyRing, clock);
  const { registration } = options;
  const isRegistrationOpen = registration !== undefined && registration.isOpen !== false;
  const server = createHttpServer({
    routes: [
      ...mountIndexPage({ ...shared, redirect: options.indexRedirect, showsTechnicalInfo: true, isRegistrationOpen }),
      ...mountLogin({
        ...shared,
        clients,
        signIn: { database, clock, log, checks, loginNames },
        loginMessage: options.loginMessage,
        arePasswordsEnabled: options.arePasswordsEnabled ?? true,
        isRegistrationOpen,
      }),
      ...mountLogout(shared),
      ...(registration === undefined
        ? []
        : mountRegistration({
            ...shared,
            log,
            clients,
            hasher,
            estimator: registration.estimator,
            limits: { registration: AMPLE, registrationCheck: AMPLE, ...registration.limits },
            namePolicy: { serverName: 'example.org', ...ANY_NAME, ...registration.namePolicy },
            requesterPolicy: new RequesterPolicy({ ...NOBODY, ...registration.requester }),
            passwordRules: { minimumComplexity: 3, minimumLength: 8, maximumLength: 1024 },
            tosUri: registration.tosUri,
            isOpen: isRegistrationOpen,
            ttlSeconds: registration.ttlSeconds ?? 3600,
          })),
    ],
    http: {
      ...HTTP,
      listeners: [
        {
          name: 'web',
          resources: [{ name: 'human' }],
          binds: [{ host: '127.0.0.1', port: 0 }],
          prefix: urls.basePath === '/' ? undefined : urls.basePath.slice(0, -1),
        },
      ],
    },
    limits: SERVER_LIMITS,
    address: urls,
    protocolName: 'chat',
    log,
    cookies,
    errorFormats: {
      page: pageFormat(pages, urls),
      'oauth-json': oauthJsonFormat(urls.base),
      'plain-json': renderPlainJson,
    },
    lag: { isLagging: false },
  });
  const [bound] = await server.listen();
  if (bound === undefined) throw new Error('the server bound no address');

  const requests = (): string[] => lines.filter((line) => REQUEST_LINE.test(line));
  let addresses = 0;
  return {
    clock,
    keyRing,
    lines,
    browser: ({ address, acceptLanguage } = {}) => {
      addresses += 1;
      return new Browser({
        listener: `http://127.0.0.1:${bound.port}`,
        publicBase: urls.base,
        headers: { 'x-forwarded-for': address ?? `192.0.2.${addresses}` },
        ...(acceptLanguage !== undefined && { acceptLanguage }),
      });
    },
    lastRequest: () => parseRequestLine(requests().at(-1) ?? ''),
    refusals: () => lines.flatMap((line) => / auth\.refused .*code=(\w+)/.exec(line)?.[1] ?? []),
    stop: async () => {
      await server.close(1000);
    },
  };
}

const NO_NAME = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
const NOBODY = { bannedIps: [], bannedUserAgents: NO_NAME };
const ANY_NAME = { allowedUsernames: NO_NAME, bannedUsernames: NO_NAME, reservedUsernames: new Set<string>() };

const SERVER_LIMITS = {
  maxConnections: 1000,
  maxConnectionsPerAddress: 1000,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 30,
  handlerTimeoutSeconds: 30,
  keepAliveTimeoutSeconds: 5,
  maxRequestsPerConnection: 1000,
  maxRequestLineBytes: 8192,
  maxHeadersBytes: 16_384,
  maxBody: { formBytes: 65_536, jsonBytes: 65_536 },
  maxInFlight: 1000,
  drainDelaySeconds: 0,
  shutdownTimeoutSeconds: 5,
};
