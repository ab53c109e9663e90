import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type JWTPayload, SignJWT } from 'jose';

type Json = Readonly<Record<string, unknown>>;

/** The outcome of a sign-in at the peer, including any forgery. */
export interface PeerResponse {
  /** Overrides the claims of a valid ID token. `undefined` omits a claim. */
  readonly claims?: Json;
  /** Replaces the whole ID token. `null` omits it. */
  readonly idToken?: string | null;
  /** Signs instead of the peer's key. */
  readonly sign?: (claims: Json) => Promise<string>;
  /** The userinfo response: JSON, or the text of a JWT. */
  readonly userinfo?: Json | string;
}

interface Ticket extends PeerResponse {
  readonly nonce: string | undefined;
  readonly clientId: string;
}

/** A token request as received. */
export interface TokenRequest {
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An upstream provider under full control of the test. */
export interface UpstreamPeer {
  readonly issuer: string;
  /** Overrides the valid metadata. */
  metadata: Json;
  /** Replace the default responses, by path. */
  readonly handlers: Map<string, Handler>;
  readonly tokenRequests: readonly TokenRequest[];
  /** Returns the number of requests to a path. */
  count(path: string): number;
  /** Signs in the user who was redirected to this URL. @returns where the browser goes next */
  signIn(location: string, response?: PeerResponse, more?: Readonly<Record<string, string>>): string;
  /** Signs like the provider. */
  sign(claims: Json, header?: { readonly alg?: string; readonly kid?: string; readonly typ?: string }): Promise<string>;
  stop(): Promise<void>;
}

export const UPSTREAM_SUBJECT = 'subject-1';

export async function startUpstreamPeer(): Promise<UpstreamPeer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };
  const tickets = new Map<string, Ticket>();
  const accessTokens = new Map<string, Ticket>();
  const tokenRequests: TokenRequest[] = [];
  const counts = new Map<string, number>();
  const handlers = new Map<string, Handler>();
  const sockets = new Set<Socket>();

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const handler = handlers.get(path);
    if (handler !== undefined) handler(request, response);
    else void responseFor(path, request, response);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the peer is bound to no port');
  const issuer = `http://127.0.0.1:${bound.port}`;

  const sign: UpstreamPeer['sign'] = async (claims, { alg = 'RS256', kid = 'one', typ = 'JWT' } = {}) => {
    const payload: JWTPayload = { ...claims };
    return await new SignJWT(payload).setProtectedHeader({ alg, kid, typ }).sign(privateKey);
  };

  const peer: UpstreamPeer = {
    issuer,
    metadata: {},
    handlers,
    tokenRequests,
    count: (path) => counts.get(path) ?? 0,
    signIn: (location, given = {}, more = {}) => {
      const requested = new URL(location).searchParams;
      const code = randomBytes(16).toString('hex');
      tickets.set(code, {
        ...given,
        nonce: requested.get('nonce') ?? undefined,
        clientId: requested.get('client_id') ?? '',
      });
      const back = new URL(requested.get('redirect_uri') ?? '');
      for (const [name, value] of Object.entries({ code, state: requested.get('state') ?? '', ...more })) {
        if (value !== '') back.searchParams.set(name, value);
      }
      return back.href;
    },
    sign,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };

  async function responseFor(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    switch (path) {
      case '/.well-known/openid-configuration':
        return json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize?keep=this`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/keys`,
          code_challenge_methods_supported: ['S256'],
          ...peer.metadata,
        });
      case '/keys':
        return json(200, { keys: [jwk] });
      case '/token': {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(Buffer.from(chunk));
        const form = new URLSearchParams(Buffer.concat(chunks).toString());
        tokenRequests.push({ headers: request.headers, form });
        const code = form.get('code') ?? '';
        const ticket = tickets.get(code);
        tickets.delete(code);
        if (ticket === undefined) return json(400, { error: 'invalid_grant' });
        const accessToken = randomBytes(16).toString('hex');
        accessTokens.set(accessToken, ticket);
        const idToken = ticket.idToken === undefined ? await makeIdToken(ticket) : ticket.idToken;
        return json(200, {
          access_token: accessToken,
          token_type: 'Bearer',
          ...(idToken !== null && { id_token: idToken }),
        });
      }
      case '/userinfo': {
        const ticket = accessTokens.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
        if (ticket === undefined) return json(401, { error: 'invalid_token' });
        const { userinfo = { sub: UPSTREAM_SUBJECT } } = ticket;
        if (typeof userinfo === 'string') {
          response.writeHead(200, { 'content-type': 'application/jwt' }).end(userinfo);
          return undefined;
        }
        return json(200, userinfo);
      }
      default:
        return json(404, {});
    }
  }

  async function makeIdToken({ claims = {}, sign: signer = sign, nonce, clientId }: Ticket): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const valid = { iss: issuer, sub: UPSTREAM_SUBJECT, aud: clientId, iat: now, exp: now + 300, nonce };
    return await signer(
      Object.fromEntries(Object.entries({ ...valid, ...claims }).filter(([, value]) => value !== undefined)),
    );
  }

  return peer;
}
