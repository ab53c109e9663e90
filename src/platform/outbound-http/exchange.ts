/**
 * A single HTTP exchange with strict limits. The address is looked up once, checked, and used for the connection.
 * Redirects are not followed. Connections, response heads and bodies have time and size limits.
 */
import { Resolver } from 'node:dns/promises';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { lookUpHost } from '#platform/base/host-names.ts';
import type { TaskTrace } from '#platform/base/spans.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import { currentTask, outside } from '#platform/base/tasks.ts';
import { type CalledServer, countCall } from './call-metrics.ts';

export const MAX_BODY_BYTES = 256 * 1024;
const MAX_HEAD_BYTES = 16 * 1024;
const CONNECT_MS = 2_000;
const DNS_TRY_MS = 1_000;
const NOTHING = Buffer.alloc(0);

/** Why the exchange failed. For the log and for tests, never for a client. */
export type FailureReason =
  /** The URL violates a rule of security 3.9. */
  | 'url'
  /** The name has no address. */
  | 'name'
  /** Connections to its addresses are not allowed. */
  | 'address'
  /** The connection failed, the certificate is invalid, or the response is incomplete or not HTTP. */
  | 'connection'
  | 'timeout'
  /** Too many exchanges are in progress. */
  | 'busy'
  /** Not sent, because the server's last responses were failures. */
  | 'resting'
  | 'redirect'
  | 'status'
  | 'too-large'
  | 'encoding';

export class OutboundFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'OutboundFailure';
    this.reason = reason;
  }
}

/** Resolves a name to its IPv4 and IPv6 addresses in canonical form. Rejects if it has none. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Keep-alive agents for connections that are reused. */
export interface KeptConnections {
  readonly 'http:': HttpAgent;
  readonly 'https:': HttpsAgent;
}

export interface ExchangeOptions {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** If false, the exchange ends after the response head. */
  readonly needsBody: boolean;
  /** Aborting it ends the exchange. */
  readonly signal: AbortSignal;
  /** Undefined uses the operating system's resolver and permits all addresses. */
  readonly lookup: LookupFunction | undefined;
  /** PEM certificates to trust instead of the public ones. */
  readonly trustedCertificates: string | undefined;
  /** Connect timeout. Defaults to 2 seconds. */
  readonly connectMs?: number;
  /** Maximum size of the decoded body. Defaults to 256 KiB. */
  readonly maxBodyBytes?: number;
  /**
   * Reuses these connections instead of opening a new one. If the server has just closed a kept connection, the request
   * is sent once more, so it must be safe to repeat.
   */
  readonly connections?: KeptConnections;
  /** Whether to propagate the trace of the call, if it has one, to the server. */
  readonly isTold?: boolean;
  /** Metric label. Undefined if the exchange is not counted. */
  readonly server?: CalledServer | undefined;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Decoded. Empty if it was not needed. */
  readonly body: Buffer;
}

/** Connections are not kept, since a later request must not rely on an earlier address check. TLS sessions are kept. */
const SINGLE_USE: KeptConnections = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() };

/** The server closed a kept connection before it sent any response. */
class ClosedConnection extends OutboundFailure {
  constructor(cause: unknown) {
    super('connection', { cause });
  }
}

/** @throws OutboundFailure */
export async function exchange(url: URL, options: ExchangeOptions): Promise<TestResponse> {
  const trace = currentTask()?.trace;
  return await countCall(options.server, options.method, () =>
    trace === undefined ? exchangeAgain(url, options) : exchangeInTrace(url, options, trace),
  );
}

