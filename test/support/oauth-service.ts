import { generateKeyPairSync } from 'node:crypto';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import { ClientDirectory } from '#domain/clients/client-directory.ts';
import { AdminRights } from '#domain/oauth-sessions/admin-rights.ts';
import type { TokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { SigningKeys, signingKey } from '#domain/signing-keys/signing-keys.ts';
import { type IntrospectionDeps, mount as mountIntrospection } from '#features/introspection/routes.ts';
import { mount as mountRevocation } from '#features/revocation/routes.ts';
import { mount as mountToken } from '#features/token/routes.ts';
import { mount as mountUserinfo } from '#features/userinfo/routes.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import {
  type AuthorizationGrantId,
  type BrowserSessionId,
  type ClientId,
  newId,
  type UserId,
} from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import type { Database } from '#platform/postgres/database.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import { FakeClock } from './fake-clock.ts';
import { type GrantFixture, insertBrowserSession, insertClient, insertFulfilledGrant, insertUser } from './fixtures.ts';
import { parseRequestLine, type RequestLine } from './log-expression.ts';
import { RecordingLog } from './recording-log.ts';
import { startRouteServer } from './route-server.ts';

export const TEST_ISSUER = 'https://auth.example.test/';
export const HOMESERVER_SECRET = 'the secret that the homeserver shares';
export const CLIENT_SECRET = 'the secret of the client';

const root = Buffer.alloc(32, 3);
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export interface OAuthServiceOptions {
  readonly settings?: Partial<TokenSettings>;
  readonly callers?: IntrospectionDeps['callers'];
  readonly limiter?: { readonly burst: number; readonly perSecond: number };
  readonly adminClients?: readonly ClientId[];
  readonly adminUsers?: readonly string[];
  readonly clock?: FakeClock;
  /** In place of one that keeps every line. */
  readonly log?: Log;
  /** Loopback may say for whom it asks, by X-Forwarded-For. */
  readonly isBehindProxy?: boolean;
}

export interface MachineAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON body; empty when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface SignedIn {
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  readonly grantId: AuthorizationGrantId;
  readonly code: string;
}

/** The token, introspection, revocation and userinfo endpoints behind a real server. */
export type OAuthService = Awaited<ReturnType<typeof startOAuthService>>;

export async function startOAuthService(database: Database, options: OAuthServiceOptions = {}) {
  const clock = options.clock ?? new FakeClock();
  const keys = new KeyRing(root);
  const recording = new RecordingLog();
  const log = options.log ?? recording;
  const clients = new ClientDirectory(database, keys, clock);
  const activity = new ActivityBuffer(database, log);
  const scopeRules = new ScopeRules('chat');
  const signingKeys = new SigningKeys([signingKey(privateKey, publicKey, { isActive: true })]);
  const settings: TokenSettings = {
    accessTokenTtlSeconds: 300,
    authorizationCodeTtlSeconds: 60,
    refreshGraceSeconds: 30,
    sessionMaxLifetimeSeconds: undefined,
    ...options.settings,
  };
  const authentication = new ClientAuthentication({
    clients,
    database,
    clock,
    log,
    issuer: TEST_ISSUER,
    origin: new URL(TEST_ISSUER).origin,
    limiter: options.limiter ?? { burst: 1000, perSecond: 1000 },
  });
  const adminRights = new AdminRights({
    scopeRules,
    users: new Set(options.adminUsers ?? ['operator']),
    clients: new Set(options.adminClients ?? []),
  });
  const shared = {
    adminRights,
    authentication,
    database,
    clock,
    log,
    activity,
    scopeRules,
    settings,
    issuer: TEST_ISSUER,
  };
  const routes = [
    ...mountToken({
      ...shared,
      signingKeys,
      idTokenTtlSeconds: 3600,
      rotationKeys: keys.deriveAll('refresh-rotation'),
    }),
    ...mountIntrospection({
      ...shared,
      signingKeys,
      homeserverSecret: new Secret(HOMESERVER_SECRET),
      callers: options.callers ?? 'static',
    }),
    ...mountRevocation(shared),
    ...mountUserinfo(shared),
  ];
  const loopback = { address: '127.0.0.1', prefixLength: 32, family: 'ipv4' } as const;
  const trustedProxies = options.isBehindProxy === true ? [loopback] : [];
  const server = await startRouteServer(routes, { http: { trustedProxies } });

  const request = async (path: string, init: RequestInit): Promise<MachineAnswer> => {
    const response = await fetch(`${server.origin}${path}`, init);
    const text = await response.text();
    const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
    return { status: response.status, headers: response.headers, body, text };
  };
  const post = async (
    path: string,
    form: Readonly<Record<string, string>> | string,
    authorization?: string,
  ): Promise<MachineAnswer> =>
    await request(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    });

  return {
    address: server.origin,
    clock,
    keys,
    activity,
    clients,
    /** Lines of one event, apart from those of requests. */
    logged: (event: string) => recording.lines.filter((line) => line.event === event),
    publicJwks: signingKeys.publicJwks(),
    request,
    post,
    /** Log lines of requests so far. */
    requestLines: (): RequestLine[] =>
      server.lines.filter((line) => line.includes(' http.server.response ')).map(parseRequestLine),
    lastRequest(): RequestLine {
      const line = this.requestLines().at(-1);
      if (line === undefined) throw new Error('no request yet');
      return line;
    },
    lines: server.lines,
    async client(fixture: Parameters<typeof insertClient>[3] = { secret: CLIENT_SECRET }): Promise<ClientId> {
      const id = await insertClient(database, keys, clock.now(), fixture);
      await clients.find(id);
      return id;
    },
    /** A person who just consented; the code waits to be exchanged. */
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
    ): Promise<MachineAnswer> {
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
    ): Promise<MachineAnswer> {
      return await post(
        '/oauth2/token',
        { grant_type: 'refresh_token', refresh_token: refreshToken, ...fields },
        basic(clientId, CLIENT_SECRET),
      );
    },
    async introspect(token: string, fields: Readonly<Record<string, string>> = {}): Promise<MachineAnswer> {
      return await post('/oauth2/introspect', { token, ...fields }, `Bearer ${HOMESERVER_SECRET}`);
    },
    close: server.close,
  };
}

export function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`;
}

/** A string member of an answer. */
export function member(answer: MachineAnswer, name: string): string {
  const value = answer.body[name];
  if (typeof value !== 'string') throw new Error(`${name} is no text in ${answer.text}`);
  return value;
}

/** An id that no row has. */
export function unusedId(): ClientId {
  return newId<'client'>(0);
}
