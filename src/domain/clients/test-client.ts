import type { Config } from '#config/config.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { Fetched, NotSent, OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { usableKeys } from '#protocol/jose/json-web-keys.ts';
import { builtinRedirectUriProblem } from '#protocol/oauth/builtin-clients.ts';
import { isLoopbackRedirectUri } from '#protocol/oauth/redirect-uris.ts';
import { canSignWith } from '#protocol/oauth/registered-keys.ts';
import { sectorMembers } from '#protocol/oidc/sector.ts';
import type { ClientKind, ClientMetadata } from './client.ts';
import { logoType } from './logo-type.ts';

/** What each finding means, and what to do about it. */
const FINDINGS = {
  ok: ['ok', 'No problem was found.', ''],
  client_disabled: ['warning', 'The client is disabled.', 'Enable the client.'],
  redirect_uris_missing: [
    'error',
    'The client has no redirect URI, so users cannot sign in to it.',
    'Add the callback URL of the application.',
  ],
  redirect_uri_insecure: [
    'warning',
    'Codes for this URI cross the network without encryption.',
    'Serve the application over https.',
  ],
  redirect_uri_native: [
    'warning',
    'Only an application on the device of the user can receive this redirect, but the client is a web application.',
    'Set the application type to native, or use an https URL.',
  ],
  redirect_uri_with_secret: [
    'warning',
    'An application on the device of the user cannot keep a secret.',
    'Use a public client with PKCE.',
  ],
  redirect_uri_of_service: ['error', 'The URI belongs to the admin area of this service.', 'Remove the URI.'],
  url_not_allowed: [
    'error',
    'This service does not request this URL: only https, a host name instead of an IP address, and permitted ports.',
    'Change the URL, or permit the port with outbound.allowed_ports.',
  ],
  name_unknown: ['error', 'The host name has no address.', 'Check the spelling and the DNS records.'],
  address_not_allowed: [
    'error',
    'The host name resolves to an address that is not public.',
    'Permit the network with outbound.allowed_networks, if the application is in your own network.',
  ],
  not_reachable: [
    'error',
    'The connection failed, or the certificate is not valid.',
    'Check that the application runs, its certificate, and firewalls on the way.',
  ],
  timeout: ['error', 'The application did not respond in time.', 'Check that it runs and is not overloaded.'],
  busy: ['warning', 'Too many requests are in progress, so this was not checked.', 'Test again in a minute.'],
  redirected: ['error', 'The URL redirects. Redirects are not followed.', 'Set the URL that the redirect leads to.'],
  wrong_status: ['error', 'The response does not have status 200.', 'Check the URL.'],
  too_large: ['error', 'The response is larger than 256 KiB.', 'Make the document smaller.'],
  unreadable: ['error', 'The response cannot be decoded.', 'Check what is served at this URL.'],
  keys_missing: [
    'error',
    'The document contains no key that the client can sign with.',
    'Publish a JSON Web Key Set with a public key for the configured algorithms.',
  ],
  sector_incomplete: [
    'error',
    'The document is not a JSON list that contains all redirect URIs.',
    'Add the missing redirect URIs to the list.',
  ],
  logo_not_image: ['error', 'The response is not an image.', 'Use a PNG, JPEG, GIF, WebP or SVG image.'],
  logos_off: ['warning', 'Logos of clients are not shown.', 'Set account.client_logos to proxy, or remove the logo.'],
  logout_refused: [
    'error',
    'The response to a test request shows that there is no logout endpoint.',
    'Check the URL: it must accept POST requests.',
  ],
  logout_unchecked: [
    'warning',
    'The application accepted a logout token that is not valid.',
    'Check that the application verifies logout tokens.',
  ],
} as const satisfies Readonly<Record<string, readonly ['ok' | 'warning' | 'error', string, string]>>;

export type FindingCode = keyof typeof FINDINGS;

export const FINDING_CODES = Object.keys(FINDINGS).sort();

export interface ClientFinding {
  readonly code: FindingCode;
  readonly status: 'ok' | 'warning' | 'error';
  /** Property of the client that was checked. */
  readonly member: CheckedMember;
  /** The checked URL. Null: the finding is about the whole property. */
  readonly url: string | null;
  readonly message: string;
  /** Empty if nothing has to be done. */
  readonly remedy: string;
}

export type CheckedMember =
  | 'disabled_at'
  | 'redirect_uris'
  | 'jwks_uri'
  | 'sector_identifier_uri'
  | 'logo_uri'
  | 'backchannel_logout_uri';

export interface TestedClient {
  readonly kind: ClientKind;
  readonly isDisabled: boolean;
  readonly metadata: ClientMetadata;
  /** The logo that users see. */
  readonly logoUri: string | undefined;
}

export interface TestClientDeps {
  readonly config: Pick<Config, 'account' | 'http'>;
  readonly outbound: Pick<OutboundHttp, 'get' | 'post'>;
}

/**
 * Checks what can be checked of a client without a user. The service requests the client's URLs as it does in use: those
 * of clients that are not configured only through the guard (security 3.9). Takes five seconds at most.
 */
export async function testClient(deps: TestClientDeps, client: TestedClient): Promise<readonly ClientFinding[]> {
  const requested = await Promise.all([
    testKeys(deps, client),
    testSector(deps, client),
    testLogo(deps, client),
    testLogout(deps, client),
  ]);
  return [
    ...(client.isDisabled ? [finding('client_disabled', 'disabled_at')] : []),
    ...testRedirectUris(deps, client),
    ...requested.flat(),
  ];
}

