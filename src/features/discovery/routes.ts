/**
 * Documents that clients read first. They are served without database access: `/.well-known/openid-configuration`,
 * `/.well-known/oauth-authorization-server`, `/.well-known/webfinger`, `/oauth2/keys.json`, and for people who report
 * vulnerabilities `/.well-known/security.txt`.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { cacheableDocument, respondTagged } from './cacheable-document.ts';
import { providerMetadata } from './metadata.ts';
import { handleSecurityContact } from './security-contact.ts';

export function mount(core: Core, browser: Browser): Route[] {
  const { issuer } = core.config.http;
  const revision = (): number => core.signingKeys.revision;
  const metadata = cacheableDocument({
    cacheControl: 'public, max-age=600',
    revision,
    make: () => providerMetadata(core, browser),
  });
  const keys = cacheableDocument({
    cacheControl: 'public, max-age=600, stale-while-revalidate=600',
    revision,
    make: () => core.signingKeys.publicJwks(),
  });
  const document = {
    method: 'GET',
    errorFormat: 'plain-json',
    cors: 'get',
    capacity: 'essential',
    isClockIndependent: true,
  } as const;
  return [
    ...metadataPaths(issuer, browser.urls.basePath).map(
      ({ path, isAtOrigin }): Route => ({ ...document, path, isAtOrigin, resource: 'discovery', handle: metadata }),
    ),
    {
      ...document,
      path: '/.well-known/webfinger',
      resource: 'discovery',
      handle: (context) => handleWebfinger(context, issuer),
    },
    { ...document, path: '/oauth2/keys.json', resource: 'oauth', handle: keys },
    {
      method: 'GET',
      path: '/.well-known/security.txt',
      resource: 'discovery',
      errorFormat: 'plain-json',
      cors: 'get',
      // RFC 9116 3: at the root of the origin.
      isAtOrigin: true,
      handle: (context) => handleSecurityContact(core, browser, context),
    },
  ];
}

interface MetadataPath {
  readonly path: string;
  readonly isAtOrigin: boolean;
}

const OPENID = '/.well-known/openid-configuration';
const OAUTH = '/.well-known/oauth-authorization-server';

/**
 * Where clients look for the metadata: below the issuer (OpenID Connect Discovery 4.1), or at the origin followed by
 * the issuer's path (RFC 8414 3.1). If the issuer's path differs from the public base URL's, clients also look at the
 * origin's root. Clients that append the path to an issuer with a trailing slash request a double slash.
 */
function metadataPaths(issuer: string, basePath: string): MetadataPath[] {
  const issuerPath = new URL(issuer).pathname.replace(/\/$/, '');
  const isElsewhere = `${issuerPath}/` !== basePath;
  const paths = [OPENID, OAUTH].flatMap((path) => withDoubledSlash(path, isElsewhere));
  paths.push({ path: `${OAUTH}${issuerPath}/`, isAtOrigin: true });
  if (issuerPath !== '') {
    paths.push({ path: `${OAUTH}${issuerPath}`, isAtOrigin: true });
    if (isElsewhere) paths.push(...withDoubledSlash(`${issuerPath}${OPENID}`, true));
  }
  return paths;
}

function withDoubledSlash(path: string, isAtOrigin: boolean): MetadataPath[] {
  return [
    { path, isAtOrigin },
    { path: path.replace('/.well-known/', '//.well-known/'), isAtOrigin },
  ];
}

const ISSUER_RELATION = 'http://openid.net/specs/connect/1.0/issuer';
const MAX_RESOURCE_CHARACTERS = 2048;

/**
 * OpenID Connect issuer discovery (RFC 7033, OpenID Connect Discovery 2). The resource is echoed without a lookup, so
 * that the response does not reveal which accounts exist.
 */
function handleWebfinger(context: RequestContext, issuer: string): HttpResponse {
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
