/** Steps 7 to 12 of oauth 6.3: one check per possible error of a request whose redirect URI is verified. */
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { parseClaimsParameter } from '../oidc/claims-parameter.ts';
import type { AuthorizationErrorCode } from './authorization-response.ts';
import { isThumbprint } from './dpop-proof.ts';
import { CODE_CHALLENGE_METHOD, challengeProblem } from './pkce.ts';
import {
  MAX_AGE_LIMIT_SECONDS,
  MAX_CHARACTERS,
  maxAgeOf,
  promptValues,
  SINGLE_PARAMETERS,
} from './request-parameters.ts';

/** Client properties used by the checks. */
export interface RequestingClient {
  /** The client has no secret, so only PKCE protects its codes. */
  readonly isPublic: boolean;
  /** The client must follow FAPI 2.0. */
  readonly isFapi2: boolean;
  readonly redirectUris: readonly string[];
  readonly hasParsedRedirectUris?: boolean;
  readonly grantTypes: readonly string[];
  /** Maximum, and default if the request has none; undefined for no restriction. */
  readonly scope: readonly string[] | undefined;
  /** Seconds. */
  readonly defaultMaxAge: number | undefined;
  /** Used if the request has no `acr_values`. */
  readonly defaultAcrValues: readonly string[];
  /** Undefined if the client may learn account IDs. */
  readonly sector: string | undefined;
  /** Requests must be pushed (RFC 9126 6). */
  readonly requiresPushedRequests: boolean;
  /** The client accepts only access tokens bound to a key. */
  readonly hasBoundTokens: boolean;
  /** Requests must be signed (RFC 9101 10.5). */
  readonly requiresSignedRequests: boolean;
}

/** Parameters of a request, and how they arrived as far as clients may require that. */
export interface ReceivedRequest {
  readonly parameters: FormParameters;
  readonly isPushed: boolean;
  /** They arrived in a request object of the client. */
  readonly isSigned: boolean;
}

/** Why a request is rejected. */
export interface Refusal<Code> {
  readonly error: Code;
  /** A sentence for the developer. */
  readonly description: string;
  /** Names of the parameters concerned. */
  readonly about?: readonly string[];
  /** The expected value, if that is clearer than the sentence. */
  readonly expected?: string | undefined;
}

export type AuthorizationRefusal = Refusal<AuthorizationErrorCode>;
type Check = (
  parameters: FormParameters,
  client: RequestingClient,
  received: ReceivedRequest,
) => AuthorizationRefusal | undefined;

/** Step 7, which also includes an invalid `id_token_hint`. All of these errors are returned by redirect. */
export const MALFORMED: readonly Check[] = [
  repetition,
  tooLong,
  malformedMaxAge,
  contradictoryPrompts,
  malformedKey,
  malformedClaims,
];

/** Steps 8 to 12. */
export const UNACCEPTED: readonly Check[] = [
  unsupportedParameter,
  insistence,
  responseType,
  grantType,
  codeChallenge,
  sentRedirectUri,
];

