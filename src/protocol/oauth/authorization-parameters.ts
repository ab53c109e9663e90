/**
 * The checks of an authorization request that need no database, in the order of oauth 6.3: what is answered by a page
 * because the address of the client is not proven, and what by a redirect to it (RFC 6749 4.1.2.1).
 */
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { ISSUED_ACR_VALUES } from '../oidc/authentication-classes.ts';
import {
  type AuthorizationErrorCode,
  RESPONSE_MODES,
  type ResponseMode,
  type ResponseTarget,
} from './authorization-response.ts';
import { isThumbprint } from './dpop-proof.ts';
import { CODE_CHALLENGE_METHOD, challengeProblem } from './pkce.ts';
import { redirectUriMatches } from './redirect-uris.ts';
import { MAX_RESOURCES, type ResourceRules } from './resource-rules.ts';
import { parseScope, type ScopeRules, UNBOUND_SCOPE } from './scopes.ts';
import { type VoluntaryParameters, voluntaryParameters, voluntaryProblem } from './voluntary-parameters.ts';

/** What the checks need to know of the client. */
export interface RequestingClient {
  /** It has no secret, so nothing but PKCE protects its codes. */
  readonly isPublic: boolean;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Maximum, and default when the request names none; undefined: no restriction. */
  readonly scope: readonly string[] | undefined;
  /** Seconds. */
  readonly defaultMaxAge: number | undefined;
  /** Used when the request has no `acr_values`. */
  readonly defaultAcrValues: readonly string[];
  /** Undefined: it may learn the identifiers of accounts. */
  readonly sector: string | undefined;
  /** Its requests have to be pushed (RFC 9126 6). */
  readonly requiresPushedRequests: boolean;
  /** It takes only access tokens that are bound to a key. */
  readonly hasBoundTokens: boolean;
  /** Its requests have to be signed (RFC 9101 10.5). */
  readonly requiresSignedRequests: boolean;
}

/** Parameters of a request, and how they came, as far as a client may insist on that. */
export interface ReceivedRequest {
  readonly parameters: FormParameters;
  readonly isPushed: boolean;
  /** They came in a request object of the client. */
  readonly isSigned: boolean;
}

/** `create`: Initiating User Registration via OpenID Connect 1.0. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'] as const;
export type Prompt = (typeof PROMPTS)[number];

/** A request that may go on. */
export interface AuthorizationRequest extends VoluntaryParameters {
  readonly target: ResponseTarget;
  /** False when the single registered address was implied. */
  readonly isRedirectUriSent: boolean;
  /** What of the requested scopes can be granted at all; never empty. */
  readonly scope: readonly string[];
  /** Resource servers that the tokens are for; empty: none is named. */
  readonly resources: readonly string[];
  readonly nonce: string | undefined;
  /** S256. */
  readonly codeChallenge: string | undefined;
  /** Thumbprint of the key that the code is bound to (RFC 9449 10). */
  readonly dpopKey: string | undefined;
  readonly prompts: readonly Prompt[];
  /** Seconds. */
  readonly maxAge: number | undefined;
  readonly loginHint: string | undefined;
  /** Language tags separated by spaces, best first. */
  readonly uiLocales: string | undefined;
}

/** Why a request is refused. */
export interface Refusal<Code> {
  readonly error: Code;
  /** A sentence for the developer. */
  readonly description: string;
  /** Names of the parameters that it is about. */
  readonly about?: readonly string[];
  /** What they have to be, where a value says it better than the sentence. */
  readonly expected?: string | undefined;
}

/** `page`: never to be redirected, since the address is not proven. */
export type CheckedRequest =
  | { readonly kind: 'accepted'; readonly request: AuthorizationRequest }
  | ({ readonly kind: 'page' } & Refusal<'invalid_redirect_uri' | 'invalid_request'>)
  | ({ readonly kind: 'redirect'; readonly target: ResponseTarget } & Refusal<AuthorizationErrorCode>);

const MAX_STATE_CHARACTERS = 2048;
const MAX_NONCE_CHARACTERS = 512;
const MAX_LOGIN_HINT_CHARACTERS = 256;
const MAX_AGE_LIMIT_SECONDS = 2 ** 31 - 1;
/** A repetition of one of these leaves open who asks, or where the answer goes. */
const DECISIVE = ['client_id', 'redirect_uri', 'response_mode', 'state', 'response_type', 'request', 'request_uri'];
/** Names that mean something here. Any other is ignored, however often it is given (RFC 6749 3.1). */
export const SINGLE_PARAMETERS: readonly string[] = [
  ...DECISIVE,
  ...['acr_values', 'authorization_details', 'claims', 'claims_locales', 'code_challenge', 'code_challenge_method'],
  ...['display', 'dpop_jkt', 'id_token_hint', 'login_hint', 'max_age', 'nonce', 'prompt', 'registration', 'scope'],
  'ui_locales',
];

