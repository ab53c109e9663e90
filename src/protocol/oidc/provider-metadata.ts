/** Published metadata of upstream providers (OpenID Connect Discovery 1.0, RFC 8414), as far as it is used here. */
import { isIP } from 'node:net';
import { parseUrl } from '#platform/base/url.ts';

export interface ProviderMetadata {
  /** Undefined if the operator has not set one. Discovery is then not used. */
  readonly issuer: string | undefined;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userinfoEndpoint: string | undefined;
  readonly jwksUri: string | undefined;
  /** Supports PKCE with S256. */
  readonly hasPkce: boolean;
  /** Its responses name the issuer (RFC 9207 3). */
  readonly namesIssuer: boolean;
}

/** The operator's settings, which take precedence over published metadata. */
export interface MetadataOverrides {
  readonly issuer: string | undefined;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string | undefined;
  readonly userinfoEndpoint: string | undefined;
  readonly jwksUri: string | undefined;
}

export type MetadataOutcome =
  | { readonly ok: true; readonly metadata: ProviderMetadata }
  /** Description of the problem, for the log. */
  | { readonly ok: false; readonly problem: string; readonly isOtherIssuer?: true };

const MAX_URL_CHARACTERS = 2048;

/**
 * Parses the published document. Unused members may contain anything.
 * @param isStrict requires the configured issuer, and https for all URLs unless they point to this machine
 */
export function readProviderMetadata(
  document: unknown,
  overrides: MetadataOverrides,
  { isStrict }: { readonly isStrict: boolean },
): MetadataOutcome {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return wrong('not a JSON object');
  // Uses a map instead of properties, because a name may be `__proto__`.
  const members = new Map<string, unknown>(Object.entries(document));
  const issuer = members.get('issuer');
  if (typeof issuer !== 'string') return wrong('missing issuer');
  if (isStrict && issuer !== overrides.issuer) {
    return { ok: false, problem: 'issuer does not match', isOtherIssuer: true };
  }
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
    if (address !== undefined && !isUsable(address, isStrict)) return wrong(`${name} is not a valid URL`);
  }
  const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri } = endpoints;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    return wrong('missing authorization endpoint or token endpoint');
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

/** Returns the members that `readProviderMetadata` uses, for a stored copy. */
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

/** Returns whether traffic to this URL cannot be intercepted: https, or this machine. */
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
