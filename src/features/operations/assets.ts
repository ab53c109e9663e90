import type { AssetFile } from '#browser/asset-files.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { acceptsEncoding } from '#platform/http/accept.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';

// Opened by itself, a drawing is a document: it may hold scripts, which must not run on this origin.
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** A file in the smallest coding that the browser takes, or 304 for one that it has. Throws `not_found`. */
export function answerAsset(file: AssetFile | undefined, headers: RequestContext['headers']): HttpResponse {
  if (file === undefined) throw new LatchkeyError('not_found');
  const { body, coding } = choose(file, headers['accept-encoding']);
  // Each coding is a representation of its own, and a strong validator says which (RFC 9110 8.8.3.3).
  const etag = `"${file.tag}${coding === undefined ? '' : `-${coding}`}"`;
  const caching = {
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'Accept-Encoding',
    // Also with 304, whose headers replace those in the browser's cache.
    ...(file.contentType === 'image/svg+xml' && { 'content-security-policy': SVG_POLICY }),
  };
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag) === true || known?.includes('*') === true) return { status: 304, headers: caching };
  const encoding = coding === undefined ? {} : { 'content-encoding': coding };
  return { status: 200, headers: { 'content-type': file.contentType, ...caching, ...encoding }, body };
}

function choose(file: AssetFile, accepted: string | string[] | undefined): { body: Buffer; coding?: string } {
  if (file.brotli !== undefined && acceptsEncoding(accepted, 'br')) return { body: file.brotli, coding: 'br' };
  if (file.gzip !== undefined && acceptsEncoding(accepted, 'gzip')) return { body: file.gzip, coding: 'gzip' };
  return { body: file.content };
}
