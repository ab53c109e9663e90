/** Why a sign-in provider did not work, as administrators see it. Contains no text of the provider. */
import type { NotSent } from '#platform/outbound-http/outbound-http.ts';

/** What the provider was used for. */
type Part = 'discovery' | 'keys' | 'sign_in';

const NETWORK =
  'Check the spelling, DNS records, firewalls and proxies on the way, and the certificate of the provider.';
const ENTRY = 'Compare the entry in upstream_oauth2.providers with the documentation of the provider';

/** What each error means, and what to do about it. */
const ERRORS = {
  discovery_unreachable: ['discovery', 'The connection to the discovery URL failed.', `Check the issuer. ${NETWORK}`],
  discovery_timeout: [
    'discovery',
    'The discovery URL did not respond in time.',
    'Check that the provider runs and is not overloaded, and firewalls on the way.',
  ],
  discovery_wrong_status: [
    'discovery',
    'The discovery URL does not respond with status 200.',
    `${ENTRY}: the discovery URL is the issuer with /.well-known/openid-configuration.`,
  ],
  discovery_wrong_issuer: [
    'discovery',
    'The discovery document names another issuer.',
    'Set issuer exactly as the document spells it. A provider with one issuer per tenant needs discovery_mode: insecure.',
  ],
  discovery_invalid: [
    'discovery',
    'The discovery document is incomplete or invalid.',
    `${ENTRY}. Endpoints can also be set there, with discovery_mode: disabled.`,
  ],
  keys_missing: [
    'keys',
    'The provider publishes no usable key, or no URL of its keys.',
    `${ENTRY}. Set jwks_uri if the discovery document has none.`,
  ],
  keys_unreachable: ['keys', 'The connection to the URL of the keys failed.', `Check jwks_uri. ${NETWORK}`],
  keys_timeout: [
    'keys',
    'The URL of the keys did not respond in time.',
    'Check that the provider runs and is not overloaded, and firewalls on the way.',
  ],
  keys_invalid: [
    'keys',
    'The URL of the keys does not respond with a key set.',
    `${ENTRY}. Set jwks_uri if the discovery document has a wrong one.`,
  ],
  client_rejected: [
    'sign_in',
    'The provider rejected the client or its secret.',
    'Check client_id, client_secret and token_endpoint_auth_method. The secret may have expired at the provider.',
  ],
  token_unavailable: [
    'sign_in',
    'The token endpoint did not respond, or reported an error of its own.',
    'Check that the provider runs, and the connection to its token endpoint.',
  ],
  token_invalid: [
    'sign_in',
    'The response of the token endpoint cannot be used.',
    `${ENTRY}, especially scope and token_endpoint.`,
  ],
  id_token_invalid: [
    'sign_in',
    'The ID token is not valid: its signature, issuer, audience or time is wrong.',
    'Check issuer, client_id, jwks_uri and id_token_signed_response_alg, and synchronize the clocks.',
  ],
  userinfo_failed: [
    'sign_in',
    'The userinfo endpoint did not respond as expected.',
    'Check userinfo_endpoint and scope, or set fetch_userinfo: false if the ID token contains all claims.',
  ],
} as const satisfies Readonly<Record<string, readonly [Part, string, string]>>;

export type ProviderErrorCode = keyof typeof ERRORS;

export const PROVIDER_ERROR_CODES = Object.keys(ERRORS).sort();

/** Time after which a failed sign-in no longer counts, although nobody has signed in since. */
const SIGN_IN_ERROR_MS = 86_400_000;

export interface ProviderError {
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly message: string;
  readonly remedy: string;
  /** What failed has not succeeded since. */
  readonly isCurrent: boolean;
}

/** When a provider last worked, and its last error. Times in milliseconds since the epoch. */
export interface ProviderTimes {
  readonly metadata_fetched_at: number | null;
  readonly keys_fetched_at: number | null;
  readonly last_success_at: number | null;
  readonly last_error: string | null;
  readonly last_error_at: number | null;
}

/** Returns the last error; undefined if there was none. */
export function lastErrorOf(times: ProviderTimes, now: number): ProviderError | undefined {
  const { last_error: code, last_error_at: at } = times;
  if (code === null || at === null) return undefined;
  // Another version of the service may have stored it.
  if (!isProviderErrorCode(code)) return { code, at, message: code, remedy: '', isCurrent: false };
  const [part, message, remedy] = ERRORS[code];
  const success = successOf(part, times) ?? Number.NEGATIVE_INFINITY;
  const isRecent = part !== 'sign_in' || now - at < SIGN_IN_ERROR_MS;
  return { code, at, message, remedy, isCurrent: success <= at && isRecent };
}

function successOf(part: Part, times: ProviderTimes): number | null {
  switch (part) {
    case 'discovery':
      return times.metadata_fetched_at;
    case 'keys':
      return times.keys_fetched_at;
    case 'sign_in':
      return times.last_success_at;
  }
}

function isProviderErrorCode(code: string): code is ProviderErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Returns undefined if the cause is a limit of this service. */
export function discoveryError({ reason }: NotSent): ProviderErrorCode | undefined {
  switch (reason) {
    case 'busy':
    case 'resting':
      return undefined;
    case 'timeout':
      return 'discovery_timeout';
    case 'redirect':
    case 'status':
      return 'discovery_wrong_status';
    case 'too-large':
    case 'encoding':
      return 'discovery_invalid';
    default:
      return 'discovery_unreachable';
  }
}

/** Does the same for the URL of the keys. */
export function keysError({ reason }: NotSent): ProviderErrorCode | undefined {
  switch (reason) {
    case 'busy':
    case 'resting':
      return undefined;
    case 'timeout':
      return 'keys_timeout';
    case 'redirect':
    case 'status':
    case 'too-large':
    case 'encoding':
      return 'keys_invalid';
    default:
      return 'keys_unreachable';
  }
}
