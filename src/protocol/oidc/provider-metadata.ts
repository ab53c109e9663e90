/** What a sign-in provider publishes of itself (OpenID Connect Discovery 1.0, RFC 8414), as far as it is used here. */
import { isIP } from 'node:net';
import { parseUrl } from '#platform/base/url.ts';

export interface ProviderMetadata {
  /** Undefined: the operator has named none, and nothing is discovered. */
  readonly issuer: string | undefined;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userinfoEndpoint: string | undefined;
  readonly jwksUri: string | undefined;
  /** It can protect codes by PKCE with S256. */
  readonly hasPkce: boolean;
  /** Its answers name the issuer (RFC 9207 3). */
  readonly namesIssuer: boolean;
}

/** What the operator has set, which wins over what is published. */
export interface MetadataOverrides {
  readonly issuer: string | undefined;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string | undefined;
  readonly userinfoEndpoint: string | undefined;
  readonly jwksUri: string | undefined;
}

export type MetadataOutcome =
  | { readonly ok: true; readonly metadata: ProviderMetadata }
  /** What is wrong, for the log. */
  | { readonly ok: false; readonly problem: string };

const MAX_URL_CHARACTERS = 2048;

/**
 * Reads the published document. Members that are not used here may hold anything.
 * @param isStrict the issuer has to be the configured one, and all addresses https, unless they are on this machine
 */
export function readProviderMetadata(
  document: unknown,
  overrides: MetadataOverrides,
  { isStrict }: { readonly isStrict: boolean },
): MetadataOutcome {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return wrong('it is not an object');
  // Never read as properties: a name may be `__proto__`.
  const members = new Map<string, unknown>(Object.entries(document));
  const issuer = members.get('issuer');
  if (typeof issuer !== 'string') return wrong('it names no issuer');
  if (isStrict && issuer !== overrides.issuer) return wrong('it names another issuer');
  const published = (name: string): string | undefined => {
    const value = members.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const endpoints = {
    authorizationEndpoint: overrides.authorizationEndpoint ?? published('authorization_endpoint'),
    tokenEndpoint: overrides.tokenEndpoint ?? published('token_endpoint'),
    userinfoEndpoint: overrides.userinfoEndpoint ?? published('userinfo_endpoint'),
    jwksUri: overrides.jwksUri ?? published('jwks_uri'),
  };
  for (const [name, address] of Object.entries(endpoints)) {
    if (address !== undefined && !isUsable(address, isStrict)) return wrong(`its ${name} is not a usable address`);
  }
  const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri } = endpoints;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    return wrong('it lacks the authorization endpoint or the token endpoint');
  }
  const methods = members.get('code_challenge_methods_supported');
  return {
    ok: true,
    metadata: {
      issuer,
      authorizationEndpoint,
      tokenEndpoint,
      userinfoEndpoint,
      jwksUri,
      hasPkce: Array.isArray(methods) && methods.includes('S256'),
      namesIssuer: members.get('authorization_response_iss_parameter_supported') === true,
    },
  };
}

/** The members that `readProviderMetadata` reads, for a copy that is kept. */
export function usedMembers(document: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(document).filter(([name]) => USED_MEMBERS.has(name)));
}

const USED_MEMBERS = new Set([
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'code_challenge_methods_supported',
  'authorization_response_iss_parameter_supported',
]);

/** Whether nobody on the way can read along: https, or this machine. */
export function isProtectedAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:' || hostname === 'localhost') return true;
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}

function isUsable(address: string, isStrict: boolean): boolean {
  if (address.length > MAX_URL_CHARACTERS || !/^https?:\/\//i.test(address)) return false;
  const url = parseUrl(address);
  if (url === undefined) return false;
  const { username, password, hash } = url;
  return username === '' && password === '' && hash === '' && (!isStrict || isProtectedAddress(address));
}

function wrong(problem: string): MetadataOutcome {
  return { ok: false, problem };
}