/** The span omits path and query, which third parties choose and which may contain anything. */
async function exchangeInTrace(url: URL, options: ExchangeOptions, trace: TaskTrace): Promise<TestResponse> {
  const startedAt = performance.now();
  const { id, headers } = trace.call();
  const attributes = {
    'http.request.method': options.method,
    'server.address': url.hostname,
    'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  };
  const record = (status: number | undefined, failure: string | undefined): void => {
    const all = { ...attributes, 'http.response.status_code': status };
    trace.record({ id, name: options.method, kind: 'client', startedAt, attributes: all, failure });
  };
  try {
    const all = options.isTold === true ? { ...options.headers, ...headers } : options.headers;
    const response = await exchangeAgain(url, { ...options, headers: all });
    record(response.status, response.status >= 400 ? String(response.status) : undefined);
    return response;
  } catch (error) {
    record(undefined, error instanceof OutboundFailure ? error.reason : 'error');
    throw error;
  }
}

async function exchangeAgain(url: URL, options: ExchangeOptions): Promise<TestResponse> {
  try {
    return await exchangeOnce(url, options);
  } catch (error) {
    if (!(error instanceof ClosedConnection)) throw error;
    // Uses a new connection, since other kept ones may have been closed at the same time.
    return await exchangeOnce(url, { ...options, connections: SINGLE_USE });
  }
}

async function exchangeOnce(url: URL, options: ExchangeOptions): Promise<TestResponse> {
  const { method, headers, needsBody, signal, lookup = lookUpHost, trustedCertificates } = options;
  const { connectMs = CONNECT_MS, maxBodyBytes = MAX_BODY_BYTES, connections = SINGLE_USE } = options;
  const { response, raw } = await outside(
    new Promise<{ response: IncomingMessage; raw: Buffer }>((resolve, reject) => {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp;
      const request = send(url, {
        agent: connections[url.protocol === 'https:' ? 'https:' : 'http:'],
        method,
        headers: { ...headers, 'accept-encoding': 'gzip, br' },
        maxHeaderSize: MAX_HEAD_BYTES,
        signal,
        lookup,
        ...(trustedCertificates === undefined ? {} : { ca: trustedCertificates }),
      });
      let hasResponded = false;
      const fail = (error: unknown): void => {
        const isClosed = request.reusedSocket && !hasResponded && isErrno(error, 'ECONNRESET', 'EPIPE');
        const failure = isClosed ? new ClosedConnection(error) : failureOf(error, signal);
        reject(failure);
        request.destroy(failure);
      };
      const connecting = setTimeout(() => fail(new OutboundFailure('timeout')), connectMs);
      request.on('socket', (socket) => {
        // A reused connection is already connected.
        if (request.reusedSocket) clearTimeout(connecting);
        else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      });
      request.on('error', fail);
      request.on('close', () => {
        clearTimeout(connecting);
        // Has no effect if the promise is already settled.
        reject(new OutboundFailure('connection'));
      });
      request.on('response', (response) => {
        hasResponded = true;
        if (needsBody) {
          readBody(response, maxBodyBytes, (raw) => resolve({ response, raw }), fail);
          return;
        }
        resolve({ response, raw: NOTHING });
        request.destroy();
      });
      request.end(options.body);
    }),
  );
  const { statusCode = 0, headers: responseHeaders } = response;
  if (statusCode >= 300 && statusCode < 400) throw new OutboundFailure('redirect');
  const body = await decode(raw, responseHeaders['content-encoding'], maxBodyBytes);
  return { status: statusCode, headers: responseHeaders, body };
}

function readBody(
  response: IncomingMessage,
  maxBodyBytes: number,
  done: (raw: Buffer) => void,
  fail: (error: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBodyBytes) fail(new OutboundFailure('too-large'));
    else chunks.push(chunk);
  });
  response.on('error', fail);
  response.on('end', () => done(Buffer.concat(chunks)));
}

const decoders = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), br: promisify(brotliDecompress) };

async function decode(raw: Buffer, encoding = 'identity', maxOutputLength: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || raw.length === 0) return raw;
  if (!isDecoder(name)) throw new OutboundFailure('encoding');
  try {
    return await outside(decoders[name](raw, { maxOutputLength }));
  } catch (error) {
    throw new OutboundFailure(isErrno(error, 'ERR_BUFFER_TOO_LARGE') ? 'too-large' : 'encoding', { cause: error });
  }
}

function isDecoder(name: string): name is keyof typeof decoders {
  return Object.hasOwn(decoders, name);
}

function failureOf(error: unknown, signal: AbortSignal): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  return new OutboundFailure(signal.aborted ? 'timeout' : 'connection', { cause: error });
}

/**
 * Looks up a name for a socket that is about to connect, and returns only the permitted addresses. The lookup happens
 * only once, so the checked address is the one in use.
 */
export function checkedLookup(
  resolve: Resolve,
  mayReach: (address: string) => boolean,
  signal: AbortSignal,
): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname, signal).then(
      (addresses) => {
        const reachable = addresses.filter(mayReach).map((address) => ({ address, family: isIP(address) }));
        const [first] = reachable;
        if (first === undefined) callback(new OutboundFailure('address'), '');
        else if (all === true) callback(null, reachable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(new OutboundFailure('name', { cause: error }), ''),
    );
  };
}

/**
 * Queries the name servers without the operating system's resolver. That one uses the threads that also compute
 * password hashes, and an unresponsive name server would block them. Consequently, the hosts file does not apply.
 */
export async function resolveByDns(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const found = await outside(Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]));
    const addresses = found.flatMap((response) => (response.status === 'fulfilled' ? response.value : []));
    if (addresses.length === 0) throw new Error('the host name has no addresses', { cause: found });
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