export function firstRefusal(checks: readonly Check[], ...judged: Parameters<Check>): AuthorizationRefusal | undefined {
  for (const check of checks) {
    const refusal = check(...judged);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function repetition(parameters: FormParameters): AuthorizationRefusal | undefined {
  const name = SINGLE_PARAMETERS.find((candidate) => parameters.isRepeated(candidate));
  return name === undefined ? undefined : invalid(`${name} is given more than once`, name);
}

function tooLong(parameters: FormParameters): AuthorizationRefusal | undefined {
  const found = MAX_CHARACTERS.find(([name, characters]) => (parameters.get(name)?.length ?? 0) > characters);
  if (found === undefined) return undefined;
  const [name, characters] = found;
  return invalid(`${name} must have at most ${characters} characters`, name);
}

function malformedMaxAge(parameters: FormParameters): AuthorizationRefusal | undefined {
  if (!parameters.has('max_age') || maxAgeOf(parameters) !== undefined) return undefined;
  return invalid(`max_age must be a whole number of seconds from 0 to ${MAX_AGE_LIMIT_SECONDS}`, 'max_age');
}

function contradictoryPrompts(parameters: FormParameters): AuthorizationRefusal | undefined {
  const values = promptValues(parameters);
  if (!values.includes('none') || values.every((value) => value === 'none')) return undefined;
  return invalid('prompt none cannot be combined with other values', 'prompt');
}

function malformedKey(parameters: FormParameters): AuthorizationRefusal | undefined {
  const thumbprint = parameters.get('dpop_jkt');
  if (thumbprint === undefined || isThumbprint(thumbprint)) return undefined;
  return invalid('dpop_jkt must be the SHA-256 thumbprint of a key, 43 characters of base64url', 'dpop_jkt');
}

function malformedClaims(parameters: FormParameters): AuthorizationRefusal | undefined {
  const claims = parameters.get('claims');
  if (claims === undefined || parseClaimsParameter(claims) !== undefined) return undefined;
  const description =
    'claims must be a JSON object of at most 4096 characters with the members id_token and userinfo; the values requested for sub must be strings';
  return invalid(description, 'claims');
}

/** Parameters that must not be ignored, because the client would assume that they took effect. */
const UNSUPPORTED: readonly (readonly [name: string, error: AuthorizationErrorCode])[] = [
  ['authorization_details', 'invalid_request'],
  ['request_uri', 'request_uri_not_supported'],
  ['registration', 'registration_not_supported'],
];

function unsupportedParameter(parameters: FormParameters): AuthorizationRefusal | undefined {
  const found = UNSUPPORTED.find(([name]) => parameters.has(name));
  if (found === undefined) return undefined;
  const [name, error] = found;
  return { error, description: `${name} is not supported`, about: [name] };
}

/** Step 9: a requirement of the client protects its users only if other requests in its name are rejected. */
function insistence(
  _: FormParameters,
  client: RequestingClient,
  { isPushed, isSigned }: ReceivedRequest,
): AuthorizationRefusal | undefined {
  if (client.requiresPushedRequests && !isPushed) {
    return invalid(
      'this client must use pushed authorization requests: send the request to the PAR endpoint first',
      'request_uri',
    );
  }
  if (!client.requiresSignedRequests || isSigned) return undefined;
  return invalid('this client must sign its requests: send the request as a request object', 'request');
}

function responseType(parameters: FormParameters): AuthorizationRefusal | undefined {
  const type = parameters.get('response_type');
  if (type === 'code') return undefined;
  const about = ['response_type'];
  const expected = 'code';
  if (type === undefined) return { ...invalid('response_type is required; it must be code', ...about), expected };
  const description = 'the only supported response_type is code';
  return { error: 'unsupported_response_type', description, about, expected };
}

function grantType(_: FormParameters, client: RequestingClient): AuthorizationRefusal | undefined {
  if (client.grantTypes.includes('authorization_code')) return undefined;
  const description = 'the client is not registered for the grant type authorization_code';
  return { error: 'unauthorized_client', description, expected: client.grantTypes.join(', ') };
}

function codeChallenge(parameters: FormParameters, client: RequestingClient): AuthorizationRefusal | undefined {
  const method = parameters.get('code_challenge_method');
  const problem = challengeProblem(parameters.get('code_challenge'), method, client.isPublic || client.isFapi2);
  if (problem === undefined) return undefined;
  const expected = `code_challenge_method=${CODE_CHALLENGE_METHOD} with a code_challenge of 43 characters`;
  return { ...invalid(problem, 'code_challenge', 'code_challenge_method'), expected };
}

/** FAPI 2.0 Security Profile 5.3.2.2: a single registered URI is not implied. */
function sentRedirectUri(parameters: FormParameters, client: RequestingClient): AuthorizationRefusal | undefined {
  if (!client.isFapi2 || parameters.has('redirect_uri')) return undefined;
  return invalid('redirect_uri is required for this client', 'redirect_uri');
}

export function invalid(description: string, ...about: readonly string[]): Refusal<'invalid_request'> {
  return { error: 'invalid_request', description, about };
}
