/** The node:http server behind one bind, with our limits. For listeners with PROXY, TLS or HTTP/2, `opening.ts` comes
 * first. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import type { Rejections } from './connection-warnings.ts';
import type { Connections } from './connections.ts';
import type { HttpLimits } from './http-options.ts';
import type { Opening, Speaker } from './opening.ts';
import { afterPendingEvents } from './pending-events.ts';
import { UnreadableRequests } from './unreadable-requests.ts';

type NodeLimits = Pick<
  HttpLimits,
  | 'headersTimeoutSeconds'
  | 'keepAliveTimeoutSeconds'
  | 'maxHeadersBytes'
  | 'maxRequestLineBytes'
  | 'requestTimeoutSeconds'
>;

export interface NodeServerOptions {
  readonly limits: NodeLimits;
  readonly connections: Connections;
  readonly rejections: Rejections;
  /** Bound to a Unix socket. */
  readonly isLocal: boolean;
  /** Undefined if requests start immediately. */
  readonly opening: Opening | undefined;
  receive(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void;
  /** Undefined without HTTP/2. */
  readonly serveHttp2: Speaker | undefined;
  /** Handles a request without a response object from Node. */
  receiveLast(connection: Connection, request: IncomingMessage): void;
}

export const MAX_SWEEP_MS = 1000;

/** Returns the limits that Node.js itself enforces, for all connections from now on. */
export function nodeLimits(limits: NodeLimits) {
  return {
    maxHeaderSize: limits.maxRequestLineBytes + limits.maxHeadersBytes,
    headersTimeout: limits.headersTimeoutSeconds * 1000,
    requestTimeout: limits.requestTimeoutSeconds * 1000,
    keepAliveTimeout: limits.keepAliveTimeoutSeconds * 1000,
  };
}

/** Creates a server that does not listen yet. */
export function createNodeServer(options: NodeServerOptions): Server {
  const { connections, isLocal, opening, rejections } = options;
  const limits = nodeLimits(options.limits);
  const server = createServer({
    insecureHTTPParser: false,
    // `judgeHead` checks this, so that the refusal is logged.
    requireHostHeader: false,
    ...limits,
    connectionsCheckingInterval: Math.min(MAX_SWEEP_MS, limits.headersTimeout / 4),
  });
  // On `close`, Node would close connections whose next request is on its way. `Connections.closeIdle` waits for them.
  server.closeIdleConnections = () => {};
  // Without this listener, Node would destroy idle connections here, even if a request has already arrived.
  server.on('timeout', (socket) => void closeIfUnused(connections, socket));
  // Node starts reading requests in its own listener, which is deferred here until a connection is open.
  const readRequests = server.listeners('connection');
  if (opening !== undefined) server.removeAllListeners('connection');
  const speakers = new Map<string, Speaker>();
  if (options.serveHttp2 !== undefined) speakers.set('h2', options.serveHttp2);
  speakers.set('http/1.1', ({ socket }) => {
    for (const listener of readRequests) listener.call(server, socket);
  });
  server.on('connection', (socket) => {
    const address = socket.remoteAddress;
    const connection = connections.accept(socket, isLocal);
    if (connection === undefined) rejections.report('limit', undefined, address);
    else opening?.begin(connection, speakers);
  });
  server.on('request', (request, response) => options.receive(request, response, false));
  server.on('checkContinue', (request, response) => options.receive(request, response, true));
  server.on('checkExpectation', (request, response) => options.receive(request, response, false));
  const unreadable = new UnreadableRequests({ connections, rejections, serve: options.receiveLast });
  server.on('connect', (request) => unreadable.onConnect(request));
  server.on('clientError', (error, stream) => unreadable.onClientError(error, stream));
  return server;
}

async function closeIfUnused(connections: Connections, socket: Socket): Promise<void> {
  await afterPendingEvents();
  connections.of(socket)?.closeIfIdle(performance.now(), 0);
}
