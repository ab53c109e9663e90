import type { AssetFiles } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { Core } from '#domain/core.ts';
import { readSigningKeys } from '#domain/signing-keys/read-signing-keys.ts';
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
  /** That of another service on the same database. */
  readonly clock?: FakeClock;
  readonly publicBase?: string;
  readonly protocolName?: string;
  /** Files of the build; none unless given. */
  readonly assets?: AssetFiles;
  readonly limits?: Partial<Config['rateLimiting']['login']>;
  /** Of `experimental.inactive_session_expiration`; sessions may go unused for ever unless given. */
  readonly unusedBrowserSessionsSeconds?: number;
  readonly passkeyLimit?: Config['rateLimiting']['passkey']['perIp'];
  readonly hasher?: PasswordHasher;
  readonly arePasswordsEnabled?: boolean;
  readonly isPasswordChangeAllowed?: boolean;
  readonly isEmailAllowed?: boolean;
  readonly loginMessage?: string;
  /** Texts of the operator; none unless given. */
  readonly translations?: Config['templates']['translations'];
  readonly indexRedirect?: string;
  /** No mails unless given; see `mails.ts`. */
  readonly email?: Config['email'];
  /** There is none unless given. */
  readonly homeserver?: Partial<Config['homeserver']>;
  /** Lets people register; closed unless given. */
  readonly registration?: RegistrationOptions;
  /** Lets people set a new password by mail; closed unless given. */
  readonly recovery?: RecoveryOptions;
  readonly planManagementIframeUri?: string;
  /** What is asked for after the password; as by default unless given. */
  readonly secondFactor?: Partial<Config['account']>;
  /** No exporter unless given. */
  readonly tracing?: Tracing;
  /** No puzzles unless given. */
  readonly captcha?: Config['captcha'];
  /** Asks whether new passwords are known from leaks; not unless given. */
  readonly hasBreachCheck?: boolean;
  /** Makes what asks other servers; the real one unless given. */
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
  /** Not unless given. */
  readonly isEmailRequired?: boolean;
  readonly emailPolicy?: Partial<Config['policy']['data']['emails']>;
  readonly ttlSeconds?: number;
}

/** Index, sign-in and sign-out behind a real server, on a port of their own. */
export interface PageService {
  readonly clock: FakeClock;
  readonly keyRing: KeyRing;
  readonly core: Core;
  /** A browser at an address of its own, so that tests do not share the bucket of one. */
  browser(options?: {
    readonly address?: string;
    readonly acceptLanguage?: string;
    readonly userAgent?: string;
  }): Browser;
  /** Lines of the log so far. */
  readonly lines: readonly string[];
  /** The line of the last request. */
  lastRequest(): RequestLine;
  /** Codes of `auth.refused`, in order. */
  refusals(): string[];
  stop(): Promise<void>;
}

/** Does something with another instance, and stops it. */
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
    // However busy the machine is, no answer is given up.
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