/** Names that may be given several times. */
export const MULTIPLE_PARAMETERS: readonly string[] = ['resource'];

/** The parameter whose repetition forbids any redirect (6.3 step 1). */
export function repeatedDecisiveParameter(parameters: FormParameters): string | undefined {
  return DECISIVE.find((name) => parameters.isRepeated(name));
}

/**
 * Where the refusal of a request goes whose parameters cannot be read, since they were pushed or signed (6.3 step 3): to the
 * registered address that the plain parameters name. Undefined: to a page.
 */
export function plainTarget(parameters: FormParameters, client: RequestingClient): ResponseTarget | undefined {
  const redirectUri = parameters.has('redirect_uri') ? provenRedirectUri(parameters, client) : undefined;
  const responseMode = askedResponseMode(parameters);
  if (redirectUri === undefined || responseMode === undefined) return undefined;
  return { redirectUri, responseMode, state: usableState(parameters) };
}

/** Steps 4 to 14 of oauth 6.3 for a known client, after `repeatedDecisiveParameter` found none. */
export function checkAuthorizationRequest(
  received: ReceivedRequest,
  client: RequestingClient,
  rules: ScopeRules,
  resourceRules: ResourceRules,
): CheckedRequest {
  const { parameters } = received;
  const redirectUri = provenRedirectUri(parameters, client);
  if (redirectUri === undefined) {
    return { kind: 'page', ...redirectUriRefusal(parameters, client) };
  }
  const asked = askedResponseMode(parameters);
  const state = usableState(parameters);
  const target: ResponseTarget = { redirectUri, responseMode: asked ?? 'query', state };
  if (asked === undefined) {
    const expected = RESPONSE_MODES.join(', ');
    const description = `response_mode must be one of ${expected}`;
    return { kind: 'page', error: 'invalid_request', description, about: ['response_mode'], expected };
  }
  if (state !== parameters.get('state')) {
    return refuse(target, invalid(`state must have at most ${MAX_STATE_CHARACTERS} characters`, 'state'));
  }
  for (const check of CHECKS) {
    const refusal = check(parameters, client, received);
    if (refusal !== undefined) return refuse(target, refusal);
  }
  const scope = grantableScope(parameters, client, rules);
  if (scope.kind === 'refused') {
    const expected = client.scope?.join(' ');
    return refuse(target, { error: 'invalid_scope', description: scope.description, about: ['scope'], expected });
  }
  const resources = resourceRules.accepted(parameters.all('resource'));
  if (resources === undefined) {
    const description = `resource must name up to ${MAX_RESOURCES} of the resource servers that are configured here`;
    return refuse(target, { error: 'invalid_target', description, about: ['resource'] });
  }
  const voluntary = voluntaryParameters(parameters, scope.scope, client, rules);
  if (voluntary === undefined) {
    const description = 'none of the acr values that claims asks for as essential is issued here';
    const expected = ISSUED_ACR_VALUES.join(' ');
    return refuse(target, { error: 'unmet_authentication_requirements', description, about: ['claims'], expected });
  }
  const request: AuthorizationRequest = {
    ...voluntary,
    target,
    isRedirectUriSent: parameters.has('redirect_uri'),
    scope: scope.scope,
    resources,
    nonce: parameters.get('nonce'),
    codeChallenge: parameters.get('code_challenge'),
    dpopKey: parameters.get('dpop_jkt'),
    prompts: promptsOf(parameters),
    maxAge: maxAgeOf(parameters) ?? client.defaultMaxAge,
    loginHint: parameters.get('login_hint'),
    uiLocales: parameters.get('ui_locales'),
  };
  return { kind: 'accepted', request };
}

type AuthorizationRefusal = Refusal<AuthorizationErrorCode>;
type Check = (
  parameters: FormParameters,
  client: RequestingClient,
  received: ReceivedRequest,
) => AuthorizationRefusal | undefined;

/** Steps 7 to 12, all answered by a redirect. */
const CHECKS: readonly Check[] = [
  repetition,
  malformedNonce,
  malformedLoginHint,
  malformedMaxAge,
  contradictoryPrompts,
  malformedKey,
  malformedVoluntary,
  unsupportedParameter,
  insistence,
  responseType,
  grantType,
  codeChallenge,
];

function repetition(parameters: FormParameters): AuthorizationRefusal | undefined {
  const name = SINGLE_PARAMETERS.find((candidate) => parameters.isRepeated(candidate));
  return name === undefined ? undefined : invalid(`${name} is given more than once`, name);
}

function malformedNonce(parameters: FormParameters): AuthorizationRefusal | undefined {
  const isTooLong = (parameters.get('nonce')?.length ?? 0) > MAX_NONCE_CHARACTERS;
  return isTooLong ? invalid(`nonce must have at most ${MAX_NONCE_CHARACTERS} characters`, 'nonce') : undefined;
}

