import type { Client } from '#domain/clients/client.ts';
import type { Log } from '#platform/base/log.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';

const MAX_LISTED = 10;
const MAX_CHARACTERS = 200;
/** Shorter than any secret of a client. */
const SAFE_CHARACTERS = 15;
/** Parameters whose values are neither secrets nor personal data. */
const LOGGED_VALUES = new Set([
  'code_challenge_method',
  'max_age',
  'prompt',
  'response_mode',
  'response_type',
  'scope',
]);

export interface RefusedRequest {
  readonly code: string;
  readonly description: string;
  /** Undefined: unknown. */
  readonly client: Client | undefined;
  /** Undefined: not decodable, or of a request that was stored. */
  readonly parameters?: FormParameters | undefined;
  /** Of a request that was stored. */
  readonly redirectUri?: string | undefined;
  /** Names of the parameters that the description is about. */
  readonly about?: readonly string[] | undefined;
  readonly expected?: string | undefined;
}

/** Tells the operator, and through them the developer of the client, what was wrong with an authorization request. */
export function logRefusal(log: Log, refused: RefusedRequest): void {
  const { code, description, client, parameters, about = [], expected } = refused;
  const redirectUri = refused.redirectUri ?? parameters?.get('redirect_uri');
  log.info('auth.refused', 'authorization request refused', {
    code,
    description,
    client: client?.id ?? shortened(parameters?.get('client_id')),
    redirect_uri: redirectUri === undefined ? undefined : loggedUri(redirectUri),
    registered: client === undefined ? undefined : listed(client.redirectUris.map(loggedUri)),
    expected: expected === undefined ? undefined : cut(expected),
    received: parameters === undefined || about.length === 0 ? undefined : cut(received(parameters, about)),
  });
}

/** Scheme, host and path; `?...` or `#...` in place of a query or fragment, which may hold a secret. */
function loggedUri(uri: string): string {
  if (!URL.canParse(uri)) return `no URI (${uri.length} characters)`;
  const plain = uri.replace(/^([^:]+:\/\/)[^/?#]*@/, '$1...@');
  const end = plain.search(/[?#]/);
  return cut(end === -1 ? plain : `${plain.slice(0, end + 1)}...`);
}

/** A `client_id` that may be none: a secret sent in its place stays unreadable. */
function shortened(clientId: string | undefined): string | undefined {
  if (clientId === undefined || clientId.length <= SAFE_CHARACTERS || /^[0-9A-HJKMNP-TV-Z]{26}$/.test(clientId))
    return clientId;
  return `${clientId.slice(0, 6)}... (${clientId.length} characters)`;
}

function received(parameters: FormParameters, names: readonly string[]): string {
  return names
    .map((name) => {
      const value = parameters.get(name);
      if (value === undefined) return `no ${name}`;
      return LOGGED_VALUES.has(name) ? `${name}=${value}` : `${name} of ${value.length} characters`;
    })
    .join(', ');
}

function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_LISTED;
  const first = texts.slice(0, MAX_LISTED).join(' ');
  return more > 0 ? `${first} and ${more} more` : first;
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}...` : text;
}
