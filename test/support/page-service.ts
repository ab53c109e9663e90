import type { AssetFiles } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { Core } from '#domain/core.ts';
import { readSigningKeys } from '#domain/keys/read-signing-keys.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { Tracing } from '#platform/base/tracing.ts';
import type { OutboundHttp, OutboundOptions } from '#platform/outbound-http/outbound-http.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { behindProxy, startApp, testConfig } from './app.ts';
import { Browser } from './browser.ts';
import { FakeClock } from './fake-clock.ts';
import { parseRequestLine, REQUEST_LINE, type RequestLine } from './log-expression.ts';
import { RecordingLog } from './recording-log.ts';
import { testSigningKeys } from './signing-keys.ts';

export interface PageServiceOptions {
  /** The clock of another service on the same database. */
  readonly clock?: FakeClock;
  readonly publicBase?: string;
  readonly protocolName?: string;
  /** Built asset files, none by default. */
  readonly assets?: AssetFiles;
  readonly limits?: Partial<Config['rateLimiting']['login']>;
  /** `experimental.inactive_session_expiration` for browser sessions. By default, they do not expire when unused. */
  readonly unusedBrowserSessionsSeconds?: number;
  readonly passkeyLimit?: Config['rateLimiting']['passkey']['perIp'];
  readonly hasher?: PasswordHasher;
  readonly arePasswordsEnabled?: boolean;
  readonly isPasswordChangeAllowed?: boolean;
  readonly isEmailAllowed?: boolean;
  readonly loginMessage?: string;
  /** The operator's texts, none by default. */
  readonly translations?: Config['templates']['translations'];
  readonly indexRedirect?: string;
  /** See `mails.ts`. No email by default. */
  readonly email?: Config['email'];
  /** No homeserver by default. */
  readonly homeserver?: Partial<Config['homeserver']>;
  /** Enables registration, which is disabled by default. */
  readonly registration?: RegistrationOptions;
  /** Enables password recovery by email, which is disabled by default. */
  readonly recovery?: RecoveryOptions;
  readonly planManagementIframeUri?: string;
  /** Second-factor settings, defaults unless given. */
  readonly secondFactor?: Partial<Config['account']>;
  /** No exporter by default. */
  readonly tracing?: Tracing;
  /** No CAPTCHA by default. */
  readonly captcha?: Config['captcha'];
  /** Checks new passwords against known breaches. Off by default. */
  readonly hasBreachCheck?: boolean;
  /** Creates the outbound HTTP client, the real one by default. */
  readonly outbound?: (options: OutboundOptions) => OutboundHttp;
}

export interface RecoveryOptions {
  readonly account?: Partial<Config['account']>;
  readonly limits?: Partial<Config['rateLimiting']['accountRecovery']>;
}

export interface RegistrationOptions {
  readonly estimator: StrengthEstimator;
  readonly isOpen?: boolean;
  readonly tosUri?: string;
  readonly namePolicy?: Partial<Config['policy']['data']['registration']>;
  readonly requester?: Partial<Config['policy']['data']['requester']>;
  readonly limits?: Partial<
    Pick<Config['rateLimiting'], 'registration' | 'registrationCheck' | 'registrationToken' | 'emailAuthentication'>
  >;
  readonly isTokenRequired?: boolean;
  /** Off by default. */
  readonly isEmailRequired?: boolean;
  readonly emailPolicy?: Partial<Config['policy']['data']['emails']>;
  readonly ttlSeconds?: number;
}

/** Index, sign-in and sign-out pages on a real server. */
export interface PageService {
  readonly clock: FakeClock;
  readonly keyRing: KeyRing;
  readonly core: Core;
  /** Creates a browser with a separate address, so that tests do not share a rate limit. */
  browser(options?: {
    readonly address?: string;
    readonly acceptLanguage?: string;
    readonly userAgent?: string;
  }): Browser;
  /** The log lines so far. */
  readonly lines: readonly string[];
  /** Returns the line of the last request. */
  lastRequest(): RequestLine;
  /** Returns the codes of the `auth.refused` events, in order. */
  refusals(): string[];
  stop(): Promise<void>;
}

