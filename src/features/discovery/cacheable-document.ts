import { createHash } from 'node:crypto';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';

export interface CacheableDocument {
  readonly cacheControl: string;
  /** Version of what the document depends on. The document is rebuilt when this number changes. */
  revision(): number;
  make(): unknown;
}

/**
 * Serves a JSON document that changes only with configuration and keys. It is serialized once per revision, and served
 * from memory with a strong `ETag`. Clients that already have it get 304 (RFC 9110 13.1.2).
 */
export function cacheableDocument(document: CacheableDocument): (context: RequestContext) => HttpResponse {
  const headers = { 'cache-control': document.cacheControl, 'content-type': 'application/json' };
  const make = () => taggedResponses(Buffer.from(JSON.stringify(document.make())), headers);
  let revision = document.revision();
  let responses = make();
  return (context) => {
    if (document.revision() !== revision) {
      revision = document.revision();
      responses = make();
    }
    return choose(context, responses);
  };
}

/** Returns 200 with a body created for this request, or 304 for a client that already has the same one. */
export function respondTagged(context: RequestContext, body: Buffer, headers: DocumentHeaders): HttpResponse {
  return choose(context, taggedResponses(body, headers));
}

interface DocumentHeaders {
  readonly 'cache-control': string;
  readonly 'content-type': string;
}

interface TaggedResponses {
  readonly etag: string;
  readonly full: HttpResponse;
  readonly notModified: HttpResponse;
}

function taggedResponses(body: Buffer, headers: DocumentHeaders): TaggedResponses {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return {
    etag,
    full: { status: 200, headers: { ...headers, etag }, body },
    notModified: { status: 304, headers: { 'cache-control': headers['cache-control'], etag } },
  };
}

function choose(context: RequestContext, { etag, full, notModified }: TaggedResponses): HttpResponse {
  return isKnown(context.headers['if-none-match'], etag) ? notModified : full;
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
