/** Parameters of an authorization request: names, limits and the parsing of some values. */
import type { FormParameters } from '#platform/http/form-parameters.ts';

/** `create`: Initiating User Registration via OpenID Connect 1.0. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'] as const;
export type Prompt = (typeof PROMPTS)[number];

/**
 * Length limits of parameters that no other check limits (security 3.10). They are stored, and no request line limits a
 * pushed or posted request.
 */
export const MAX_CHARACTERS: readonly (readonly [name: string, characters: number])[] = [
  ['acr_values', 255],
  ['claims_locales', 255],
  ['display', 255],
  ['id_token_hint', 4096],
  ['login_hint', 256],
  ['nonce', 512],
  ['prompt', 255],
  ['ui_locales', 255],
];
export const MAX_AGE_LIMIT_SECONDS = 2 ** 31 - 1;
/** If one of these is repeated, it is unclear who sends the request or where the response goes. */
const DECISIVE = ['client_id', 'redirect_uri', 'response_mode', 'state', 'response_type', 'request', 'request_uri'];
/** Known names. Others are ignored, even if repeated (RFC 6749 3.1). */
export const SINGLE_PARAMETERS: readonly string[] = [
  ...DECISIVE,
  ...['acr_values', 'authorization_details', 'claims', 'claims_locales', 'code_challenge', 'code_challenge_method'],
  ...['display', 'dpop_jkt', 'id_token_hint', 'login_hint', 'max_age', 'nonce', 'prompt', 'registration', 'scope'],
  'ui_locales',
];

/** Names that may be repeated. */
export const MULTIPLE_PARAMETERS: readonly string[] = ['resource'];

/** Returns the parameter whose repetition forbids any redirect (oauth 6.3 step 1). */
export function repeatedDecisiveParameter(parameters: FormParameters): string | undefined {
  return DECISIVE.find((name) => parameters.isRepeated(name));
}

/** Returns the words of `prompt`, including unknown ones. */
export function promptValues(parameters: FormParameters): readonly string[] {
  return (parameters.get('prompt') ?? '').split(' ').filter((value) => value !== '');
}

export function promptsOf(parameters: FormParameters): readonly Prompt[] {
  const values = promptValues(parameters);
  return PROMPTS.filter((prompt) => values.includes(prompt));
}

/** Returns seconds; undefined if absent or malformed. */
export function maxAgeOf(parameters: FormParameters): number | undefined {
  const text = parameters.get('max_age');
  if (text === undefined || !/^[0-9]{1,10}$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds <= MAX_AGE_LIMIT_SECONDS ? seconds : undefined;
}

/** Parameters that protect the request or authenticate the client. They are never passed on. */
const CONFINED: ReadonlySet<string> = new Set([
  ...['request', 'request_uri', 'state', 'nonce', 'code_challenge', 'code_challenge_method', 'dpop_jkt'],
  ...['id_token_hint', 'client_secret', 'client_assertion', 'client_assertion_type'],
]);
const MAX_TELLING_BYTES = 8 * 1024;

/**
 * Returns the parameters of a request that may be passed on, with one value each. Empty if they exceed 8 KiB in total.
 */
export function tellingParameters(parameters: FormParameters): Readonly<Record<string, string>> {
  const telling = [...parameters.names()]
    .filter((name) => !CONFINED.has(name) && !parameters.isRepeated(name))
    .map((name) => [name, parameters.get(name) ?? ''] as const);
  const size = telling.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  return size > MAX_TELLING_BYTES ? {} : Object.fromEntries(telling);
}