/** Starts another instance, runs `work` with it and stops it. */
export async function withPages(
  database: OpenDatabase,
  options: PageServiceOptions,
  work: (service: PageService) => Promise<void>,
): Promise<void> {
  const service = await startPages(database, options);
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

export async function startPages(database: OpenDatabase, options: PageServiceOptions = {}): Promise<PageService> {
  const clock = options.clock ?? new FakeClock();
  const log = new RecordingLog({ clock, level: 'info' });
  const keyRing = new KeyRing(Buffer.alloc(32, 9));
  const config = configOf(options);
  const { assets, hasher, outbound, registration, tracing } = options;
  const { core, server, origin } = await startApp({
    config,
    database,
    clock,
    log,
    keyRing,
    signingKeys: readSigningKeys(testSigningKeys()),
    ...(assets !== undefined && { assets }),
    ...(hasher !== undefined && { hasher }),
    ...(tracing !== undefined && { tracing }),
    ...(outbound !== undefined && { outbound: outbound({ ...config.outbound, clock, log }) }),
    ...(registration !== undefined && { estimator: registration.estimator }),
  });

  const requests = (): string[] => log.written.filter((line) => REQUEST_LINE.test(line));
  let addresses = 0;
  return {
    clock,
    keyRing,
    core,
    lines: log.written,
    browser: ({ address, acceptLanguage, userAgent } = {}) => {
      addresses += 1;
      return new Browser({
        listener: origin,
        publicBase: config.http.publicBase,
        headers: { 'x-forwarded-for': address ?? `192.0.2.${addresses}` },
        ...(acceptLanguage !== undefined && { acceptLanguage }),
        ...(userAgent !== undefined && { userAgent }),
      });
    },
    lastRequest: () => parseRequestLine(requests().at(-1) ?? ''),
    refusals: () => log.written.flatMap((line) => / auth\.refused .*code=(\w+)/.exec(line)?.[1] ?? []),
    stop: async () => {
      await server.close(1000);
    },
  };
}

function configOf(options: PageServiceOptions): Config {
  const config = behindProxy(testConfig(options.publicBase ?? 'https://auth.example.org/', ['human', 'graphql']));
  const { recovery, registration } = options;
  const { data } = config.policy;
  return {
    ...config,
    // Generous, so that no request times out on a busy machine.
    limits: { ...config.limits, handlerTimeoutSeconds: 120 },
    graphql: { ...config.graphql, timeoutSeconds: 100 },
    experimental: { ...config.experimental, planManagementIframeUri: options.planManagementIframeUri },
    protocolName: options.protocolName ?? config.protocolName,
    homeserver: { ...config.homeserver, homeserver: 'example.org', ...options.homeserver },
    retention: { ...config.retention, unusedBrowserSessionsSeconds: options.unusedBrowserSessionsSeconds },
    branding: {
      ...config.branding,
      serviceName: 'example.org',
      loginMessage: options.loginMessage,
      showTechnicalInfo: true,
      tosUri: registration?.tosUri,
    },
    templates: { ...config.templates, translations: options.translations ?? {} },
    captcha: options.captcha,
    email: options.email ?? config.email,
    index: { redirect: options.indexRedirect },
    passwords: {
      ...config.passwords,
      enabled: options.arePasswordsEnabled ?? true,
      hasBreachCheck: options.hasBreachCheck ?? false,
    },
    account: {
      ...config.account,
      passwordChangeAllowed: options.isPasswordChangeAllowed ?? true,
      loginWithEmailAllowed: options.isEmailAllowed ?? true,
      passwordRegistrationEnabled: registration !== undefined && registration.isOpen !== false,
      passwordRegistrationTokenRequired: registration?.isTokenRequired ?? false,
      passwordRegistrationEmailRequired: registration?.isEmailRequired ?? false,
      registrationTtlSeconds: registration?.ttlSeconds ?? 3600,
      passwordRecoveryEnabled: recovery !== undefined,
      ...recovery?.account,
      ...options.secondFactor,
    },
    policy: {
      ...config.policy,
      data: {
        ...data,
        emails: { ...data.emails, ...registration?.emailPolicy },
        registration: { ...data.registration, ...registration?.namePolicy },
        requester: { ...data.requester, ...registration?.requester },
      },
    },
    rateLimiting: {
      ...config.rateLimiting,
      login: { ...config.rateLimiting.login, ...options.limits },
      ...registration?.limits,
      passkey: { perIp: options.passkeyLimit ?? config.rateLimiting.passkey.perIp },
      accountRecovery: { ...config.rateLimiting.accountRecovery, ...recovery?.limits },
    },
  };
}
