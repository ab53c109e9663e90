import type { AssetFile } from '#browser/asset-files.ts';
import { preferredEncoding } from '#platform/http/accept.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, plainText } from '#platform/http/response.ts';

type Headers = RequestContext['headers'];

// Opened directly, an SVG is a document. It may contain scripts, which must not run on this origin.
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/**
 * Serves a file in the encoding that the browser prefers, or 304 if the browser has it. A missing file is 404 in plain
 * text: a script or stylesheet request must never get an HTML page (account-graphql 8.1).
 */
export function handleAsset(file: AssetFile | undefined, headers: Headers): HttpResponse {
  if (file === undefined) return plainText(404, 'not found');
  const { body, coding } = choose(file, headers['accept-encoding']);
  // Each encoding is a separate representation, which a strong validator must distinguish (RFC 9110 8.8.3.3).
  const etag = `"${file.tag}${coding === undefined ? '' : `-${coding}`}"`;
  const caching = {
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'Accept-Encoding',
    // Also sent with 304, whose headers replace the ones in the browser's cache.
    ...(file.contentType === 'image/svg+xml' && { 'content-security-policy': SVG_POLICY }),
    // Relative to the script, so that it works with any public base path.
    ...(file.sourceMap !== undefined && { sourcemap: file.sourceMap }),
  };
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag) === true || known?.includes('*') === true) return { status: 304, headers: caching };
  const type = { 'content-type': file.contentType, ...caching };
  if (coding !== undefined) return { status: 200, headers: { ...type, 'content-encoding': coding }, body };
  return respondWithRange(body, { ...type, 'accept-ranges': 'bytes' }, etag, headers);
}

function choose(
  file: AssetFile,
  accepted: Headers['accept-encoding'],
): { body: Buffer; coding: 'br' | 'gzip' | undefined } {
  const stored = { br: file.brotli, gzip: file.gzip };
  const coding = preferredEncoding(
    accepted,
    (['br', 'gzip'] as const).filter((name) => stored[name] !== undefined),
  );
  return { body: (coding === undefined ? undefined : stored[coding]) ?? file.content(), coding };
}

const RANGE = /^bytes=(\d*)-(\d*)$/;

/**
 * Serves the single requested range of the unencoded content (RFC 9110 14.2). Several ranges, other units, and a range
 * of another version of the file get the whole content.
 */
function respondWithRange(body: Buffer, common: Record<string, string>, etag: string, headers: Headers): HttpResponse {
  const condition = headers['if-range'];
  const [, from = '', to = ''] = RANGE.exec(headers.range ?? '') ?? [];
  const isOfThis = condition === undefined || condition === etag;
  if (!isOfThis || (from === '' && to === '')) return { status: 200, headers: common, body };
  const length = body.length;
  const start = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  // A range that ends before it starts is invalid (RFC 9110 14.1.2).
  if (from !== '' && to !== '' && Number(to) < Number(from)) return { status: 200, headers: common, body };
  if (start > end) {
    return { status: 416, headers: { ...common, 'cache-control': 'no-store', 'content-range': `bytes */${length}` } };
  }
  const range = { 'content-range': `bytes ${start}-${end}/${length}` };
  return { status: 206, headers: { ...common, ...range }, body: body.subarray(start, end + 1) };
}
