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
import { isErrno } from '#platform/base/system-errors.ts';
import { outside } from '#platform/base/tasks.ts';

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

export interface ExchangeOptions {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** When it aborts, the exchange is over. */
  readonly signal: AbortSignal;
  /** Undefined: the names and addresses of the operating system, whatever they are. */
  readonly lookup: LookupFunction | undefined;
  /** Certificates to trust in place of the public ones; PEM. */
  readonly trustedCertificates: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Decoded; empty for POST, of which only the head is read. */
  readonly body: Buffer;
}

/** Connections are not kept: what an earlier look-up allowed does not serve a later request. TLS sessions are. */
const agents = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() };

/** @throws OutboundFailure */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Answer> {
  const { method, headers, signal, lookup, trustedCertificates } = options;
  const { response, raw } = await outside(
    new Promise<{ response: IncomingMessage; raw: Buffer }>((resolve, reject) => {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp;
      const request = send(url, {
        agent: agents[url.protocol === 'https:' ? 'https:' : 'http:'],
        method,
        headers: { ...headers, 'accept-encoding': 'gzip, br' },
        maxHeaderSize: MAX_HEAD_BYTES,
        signal,
        ...(lookup === undefined ? {} : { lookup }),
        ...(trustedCertificates === undefined ? {} : { ca: trustedCertificates }),
      });
      const fail = (error: unknown): void => {
        const failure = failureOf(error, signal);
        reject(failure);
        request.destroy(failure);
      };
      const connecting = setTimeout(() => fail(new OutboundFailure('timeout')), CONNECT_MS);
      request.on('socket', (socket) => {
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      });
      request.on('error', fail);
      request.on('close', () => {
        clearTimeout(connecting);
        // After a promise that was settled this does nothing.
        reject(new OutboundFailure('connection'));
      });
      request.on('response', (response) => {
        if (method === 'GET') {
          readBody(response, (raw) => resolve({ response, raw }), fail);
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
  const body = await decode(raw, responseHeaders['content-encoding']);
  return { status: statusCode, headers: responseHeaders, body };
}

function readBody(response: IncomingMessage, done: (raw: Buffer) => void, fail: (error: unknown) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) fail(new OutboundFailure('too-large'));
    else chunks.push(chunk);
  });
  response.on('error', fail);
  response.on('end', () => done(Buffer.concat(chunks)));
}

const decoders = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), br: promisify(brotliDecompress) };

async function decode(raw: Buffer, encoding = 'identity'): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || raw.length === 0) return raw;
  if (!isDecoder(name)) throw new OutboundFailure('encoding');
  try {
    return await outside(decoders[name](raw, { maxOutputLength: MAX_BODY_BYTES }));
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