function finding(code: FindingCode, member: CheckedMember, url: string | null = null): ClientFinding {
  const [status, message, remedy] = FINDINGS[code];
  return { code, status, member, url, message, remedy };
}

function testRedirectUris({ config }: TestClientDeps, { metadata }: TestedClient): readonly ClientFinding[] {
  const { application_type: type, grant_types, redirect_uris, token_endpoint_auth_method: method } = metadata;
  if (redirect_uris.length === 0) {
    const isMissing = grant_types.includes('authorization_code');
    return isMissing ? [finding('redirect_uris_missing', 'redirect_uris')] : [];
  }
  return redirect_uris.map((uri) => {
    const code = redirectUriFinding(uri, { type, isConfidential: method !== 'none', base: config.http.publicBase });
    return finding(code, 'redirect_uris', uri);
  });
}

interface RedirectUriOwner {
  readonly type: ClientMetadata['application_type'];
  readonly isConfidential: boolean;
  readonly base: string;
}

function redirectUriFinding(uri: string, { type, isConfidential, base }: RedirectUriOwner): FindingCode {
  if (builtinRedirectUriProblem(uri, base) !== undefined) return 'redirect_uri_of_service';
  const isLoopback = isLoopbackRedirectUri(uri);
  const isPrivateUse = !/^https?:/i.test(uri);
  if ((isLoopback || isPrivateUse) && type === 'web') return 'redirect_uri_native';
  // A development server on the same machine may keep a secret.
  if (isPrivateUse && isConfidential) return 'redirect_uri_with_secret';
  if (/^http:/i.test(uri) && !isLoopback) return 'redirect_uri_insecure';
  return 'ok';
}

async function testKeys(deps: TestClientDeps, client: TestedClient): Promise<readonly ClientFinding[]> {
  const { jwks_uri: url, token_endpoint_auth_signing_alg, request_object_signing_alg } = client.metadata;
  return await testDocument(deps, client, { member: 'jwks_uri', url, accept: 'application/json' }, ({ body }) => {
    const keys = usableKeys(jsonOf(body));
    const algorithms = [token_endpoint_auth_signing_alg, request_object_signing_alg].filter(
      (name) => name !== undefined,
    );
    return keys.length > 0 && algorithms.every((name) => canSignWith(keys, name)) ? 'ok' : 'keys_missing';
  });
}

async function testSector(deps: TestClientDeps, client: TestedClient): Promise<readonly ClientFinding[]> {
  const { redirect_uris, sector_identifier_uri: url } = client.metadata;
  const member = 'sector_identifier_uri';
  return await testDocument(deps, client, { member, url, accept: 'application/json' }, ({ body }) => {
    const members = sectorMembers(jsonOf(body));
    return redirect_uris.every((uri) => members.includes(uri)) ? 'ok' : 'sector_incomplete';
  });
}

async function testLogo(deps: TestClientDeps, client: TestedClient): Promise<readonly ClientFinding[]> {
  const { logoUri: url } = client;
  if (url === undefined) return [];
  if (deps.config.account.clientLogos === 'initials') return [finding('logos_off', 'logo_uri', url)];
  return await testDocument(deps, client, { member: 'logo_uri', url, accept: 'image/*' }, ({ body, mediaType }) =>
    logoType(body, mediaType) === undefined ? 'logo_not_image' : 'ok',
  );
}

/** Sends a token that no application may accept, so that nobody is signed out. */
async function testLogout({ outbound }: TestClientDeps, client: TestedClient): Promise<readonly ClientFinding[]> {
  const { backchannel_logout_uri: url } = client.metadata;
  if (url === undefined) return [];
  const posted = await outbound.post(url, { logout_token: 'test' }, { isConfigured: client.kind === 'static' });
  return [
    finding(posted.ok ? logoutFinding(posted.status) : failureFinding(posted.reason), 'backchannel_logout_uri', url),
  ];
}

/** OpenID Connect Back-Channel Logout 1.0, 2.8: an invalid token gets status 400. */
function logoutFinding(status: number): FindingCode {
  if (status < 300) return 'logout_unchecked';
  return status === 404 || status === 405 || status >= 500 ? 'logout_refused' : 'ok';
}

interface TestedDocument {
  readonly member: CheckedMember;
  readonly url: string | undefined;
  readonly accept: string;
}

async function testDocument(
  { outbound }: TestClientDeps,
  { kind }: TestedClient,
  { member, url, accept }: TestedDocument,
  judge: (fetched: Fetched) => FindingCode,
): Promise<readonly ClientFinding[]> {
  if (url === undefined) return [];
  const fetched = await outbound.get(url, { accept, isConfigured: kind === 'static', ignoresFailures: true });
  return [finding(fetched.ok ? judge(fetched) : failureFinding(fetched.reason), member, url)];
}

function failureFinding(reason: NotSent['reason']): FindingCode {
  switch (reason) {
    case 'url':
      return 'url_not_allowed';
    case 'name':
      return 'name_unknown';
    case 'address':
      return 'address_not_allowed';
    case 'connection':
      return 'not_reachable';
    case 'timeout':
      return 'timeout';
    case 'busy':
    case 'resting':
      return 'busy';
    case 'redirect':
      return 'redirected';
    case 'status':
      return 'wrong_status';
    case 'too-large':
      return 'too_large';
    case 'encoding':
      return 'unreadable';
  }
}

/** Returns undefined for what is not JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}
