/**
 * What clients read before anything else, without touching the database:
 * `/.well-known/openid-configuration`, `/.well-known/oauth-authorization-server`, `/.well-known/webfinger`,
 * `/oauth2/keys.json`.
 */
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import type { Route } from '#http/route.ts';
import { cacheableDocument } from './cacheable-document.ts';
import { type MetadataFacts, providerMetadata } from './metadata.ts';
import { answerWebfinger } from './webfinger.ts';

export interface DiscoveryDeps extends Omit<MetadataFacts, 'signingAlgorithms'> {
  readonly signingKeys: SigningKeys;
}

export function mount(deps: DiscoveryDeps): Route[] {
  const metadata = cacheableDocument(
    providerMetadata({ ...deps, signingAlgorithms: deps.signingKeys.algorithms() }),
    'public, max-age=600',
  );
  const keys = cacheableDocument(deps.signingKeys.publicJwks(), 'public, max-age=600, stale-while-revalidate=600');
  const document = { method: 'GET', face: 'plain-json', cors: 'get' } as const;
  return [
    ...metadataPaths(deps.issuer, deps.urls.basePath).map(
      ({ path, isAtOrigin }): Route => ({ ...document, path, isAtOrigin, resource: 'discovery', handle: metadata }),
    ),
    {
      ...document,
      path: '/.well-known/webfinger',
      resource: 'discovery',
      handle: (context) => answerWebfinger(context, deps.issuer),
    },
    { ...document, path: '/oauth2/keys.json', resource: 'oauth', handle: keys },
  ];
}

/**
 * Where clients look for the metadata: below the issuer (OpenID Connect Discovery 4.1), or at the origin with the
 * issuer's path behind (RFC 8414 3.1).
 */
function metadataPaths(issuer: string, basePath: string): { path: string; isAtOrigin: boolean }[] {
  const issuerPath = new URL(issuer).pathname.replace(/\/$/, '');
  const paths = [
    { path: '/.well-known/openid-configuration', isAtOrigin: false },
    { path: '/.well-known/oauth-authorization-server', isAtOrigin: false },
  ];
  if (issuerPath !== '') paths.push({ path: `/.well-known/oauth-authorization-server${issuerPath}`, isAtOrigin: true });
  if (`${issuerPath}/` !== basePath && issuerPath !== '') {
    paths.push({ path: `${issuerPath}/.well-known/openid-configuration`, isAtOrigin: true });
  }
  return paths;
}
