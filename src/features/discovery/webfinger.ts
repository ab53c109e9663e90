import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { respondTagged } from './cacheable-document.ts';

const ISSUER_RELATION = 'http://openid.net/specs/connect/1.0/issuer';
const MAX_RESOURCE_CHARACTERS = 2048;

/**
 * OpenID Connect issuer discovery (RFC 7033, OpenID Connect Discovery 2). The resource is echoed, never looked up, so
 * nothing is told about who exists.
 */
export function answerWebfinger(context: RequestContext, issuer: string): HttpResponse {
  const resource = context.query.get('resource');
  if (resource === undefined || resource.length > MAX_RESOURCE_CHARACTERS || context.query.isRepeated('resource')) {
    throw new LatchkeyError('invalid_request', {
      description: `resource is required once, with at most ${MAX_RESOURCE_CHARACTERS} characters`,
    });
  }
  const relations = context.query.all('rel');
  const wantsIssuer = relations.length === 0 || relations.includes(ISSUER_RELATION);
  const links = wantsIssuer ? [{ rel: ISSUER_RELATION, href: issuer }] : [];
  return respondTagged(context, Buffer.from(JSON.stringify({ subject: resource, links })), {
    'content-type': 'application/jrd+json',
    'cache-control': 'public, max-age=600',
  });
}
