import { generateKeyPairSync } from 'node:crypto';
import { assetPaths } from '#browser/assets.ts';
import { Csrf } from '#browser/csrf.ts';
import { Interstitials } from '#browser/interstitials.tsx';
import { Pages } from '#browser/pages.ts';
import { loadTranslations } from '#browser/translations.ts';
import { Urls } from '#browser/urls.ts';
import { Viewers } from '#browser/viewer.ts';
import { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { SigningKeys, signingKey } from '#domain/signing-keys/signing-keys.ts';
import { type AuthorizationDeps, mount as mountAuthorization } from '#features/authorization/routes.ts';
import { mount as mountLogin } from '#features/login/routes.tsx';
import { mount as mountLogout } from '#features/logout/routes.tsx';
import { mount as mountReauth } from '#features/reauth/routes.tsx';
import { type AuthorizationGrantId, type ClientId, parseId } from '#platform/base/ids.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import { cheapHasher, insertTestAccount } from './accounts.ts';
import { Browser, type Shown } from './browser.ts';
import { FakeClock } from './fake-clock.ts';
import { insertClient } from './fixtures.ts';
import { parseRequestLine, type RequestLine } from './log-expression.ts';
import { RecordingLog } from './recording-log.ts';
import { startRouteServer, TEST_KEYS } from './route-server.ts';

export const AUTHORIZATION_ISSUER = 'https://auth.example.test/';
export const CALLBACK = 'https://app.example.org/callback';
export const PASSWORD = 'correct horse battery staple';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** What signs ID tokens; hints are verified with it. */
export const TEST_SIGNING_KEYS = new SigningKeys([signingKey(privateKey, publicKey, { isActive: true })]);

const AMPLE = { burst: 100_000, perSecond: 1000 };

export interface AuthorizationServiceOptions {
  /** That of another service on the same database. */
  readonly clock?: FakeClock;
  readonly rememberConsent?: boolean;
  readonly adminUsers?: readonly string[];
  readonly reauthMaxAgeSeconds?: number;
  readonly arePasswordsEnabled?: boolean;
  readonly hasher?: PasswordHasher;
  /** What the routes of authorization get in place of the database. */
  readonly failing?: (database: Database) => Database;
}

/** Authorization, sign-in, sign-out and re-authentication behind a real server, with people and clients to use them. */
export type AuthorizationService = Awaited<ReturnType<typeof startAuthorizationService>>;

export async function startAuthorizationService(database: Database, options: AuthorizationServiceOptions = {}) {
  const clock = options.clock ?? new FakeClock();
  const log = new RecordingLog();
  const urls = new Urls(AUTHORIZATION_ISSUER);
  const catalog = loadTranslations();
  const site = { serviceName: 'example.test', indexPath: urls.index(), ...assetPaths(urls.basePath, {}) };
  const pages = new Pages({ site, catalog, defaultLanguage: 'en' });
  const csrf = new Csrf({ urls, clock });
  const interstitials = new Interstitials({ pages, csrf, urls });
  const clients = new ClientDirectory(database, TEST_KEYS, clock);
  const limits = { idleSeconds: undefined, lifetimeSeconds: undefined };
  const viewers = new Viewers({ database, clock, limits, activity: new ActivityBuffer(database, log) });
  const checks = new PasswordChecks({
    database,
    hasher: options.hasher ?? cheapHasher(),
    clock,
    log,
    keyRing: TEST_KEYS,
    limits: { perIp: AMPLE, perAccount: AMPLE, perKnownBrowser: AMPLE },
    maximumBytes: 1024,
  });
  const browserDeps = { urls, pages, csrf, viewers, interstitials, protocolName: 'chat', serviceName: 'example.test' };
  const arePasswordsEnabled = options.arePasswordsEnabled ?? true;
  const authorization: AuthorizationDeps = {
    ...browserDeps,
    database: options.failing?.(database) ?? database,
    clock,
    log,
    clients,
    keyRing: TEST_KEYS,
    issuer: AUTHORIZATION_ISSUER,
    signingKeys: TEST_SIGNING_KEYS,
    languages: catalog.languages,
    serverName: 'example.test',
    grantTtlSeconds: 3600,
    scopeRules: new ScopeRules('chat'),
    adminUsers: new Set(options.adminUsers ?? []),
    reauthMaxAgeSeconds: options.reauthMaxAgeSeconds ?? 600,
    rememberConsent: options.rememberConsent ?? true,
    isRegistrationOpen: false,
  };
  const server = await startRouteServer(
    [
      ...mountAuthorization(authorization),
      ...mountReauth({ ...browserDeps, database, clock, log, checks, arePasswordsEnabled }),
      ...mountLogin({
        ...browserDeps,
        database,
        clock,
        clients,
        signIn: { database, clock, log, checks, loginNames: { serverName: 'example.test', isEmailAllowed: false } },
        loginMessage: undefined,
        arePasswordsEnabled: true,
        isRegistrationOpen: false,
      }),
      ...mountLogout({ ...browserDeps, database, clock }),
    ],
    { publicBase: AUTHORIZATION_ISSUER, http: { trustedProxies: [LOOPBACK] } },
  );
  const hasher = cheapHasher();
  let browsers = 0;
  /** At an address of its own, so that tests do not share limits. */
  const newBrowser = (address?: string): Browser => {
    browsers += 1;
    const forwarded = address ?? `198.51.${browsers >> 8}.${browsers & 255}`;
    return new Browser({
      listener: server.origin,
      publicBase: AUTHORIZATION_ISSUER,
      headers: { 'x-forwarded-for': forwarded },
    });
  };

  return {
    clock,
    log,
    clients,
    database,
    browser: newBrowser,
    /** Known to the process already, as after its first request. */
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
    /** A browser in which this person has signed in; time passes, so that requests come after it. */
    async signedIn(username: string, browser: Browser = newBrowser()): Promise<Browser> {
      await browser.get('/login');
      await browser.submit({ username, password: PASSWORD });
      if (browser.shown.status !== 303) throw new Error(`signing in ${username} gave ${browser.shown.status}`);
      clock.advanceSeconds(60);
      return browser;
    },
    lines: server.lines,
    origin: server.origin,
    lastRequest(): RequestLine {
      const line = server.lines.filter((text) => text.includes(' http.server.response ')).at(-1);
      return parseRequestLine(line ?? '');
    },
    close: server.close,
  };
}

const LOOPBACK = { address: '127.0.0.1', prefixLength: 32, family: 'ipv4' } as const;

/** The address of a request that a confidential client makes; `undefined` leaves a parameter out. */
export function authorizeUrl(clientId: string, fields: Readonly<Record<string, string | undefined>> = {}): string {
  const all = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'st', ...fields };
  const parameters = new URLSearchParams({ client_id: clientId });
  for (const [name, value] of Object.entries(all)) if (value !== undefined) parameters.set(name, value);
  return `/authorize?${parameters}`;
}

/** The response that a redirect carries to the client, in the query or the fragment. */
export function responseOf(shown: Shown): Readonly<Record<string, string>> {
  const location = shown.headers.location ?? '';
  const hash = location.indexOf('#');
  const fragment = location.slice(hash + 1);
  return Object.fromEntries(fragment === '' ? new URL(location).searchParams : new URLSearchParams(fragment));
}

/** The grant that an address of ours names. */
export function grantIdOf(shown: Shown): AuthorizationGrantId {
  const location = new URL(shown.location ?? shown.url);
  const id = location.searchParams.get('id') ?? location.pathname.split('/').at(-1) ?? '';
  const parsed = parseId<'authorization-grant'>(id);
  if (parsed === undefined) throw new Error(`no grant in ${location}`);
  return parsed;
}
