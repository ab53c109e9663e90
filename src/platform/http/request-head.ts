import { LatchkeyError } from '#platform/base/errors.ts';
import type { HttpLimits } from './http-options.ts';
import type { ReceivedRequest } from './message.ts';

/** Methods that the log names; every other token is `_OTHER` there. */
const LOGGED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

export function loggedMethod(method: string): string {
  return LOGGED_METHODS.has(method) ? method : '_OTHER';
}

/** Path and query of a request target as received; of an absolute one the authority is dropped (RFC 9112 3.2.2). */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  const path = mark === -1 ? local : local.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : local.slice(mark + 1) };
}

export type HeadLimits = Pick<HttpLimits, 'maxRequestLineBytes' | 'maxHeadersBytes'>;

const MAX_HEADER_FIELDS = 100;
/** What a request line has besides its parts: two spaces, `HTTP/1.1` and the line end. */
const REQUEST_LINE_REST_BYTES = 12;
/** What a header field has besides its parts: colon, blank and line end. */
const FIELD_REST_BYTES = 4;

/**
 * What is wrong with the head of a request that the parser let through (operations 9.1, security S-149, S-150);
 * undefined when nothing is. The fields are counted here since Node drops those beyond its limit without a word.
 */
export function judgeHead(request: ReceivedRequest, limits: HeadLimits): LatchkeyError | undefined {
  const { method = '', url = '', rawHeaders, httpVersion } = request;
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
  // A body of two lengths, or of one that HTTP/1.0 does not know, is how a second request is smuggled past a proxy.
  const isFramingOk =
    encoding === undefined ||
    (encoding.toLowerCase() === 'chunked' && httpVersion !== '1.0' && !('content-length' in request.headers));
  const isVersionOk = httpVersion === '1.1' || httpVersion === '1.0' || httpVersion === '2.0';
  const isOk = isHostOk && isFramingOk && isVersionOk && isTargetOk(method, url);
  return isOk ? undefined : new LatchkeyError('malformed_request');
}

/**
 * Whether a request names its caller several times: Node takes the first header and drops the others, a proxy may have
 * judged another one (RFC 9110 5.3).
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
 * Of HTTP/2, RFC 9113 8.3.1: one name of a host, or two that are the same, since a proxy may have judged the other one;
 * and a scheme of the web, since only for those the path has been looked at.
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

/** A path, an absolute address, or the asterisk that goes with OPTIONS (RFC 9112 3.2); CONNECT was given that too. */
function isTargetOk(method: string, target: string): boolean {
  if (target === '*') return method === 'OPTIONS' || method === 'CONNECT';
  return (target.startsWith('/') || /^https?:\/\//i.test(target)) && !target.includes('#');
}
