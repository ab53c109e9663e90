import { LatchkeyError } from '#platform/base/errors.ts';
import type { HttpLimits } from './http-options.ts';
import type { ReceivedRequest } from './message.ts';

/** The methods of RFC 9110 9.3 and RFC 5789. */
const REGISTERED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
const METHOD_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_LOGGED_METHOD_CHARACTERS = 32;

/**
 * Returns the method for logs and request ids: as received, truncated to 32 characters, or `-` if it is not a token.
 */
export function loggedMethod(method: string): string {
  if (REGISTERED_METHODS.has(method)) return method;
  return METHOD_TOKEN.test(method) ? method.slice(0, MAX_LOGGED_METHOD_CHARACTERS) : '-';
}

/**
 * Returns the method for metrics and spans. Unknown methods share one value, so that clients cannot create time series.
 */
export function countedMethod(method: string): string {
  return REGISTERED_METHODS.has(method) ? method : '_OTHER';
}

/** Splits a request target into path and query as received. Removes the authority of absolute ones (RFC 9112 3.2.2). */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  const path = mark === -1 ? local : local.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : local.slice(mark + 1) };
}

export type HeadLimits = Pick<HttpLimits, 'maxRequestLineBytes' | 'maxHeadersBytes'>;

const MAX_HEADER_FIELDS = 100;
/** The rest of a request line: two spaces, `HTTP/1.1` and the line end. */
const REQUEST_LINE_REST_BYTES = 12;
/** The rest of a header field: colon, space and line end. */
const FIELD_REST_BYTES = 4;

/**
 * Validates a request head that the parser accepted (operations 9.1, security S-149, S-150). Returns undefined if it is
 * valid. Counts the fields here, since Node silently drops those beyond its limit.
 */
export function judgeHead(request: ReceivedRequest, limits: HeadLimits): LatchkeyError | undefined {
  const { method = '', url = '', rawHeaders, httpVersion, refusal } = request;
  if (refusal !== undefined) return new LatchkeyError(refusal);
  if (method.length + url.length + REQUEST_LINE_REST_BYTES > limits.maxRequestLineBytes) {
    return new LatchkeyError('request_line_too_long');
  }
  let bytes = 0;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    bytes += name.length + (rawHeaders[index + 1] ?? '').length + FIELD_REST_BYTES;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (rawHeaders.length > MAX_HEADER_FIELDS * 2 || bytes > limits.maxHeadersBytes) {
    return new LatchkeyError('headers_too_large');
  }
  const encoding = request.headers['transfer-encoding'];
  const isHostOk =
    httpVersion === '2.0' ? isAuthorityOk(request, hosts) : hosts === 1 || (hosts === 0 && httpVersion === '1.0');
  // Bodies with two lengths, or with an encoding that HTTP/1.0 does not define, enable request smuggling past a proxy.
  const isFramingOk =
    encoding === undefined ||
    (encoding.toLowerCase() === 'chunked' && httpVersion !== '1.0' && !('content-length' in request.headers));
  const isVersionOk = httpVersion === '1.1' || httpVersion === '1.0' || httpVersion === '2.0';
  const isOk = isHostOk && isFramingOk && isVersionOk && isTargetOk(method, url);
  return isOk ? undefined : new LatchkeyError('malformed_request');
}

/**
 * Returns whether there are several `Authorization` headers. Node uses the first one, but a proxy may have checked
 * another one (RFC 9110 5.3).
 */
export function isAuthorizationRepeated({ headers, rawHeaders }: ReceivedRequest): boolean {
  if (headers.authorization === undefined) return false;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') count += 1;
  }
  return count > 1;
}

/**
 * HTTP/2, RFC 9113 8.3.1: requires a single host, or two that are equal, since a proxy may have checked the other one.
 * Also requires a web scheme, since the path was validated only for those.
 */
function isAuthorityOk({ headers }: ReceivedRequest, hosts: number): boolean {
  const { host, [':authority']: authority, [':scheme']: scheme } = headers;
  if (hosts > 1 || !authority || typeof authority !== 'string') return hosts === 1 && !authority && isWeb(scheme);
  const isSame = host === undefined || host.toLowerCase() === authority.toLowerCase();
  return isSame && (isWeb(scheme) || headers[':method'] === 'CONNECT');
}

function isWeb(scheme: string | string[] | undefined): boolean {
  return scheme === 'https' || scheme === 'http';
}

/**
 * Accepts a path, an absolute URL, or the asterisk with OPTIONS (RFC 9112 3.2). CONNECT requests got an asterisk as
 * well.
 */
function isTargetOk(method: string, target: string): boolean {
  if (target === '*') return method === 'OPTIONS' || method === 'CONNECT';
  return (target.startsWith('/') || /^https?:\/\//i.test(target)) && !target.includes('#');
}
