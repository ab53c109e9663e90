/**
 * One HTTP exchange within bounds: the address is looked up once, checked, and that very address is connected to; no
 * redirect is followed; connections, heads and bodies have limits of time and size.
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

/** Why there is no answer; for the log and for tests, never for a client. */
export type FailureReason =
  /** The URL breaks a rule of security 3.9. */
  | 'url'
  /** The name has no address. */
  | 'name'
  /** None of its addresses may be connected to. */
  | 'address'
  /** No connection, a certificate that does not fit, or an answer that broke off or is no HTTP. */
  | 'connection'
  | 'timeout'
  /** Too much is under way. */
  | 'busy'
  /** Not asked: its last answers were failures. */
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

/** The addresses of a name, IPv4 and IPv6, in canonical form. Rejects when it has none. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Connections that are kept and used again. */
export interface KeptConnections {
  readonly 'http:': HttpAgent;
  readonly 'https:': HttpsAgent;
}

export interface ExchangeOptions {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** False: the exchange is over with the head of the answer. */
  readonly needsBody: boolean;
  /** When it aborts, the exchange is over. */
  readonly signal: AbortSignal;
  /** Undefined: the names and addresses of the operating system, whatever they are. */
  readonly lookup: LookupFunction | undefined;
  /** Certificates to trust in place of the public ones; PEM. */
  readonly trustedCertificates: string | undefined;
  /** Longest wait for a connection; 2 seconds unless given. */
  readonly connectMs?: number;
  /** Of the decoded body; 256 KiB unless given. */
  readonly maxBodyBytes?: number;
  /**
   * In place of a connection of its own. A request whose kept connection the other side had just closed is sent once
   * more, so it must be safe to repeat.
   */
  readonly connections?: KeptConnections;
  /** The other side is told which trace the call belongs to, when it belongs to one. */
  readonly isTold?: boolean;
  /** For the metrics; undefined: it is not counted. */
  readonly server?: CalledServer | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Decoded; empty where it was not needed. */
  readonly body: Buffer;
}

/** Not kept, since what an earlier look-up allowed does not serve a later request; but TLS sessions are. */
const SINGLE_USE: KeptConnections = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() };

/** The other side closed a kept connection before it answered anything. */
class ClosedConnection extends OutboundFailure {
  constructor(cause: unknown) {
    super('connection', { cause });
  }
}

/** @throws OutboundFailure */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Answer> {
  const trace = currentTask()?.trace;
  return await countCall(options.server, options.method, () =>
    trace === undefined ? exchangeAgain(url, options) : exchangeInTrace(url, options, trace),
  );
}

/** Neither path nor query: both are chosen by others, and may hold anything. */
async function exchangeInTrace(url: URL, options: ExchangeOptions, trace: TaskTrace): Promise<Answer> {
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
    const answer = await exchangeAgain(url, { ...options, headers: all });
    record(answer.status, answer.status >= 400 ? String(answer.status) : undefined);
    return answer;
  } catch (error) {
    record(undefined, error instanceof OutboundFailure ? error.reason : 'error');
    throw error;
  }
}

async function exchangeAgain(url: URL, options: ExchangeOptions): Promise<Answer> {
  try {
    return await exchangeOnce(url, options);
  } catch (error) {
    if (!(error instanceof ClosedConnection)) throw error;
    // Another one, not the next of those that were closed at the same moment.
    return await exchangeOnce(url, { ...options, connections: SINGLE_USE });
  }
}

async function exchangeOnce(url: URL, options: ExchangeOptions): Promise<Answer> {
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
      let hasAnswered = false;
      const fail = (error: unknown): void => {
        const isClosed = request.reusedSocket && !hasAnswered && isErrno(error, 'ECONNRESET', 'EPIPE');
        const failure = isClosed ? new ClosedConnection(error) : failureOf(error, signal);
        reject(failure);
        request.destroy(failure);
      };
      const connecting = setTimeout(() => fail(new OutboundFailure('timeout')), connectMs);
      request.on('socket', (socket) => {
        // A kept one is connected already.
        if (request.reusedSocket) clearTimeout(connecting);
        else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      });
      request.on('error', fail);
      request.on('close', () => {
        clearTimeout(connecting);
        // After a promise that was settled this does nothing.
        reject(new OutboundFailure('connection'));
      });
      request.on('response', (response) => {
        hasAnswered = true;
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
 * Looks a name up for a socket that is about to connect, and hands out the addresses that may be connected to and no
 * others: there is one look-up, so no second one can answer differently.
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
 * Asks the name servers without the operating system's resolver, whose threads also compute password hashes: a name
 * server that never answers holds none of them. So the hosts file has no say.
 */
export async function resolveByDns(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const found = await outside(Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]));
    const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw new Error('no addresses', { cause: found });
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
