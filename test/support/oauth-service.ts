import { generateKeyPairSync } from 'node:crypto';
import type { Config } from '#config/config.ts';
import { SigningKeys, signingKey } from '#domain/keys/signing-keys.ts';
import type { TokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { newId } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import type { AuthorizationGrantId, BrowserSessionId, ClientId, UserId } from '#vocabulary/ids.ts';
import { behindProxy, startApp, testConfig } from './app.ts';
import { FakeClock } from './fake-clock.ts';
import { type GrantFixture, insertBrowserSession, insertClient, insertFulfilledGrant, insertUser } from './fixtures.ts';
import { parseRequestLine, type RequestLine } from './log-expression.ts';
import { RecordingLog } from './recording-log.ts';

export const TEST_ISSUER = 'https://auth.example.test/';
export const HOMESERVER_SECRET = 'the secret that the homeserver shares';
export const CLIENT_SECRET = 'the secret of the client';

const root = Buffer.alloc(32, 3);
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export interface OAuthServiceOptions {
  /** For peers on loopback, see `loopbackOutbound`. */
  readonly outbound?: OutboundHttp;
  readonly settings?: Partial<TokenSettings>;
  readonly callers?: Config['oauth']['introspectionCallers'];
  readonly limiter?: { readonly burst: number; readonly perSecond: number };
  readonly dpopRequireNonce?: boolean;
  readonly adminClients?: readonly ClientId[];
  readonly adminUsers?: readonly string[];
  readonly clock?: FakeClock;
  /** Replaces the log that records every line. */
  readonly log?: LogWriter;
  /** Trusts X-Forwarded-For from loopback. */
  readonly isBehindProxy?: boolean;
}

export interface MachineResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON body, or an empty object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface SignedIn {
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  readonly grantId: AuthorizationGrantId;
  readonly code: string;
}

/** The token, introspection, revocation and userinfo endpoints on a real server. */
export type OAuthService = Awaited<ReturnType<typeof startOAuthService>>;

export async function startOAuthService(database: OpenDatabase, options: OAuthServiceOptions = {}) {
  const clock = options.clock ?? new FakeClock();
  const keyRing = new KeyRing(root);
  const recording = new RecordingLog({ clock });
  const signingKeys = new SigningKeys([signingKey(privateKey, publicKey, { isActive: true })]);
  const log = options.log ?? recording;
  const { server, core, origin } = await startApp({
    config: configOf(options),
    database,
    clock,
    log,
    keyRing,
    signingKeys,
    ...(options.outbound !== undefined && { outbound: options.outbound }),
  });
  const { activity, clients } = core;

  const request = async (path: string, init: RequestInit): Promise<MachineResponse> => {
    const response = await fetch(`${origin}${path}`, init);
    const text = await response.text();
    const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
    return { status: response.status, headers: response.headers, body, text };
  };
  const post = async (
    path: string,
    form: Readonly<Record<string, string>> | string,
    authorization?: string,
  ): Promise<MachineResponse> =>
    await request(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    });

  return {
    address: origin,
    clock,
    keys: keyRing,
    activity,
    clients,
    /** Returns the lines of one event, without request lines. */
    logged: (event: string) => recording.lines.filter((line) => line.event === event),
    publicJwks: signingKeys.publicJwks(),
    request,
    post,
    /** Returns the request lines so far. */
    requestLines: (): RequestLine[] =>
      recording.written.filter((line) => line.includes(' http.server.response ')).map(parseRequestLine),
    lastRequest(): RequestLine {
      const line = this.requestLines().at(-1);
      if (line === undefined) throw new Error('no request yet');
      return line;
    },
    lines: recording.written,
    async client(fixture: Parameters<typeof insertClient>[3] = { secret: CLIENT_SECRET }): Promise<ClientId> {
      const id = await insertClient(database, keyRing, clock.now(), fixture);
      await clients.find(id);
      return id;
    },
    /** Creates a user who has just consented and whose code has not been exchanged. */
    async signIn(
      clientId: ClientId,
      grant: Partial<GrantFixture> & { user?: Parameters<typeof insertUser>[2] } = {},
    ): Promise<SignedIn> {
      const userId = await insertUser(database, clock.now(), grant.user);
      const browserSessionId = await insertBrowserSession(database, userId, clock.now());
      const { id, code } = await insertFulfilledGrant(database, clock.now(), { clientId, browserSessionId, ...grant });
      return { userId, browserSessionId, grantId: id, code };
    },
    async exchange(
      clientId: ClientId,
      code: string,
      fields: Readonly<Record<string, string>> = {},
    ): Promise<MachineResponse> {
      return await post(
        '/oauth2/token',
        { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example.org/callback', ...fields },
        basic(clientId, CLIENT_SECRET),
      );
    },
    async refresh(
      clientId: ClientId,
      refreshToken: string,
      fields: Readonly<Record<string, string>> = {},
    ): Promise<MachineResponse> {
      return await post(
        '/oauth2/token',
        { grant_type: 'refresh_token', refresh_token: refreshToken, ...fields },
        basic(clientId, CLIENT_SECRET),
      );
    },
    async introspect(token: string, fields: Readonly<Record<string, string>> = {}): Promise<MachineResponse> {
      return await post('/oauth2/introspect', { token, ...fields }, `Bearer ${HOMESERVER_SECRET}`);
    },
    close: async () => await server.close(0),
  };
}

function configOf(options: OAuthServiceOptions): Config {
  const config = testConfig(TEST_ISSUER, ['oauth']);
  const { experimental, homeserver, oauth, policy, rateLimiting } = config;
  const { accessTokenTtlSeconds = 300, ...settings } = options.settings ?? {};
  return {
    ...(options.isBehindProxy === true ? behindProxy(config) : config),
    homeserver: { ...homeserver, secret: new Secret(HOMESERVER_SECRET) },
    experimental: { ...experimental, accessTokenTtlSeconds },
    oauth: {
      ...oauth,
      introspectionCallers: options.callers ?? 'static',
      dpopRequireNonce: options.dpopRequireNonce ?? false,
      ...settings,
    },
    policy: {
      ...policy,
      data: {
        ...policy.data,
        adminUsers: options.adminUsers ?? ['operator'],
        adminClients: options.adminClients ?? [],
      },
    },
    rateLimiting: {
      ...rateLimiting,
      clientAuthentication: { perClient: options.limiter ?? rateLimiting.clientAuthentication.perClient },
      clientRegistration: { perIp: { burst: 1000, perSecond: 1000 } },
    },
  };
}

export function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`;
}

/** Returns a string member of a response. */
export function member(response: MachineResponse, name: string): string {
  const value = response.body[name];
  if (typeof value !== 'string') throw new Error(`${name} is not a string in ${response.text}`);
  return value;
}

/** Returns an ID that no row has. */
export function unusedId(): ClientId {
  return newId<'client'>(0);
}