function malformedLoginHint(parameters: FormParameters): AuthorizationRefusal | undefined {
  const isTooLong = (parameters.get('login_hint')?.length ?? 0) > MAX_LOGIN_HINT_CHARACTERS;
  return isTooLong
    ? invalid(`login_hint must have at most ${MAX_LOGIN_HINT_CHARACTERS} characters`, 'login_hint')
    : undefined;
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

function malformedVoluntary(parameters: FormParameters): AuthorizationRefusal | undefined {
  const problem = voluntaryProblem(parameters);
  return problem === undefined ? undefined : invalid(problem, 'claims', 'id_token_hint');
}

/** Parameters that must not be ignored, since the client would believe that they were heeded. */
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

/** Step 9: what was agreed with the client protects its users only if a plain request in its name is refused. */
function insistence(
  _: FormParameters,
  client: RequestingClient,
  { isPushed, isSigned }: ReceivedRequest,
): AuthorizationRefusal | undefined {
  if (client.requiresPushedRequests && !isPushed) {
    return invalid('the client is registered to push its requests: send them to the PAR endpoint first', 'request_uri');
  }
  if (!client.requiresSignedRequests || isSigned) return undefined;
  return invalid('the client is registered to sign its requests: send them as a request object', 'request');
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
  const problem = challengeProblem(parameters.get('code_challenge'), method, client.isPublic);
  if (problem === undefined) return undefined;
  const expected = `code_challenge_method=${CODE_CHALLENGE_METHOD} with a code_challenge of 43 characters`;
  return { ...invalid(problem, 'code_challenge', 'code_challenge_method'), expected };
}

function grantableScope(
  parameters: FormParameters,
  client: RequestingClient,
  rules: ScopeRules,
):
  | { readonly kind: 'granted'; readonly scope: readonly string[] }
  | { readonly kind: 'refused'; readonly description: string } {
  const text = parameters.get('scope');
  const requested = text === undefined ? client.scope : parseScope(text);
  if (requested === undefined) {
    const description = text === undefined ? 'scope is required' : 'scope is malformed';
    return { kind: 'refused', description };
  }
  const problem = rules.setProblem(requested, client.sector !== undefined);
  if (problem !== undefined) return { kind: 'refused', description: problem };
  const scope = rules.filterForUser(requested, client.scope);
  if (scope.length === 0) return { kind: 'refused', description: 'none of the scopes can be granted to this client' };
  if (client.hasBoundTokens && rules.hasUnboundScope(scope)) return { kind: 'refused', description: UNBOUND_SCOPE };
  return { kind: 'granted', scope };
}

/** Undefined: not registered, or left out without a single registered one that it could stand for. */
function provenRedirectUri(parameters: FormParameters, client: RequestingClient): string | undefined {
  const requested = parameters.get('redirect_uri');
  if (requested === undefined) return client.redirectUris.length === 1 ? client.redirectUris[0] : undefined;
  return redirectUriMatches(client, requested) ? requested : undefined;
}

/** Undefined: none, or one that is too long. */
function usableState(parameters: FormParameters): string | undefined {
  const state = parameters.get('state');
  return state === undefined || state.length > MAX_STATE_CHARACTERS ? undefined : state;
}

/** Undefined: unknown. Without one it follows from the response type, even one that is refused. */
function askedResponseMode(parameters: FormParameters): ResponseMode | undefined {
  const asked = parameters.get('response_mode');
  if (asked !== undefined) return RESPONSE_MODES.find((mode) => mode === asked);
  const types = parameters.get('response_type')?.split(' ') ?? [];
  return types.includes('token') || types.includes('id_token') ? 'fragment' : 'query';
}

function promptValues(parameters: FormParameters): readonly string[] {
  return (parameters.get('prompt') ?? '').split(' ').filter((value) => value !== '');
}

function promptsOf(parameters: FormParameters): readonly Prompt[] {
  const values = promptValues(parameters);
  return PROMPTS.filter((prompt) => values.includes(prompt));
}

function maxAgeOf(parameters: FormParameters): number | undefined {
  const text = parameters.get('max_age');
  if (text === undefined || !/^[0-9]{1,10}$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds <= MAX_AGE_LIMIT_SECONDS ? seconds : undefined;
}

function redirectUriRefusal(parameters: FormParameters, client: RequestingClient): Refusal<'invalid_redirect_uri'> {
  const count = client.redirectUris.length;
  const description =
    count === 0
      ? 'no redirect_uri is registered for the client'
      : parameters.has('redirect_uri')
        ? 'redirect_uri must be one of those registered for the client, character for character'
        : 'redirect_uri is required: more than one is registered for the client';
  return { error: 'invalid_redirect_uri', description };
}

function invalid(description: string, ...about: readonly string[]): Refusal<'invalid_request'> {
  return { error: 'invalid_request', description, about };
}

function refuse(target: ResponseTarget, refusal: AuthorizationRefusal): CheckedRequest {
  return { kind: 'redirect', target, ...refusal };
}
