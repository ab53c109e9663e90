import { generateKeyPairSync } from 'node:crypto';
import type { Config } from '#config/config.ts';
import { SigningKeys, signingKey } from '#domain/keys/signing-keys.ts';
import { parseId } from '#platform/base/ids.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import type { AuthorizationGrantId, ClientId } from '#vocabulary/ids.ts';
import { cheapHasher, insertTestAccount } from './accounts.ts';
import { behindProxy, startApp, testConfig } from './app.ts';
import { Browser, type Page } from './browser.ts';
import { FakeClock } from './fake-clock.ts';
import { insertClient } from './fixtures.ts';
import { parseRequestLine, type RequestLine } from './log-expression.ts';
import { RecordingLog } from './recording-log.ts';
import { TEST_KEYS } from './route-server.ts';

export const AUTHORIZATION_ISSUER = 'https://auth.example.test/';
export const CALLBACK = 'https://app.example.org/callback';
export const PASSWORD = 'correct horse battery staple';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** Signs ID tokens and verifies ID token hints. */
export const TEST_SIGNING_KEYS = new SigningKeys([signingKey(privateKey, publicKey, { isActive: true })]);

export interface AuthorizationServiceOptions {
  /** For peers on loopback, see `loopbackOutbound`. */
  readonly outbound?: OutboundHttp;
  /** The clock of another service on the same database. */
  readonly clock?: FakeClock;
  readonly rememberConsent?: boolean;
  readonly adminUsers?: readonly string[];
  readonly reauthMaxAgeSeconds?: number;
  readonly arePasswordsEnabled?: boolean;
  readonly clientLogos?: Config['account']['clientLogos'];
  readonly hasher?: PasswordHasher;
  /** Second-factor settings, defaults unless given. */
  readonly secondFactor?: Partial<Config['account']>;
}

/**
 * Authorization, sign-in, sign-out and reauthentication on a real server, with helpers that create users and clients.
 */
export type AuthorizationService = Awaited<ReturnType<typeof startAuthorizationService>>;

export async function startAuthorizationService(database: OpenDatabase, options: AuthorizationServiceOptions = {}) {
  const clock = options.clock ?? new FakeClock();
  const log = new RecordingLog({ clock });
  const { server, core, origin } = await startApp({
    config: configOf(options),
    database,
    clock,
    log,
    keyRing: TEST_KEYS,
    signingKeys: TEST_SIGNING_KEYS,
    ...(options.hasher !== undefined && { hasher: options.hasher }),
    ...(options.outbound !== undefined && { outbound: options.outbound }),
  });
  const { clients } = core;
  const hasher = cheapHasher();
  let browsers = 0;
  /** Gives each browser a different address, so that tests do not share rate limits. */
  const newBrowser = (address?: string): Browser => {
    browsers += 1;
    const forwarded = address ?? `198.51.${browsers >> 8}.${browsers & 255}`;
    return new Browser({
      listener: origin,
      publicBase: AUTHORIZATION_ISSUER,
      headers: { 'x-forwarded-for': forwarded },
    });
  };

  return {
    clock,
    log,
    clients,
    core,
    subjects: core.subjects,
    database,
    browser: newBrowser,
    /** Registers a client and loads it into the cache, as after its first request. */
    async client(
      fixture: Parameters<typeof insertClient>[3] = { secret: 'the secret of the client' },
    ): Promise<ClientId> {
      const id = await insertClient(database, TEST_KEYS, clock.now(), fixture);
      await clients.find(id);
      return id;
    },
    async person(username: string): Promise<string> {
      await insertTestAccount(database, { username, password: PASSWORD }, { hasher, now: clock.now() });
      return username;
    },
    /** Signs the user in and advances the clock, so that later requests come after the sign-in. */
    async signedIn(username: string, browser: Browser = newBrowser()): Promise<Browser> {
      await browser.get('/login');
      await browser.submit({ username, password: PASSWORD });
      if (browser.page.status !== 303) throw new Error(`signing in ${username} gave ${browser.page.status}`);
      clock.advanceSeconds(60);
      return browser;
    },
    lines: log.written,
    origin,
    lastRequest(): RequestLine {
      const line = log.written.filter((text) => text.includes(' http.server.response ')).at(-1);
      return parseRequestLine(line ?? '');
    },
    close: async () => await server.close(0),
  };
}

function configOf(options: AuthorizationServiceOptions): Config {
  const config = behindProxy(testConfig(AUTHORIZATION_ISSUER, ['human', 'oauth']));
  const { account, branding, homeserver, oauth, passwords, policy } = config;
  return {
    ...config,
    homeserver: { ...homeserver, homeserver: 'example.test' },
    branding: { ...branding, serviceName: 'example.test' },
    oauth: { ...oauth, rememberConsent: options.rememberConsent ?? true },
    policy: { ...policy, data: { ...policy.data, adminUsers: options.adminUsers ?? [] } },
    account: {
      ...account,
      loginWithEmailAllowed: false,
      passwordRegistrationEnabled: false,
      clientLogos: options.clientLogos ?? 'initials',
      reauthMaxAgeSeconds: options.reauthMaxAgeSeconds ?? 600,
      ...options.secondFactor,
    },
    passwords: { ...passwords, enabled: options.arePasswordsEnabled ?? true },
  };
}

/** Returns the authorization URL of a confidential client's request. An `undefined` field omits the parameter. */
export function authorizeUrl(clientId: string, fields: Readonly<Record<string, string | undefined>> = {}): string {
  const all = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'st', ...fields };
  const parameters = new URLSearchParams({ client_id: clientId });
  for (const [name, value] of Object.entries(all)) if (value !== undefined) parameters.set(name, value);
  return `/authorize?${parameters}`;
}

/** Returns the authorization response in a redirect's query or fragment. */
export function responseOf(page: Page): Readonly<Record<string, string>> {
  const location = page.headers.location ?? '';
  const hash = location.indexOf('#');
  const fragment = location.slice(hash + 1);
  return Object.fromEntries(fragment === '' ? new URL(location).searchParams : new URLSearchParams(fragment));
}

/** Returns the grant ID in one of the service's URLs. */
export function grantIdOf(page: Page): AuthorizationGrantId {
  const location = new URL(page.location ?? page.url);
  const id = location.searchParams.get('id') ?? location.pathname.split('/').at(-1) ?? '';
  const parsed = parseId<'authorization-grant'>(id);
  if (parsed === undefined) throw new Error(`no grant in ${location}`);
  return parsed;
}
