import type { Client } from '#domain/clients/client.ts';
import type { Log } from '#platform/base/log.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { isClientIdUrl } from '#protocol/oauth/client-id-url.ts';
import { cutForLog, uriForLog, urisForLog, valuesForLog } from '#protocol/oauth/uris-in-logs.ts';

/** Shorter than any client secret. */
const SAFE_CHARACTERS = 15;
/** Parameters whose values are neither secrets nor personal data. */
const LOGGED_VALUES = new Set([
  'acr_values',
  'code_challenge_method',
  'max_age',
  'prompt',
  'resource',
  'response_mode',
  'response_type',
  'scope',
]);

export interface RefusedRequest {
  readonly code: string;
  readonly description: string;
  /** Undefined if unknown. */
  readonly client: Client | undefined;
  /** Undefined if they cannot be decoded, or if the request was stored. */
  readonly parameters?: FormParameters | undefined;
  /** Redirect URI of a stored request. */
  readonly redirectUri?: string | undefined;
  /** Names of the parameters that the description refers to. */
  readonly about?: readonly string[] | undefined;
  readonly expected?: string | undefined;
  /** Name of the setting that rejects the request. */
  readonly setting?: string | undefined;
}

/** Logs the problem with an authorization request for the operator, who can inform the client's developer. */
export function logRefusal(log: Log, refused: RefusedRequest): void {
  const { code, description, client, parameters, about = [], expected } = refused;
  const redirectUri = refused.redirectUri ?? parameters?.get('redirect_uri');
  log.info('auth.refused', 'authorization request refused', {
    code,
    description,
    client: client?.identifier ?? shortened(parameters?.get('client_id')),
    redirect_uri: redirectUri === undefined ? undefined : uriForLog(redirectUri),
    registered: client === undefined ? undefined : urisForLog(client.redirectUris),
    expected: expected === undefined ? undefined : cutForLog(expected),
    setting: refused.setting,
    received: parameters === undefined || about.length === 0 ? undefined : received(parameters, about),
  });
}

/** Shortens a `client_id` that may be invalid, so that a secret sent in its place stays unreadable. */
function shortened(clientId: string | undefined): string | undefined {
  if (clientId !== undefined && isClientIdUrl(clientId)) return uriForLog(clientId);
  if (clientId === undefined || clientId.length <= SAFE_CHARACTERS || /^[0-9A-HJKMNP-TV-Z]{26}$/.test(clientId))
    return clientId;
  return `${clientId.slice(0, 6)}... (${clientId.length} characters)`;
}

function received(parameters: FormParameters, names: readonly string[]): string {
  return names
    .map((name) => {
      const values = parameters.all(name);
      if (values.length === 0) return `no ${name}`;
      if (LOGGED_VALUES.has(name)) return `${name}=${valuesForLog(values)}`;
      return `${name} of ${values[0]?.length ?? 0} characters`;
    })
    .join(', ');
}
