/**
 * What clients read before anything else, without touching the database:
 * `/.well-known/openid-configuration`, `/.well-known/oauth-authorization-server`, `/.well-known/webfinger`,
 * `/oauth2/keys.json`.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { cacheableDocument } from './cacheable-document.ts';
import { providerMetadata } from './metadata.ts';
import { answerWebfinger } from './webfinger.ts';

export function mount(core: Core, { urls, languages }: Browser): Route[] {
  const { config, signingKeys, isRegistrationOpen } = core;
  const { issuer } = config.http;
  const metadata = cacheableDocument(
    providerMetadata({
      urls,
      issuer,
      protocolName: config.protocolName,
      signingAlgorithms: signingKeys.algorithms(),
      languages,
      policyUri: config.branding.policyUri,
      tosUri: config.branding.tosUri,
      serviceDocumentation: config.oauth.serviceDocumentation,
      isRegistrationOpen,
    }),
    'public, max-age=600',
  );
  const keys = cacheableDocument(signingKeys.publicJwks(), 'public, max-age=600, stale-while-revalidate=600');
  const document = { method: 'GET', errorFormat: 'plain-json', cors: 'get', capacity: 'essential' } as const;
  return [
    ...metadataPaths(issuer, urls.basePath).map(
      ({ path, isAtOrigin }): Route => ({ ...document, path, isAtOrigin, resource: 'discovery', handle: metadata }),
    ),
    {
      ...document,
      path: '/.well-known/webfinger',
      resource: 'discovery',
      handle: (context) => answerWebfinger(context, issuer),
    },
    { ...document, path: '/oauth2/keys.json', resource: 'oauth', handle: keys },
  ];
}

interface MetadataPath {
  readonly path: string;
  readonly isAtOrigin: boolean;
}

const OPENID = '/.well-known/openid-configuration';
const OAUTH = '/.well-known/oauth-authorization-server';

/**
 * Where clients look for the metadata: below the issuer (OpenID Connect Discovery 4.1), or at the origin with the
 * issuer's path behind (RFC 8414 3.1). An issuer with another path than the public base is looked for at the origin's
 * root too, and clients that forget to take the final slash off an issuer ask with one slash more.
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
