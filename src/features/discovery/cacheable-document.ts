import { createHash } from 'node:crypto';
import type { Answer, RequestContext } from '#http/route.ts';

/**
 * A JSON document that changes only with the configuration: serialised once, answered from memory with a strong
 * `ETag` and 304 for who has it already (RFC 9110 13.1.2).
 */
export function cacheableDocument(value: unknown, cacheControl: string): (context: RequestContext) => Answer {
  const body = Buffer.from(JSON.stringify(value));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = { 'cache-control': cacheControl, etag };
  const full: Answer = { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body };
  const notModified: Answer = { status: 304, headers };
  return (context) => (isKnown(context.headers['if-none-match'], etag) ? notModified : full);
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
