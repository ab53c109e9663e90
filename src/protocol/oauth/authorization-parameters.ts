/**
 * Checks of an authorization request that need no database, in the order of oauth 6.3. Errors are shown on a page if
 * the client's redirect URI is not verified, and otherwise returned by redirect (RFC 6749 4.1.2.1).
 */
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { ISSUED_ACR_VALUES } from '../oidc/authentication-classes.ts';
import {
  type AuthorizationErrorCode,
  REQUESTED_RESPONSE_MODES,
  type ResponseTarget,
  responseModeOf,
} from './authorization-response.ts';
import { redirectUriMatches } from './redirect-uris.ts';
import {
  type AuthorizationRefusal,
  firstRefusal,
  invalid,
  MALFORMED,
  type ReceivedRequest,
  type Refusal,
  type RequestingClient,
  UNACCEPTED,
} from './request-checks.ts';
import { maxAgeOf, type Prompt, promptsOf } from './request-parameters.ts';
import { MAX_RESOURCES, type ResourceRules } from './resource-rules.ts';
import { parseScope, type ScopeRules, UNBOUND_SCOPE } from './scopes.ts';
import { type VoluntaryParameters, voluntaryParameters } from './voluntary-parameters.ts';

/** Rules for requests. */
export interface RequestRules {
  readonly scopeRules: ScopeRules;
  readonly resourceRules: ResourceRules;
  /** Returns the subject of an ID token issued here to the client, even if expired; undefined for any other text. */
  subjectOfHint(hint: string): string | undefined;
}

/** A valid request. */
export interface AuthorizationRequest extends VoluntaryParameters {
  readonly target: ResponseTarget;
  /** False if the only registered URI was implied. */
  readonly isRedirectUriSent: boolean;
  /** The requested scopes that can be granted at all; never empty. */
  readonly scope: readonly string[];
  /** Resource servers that the tokens are for; empty if the request has none. */
  readonly resources: readonly string[];
  readonly nonce: string | undefined;
  /** S256. */
  readonly codeChallenge: string | undefined;
  /** The user expected by `id_token_hint`. */
  readonly hintedSubject: string | undefined;
  /** Thumbprint of the key that the code is bound to (RFC 9449 10). */
  readonly dpopKey: string | undefined;
  readonly prompts: readonly Prompt[];
  /** Seconds. */
  readonly maxAge: number | undefined;
  readonly loginHint: string | undefined;
  /** Language tags separated by spaces, best first. */
  readonly uiLocales: string | undefined;
}

/** `page`: must not be redirected, because the URI is not verified. */
export type CheckedRequest =
  | { readonly kind: 'accepted'; readonly request: AuthorizationRequest }
  | ({ readonly kind: 'page' } & Refusal<'invalid_redirect_uri' | 'invalid_request'>)
  | ({ readonly kind: 'redirect'; readonly target: ResponseTarget } & Refusal<AuthorizationErrorCode>);

/** Some clients store their whole state in it. Request headers have their own limit. */
const MAX_STATE_CHARACTERS = 8192;
const FOREIGN_HINT = 'id_token_hint must be an ID token issued by this server to this client; it may be expired';

/**
 * Returns where to send an error if pushed or signed parameters cannot be read (oauth 6.3 step 3): the registered URI
 * in the plain parameters. Undefined to show a page.
 */
export function plainTarget(parameters: FormParameters, client: RequestingClient): ResponseTarget | undefined {
  const redirectUri = parameters.has('redirect_uri') ? verifiedRedirectUri(parameters, client) : undefined;
  const responseMode = responseModeOf(parameters.get('response_mode'), parameters.get('response_type'));
  if (redirectUri === undefined || responseMode === undefined) return undefined;
  return { redirectUri, responseMode, state: usableState(parameters) };
}

/** Runs steps 4 to 14 of oauth 6.3 for a known client, after `repeatedDecisiveParameter` found none. */
export function checkAuthorizationRequest(
  received: ReceivedRequest,
  client: RequestingClient,
  { scopeRules, resourceRules, subjectOfHint }: RequestRules,
): CheckedRequest {
  const { parameters } = received;
  const redirectUri = verifiedRedirectUri(parameters, client);
  if (redirectUri === undefined) {
    return { kind: 'page', ...redirectUriRefusal(parameters, client) };
  }
  const requested = responseModeOf(parameters.get('response_mode'), parameters.get('response_type'));
  const state = usableState(parameters);
  const target: ResponseTarget = { redirectUri, responseMode: requested ?? 'query', state };
  if (requested === undefined) {
    const expected = REQUESTED_RESPONSE_MODES.join(', ');
    const description = `response_mode must be one of ${expected}`;
    return { kind: 'page', error: 'invalid_request', description, about: ['response_mode'], expected };
  }
  if (state !== parameters.get('state')) {
    return refuse(target, invalid(`state must have at most ${MAX_STATE_CHARACTERS} characters`, 'state'));
  }
  const malformed = firstRefusal(MALFORMED, parameters, client, received);
  if (malformed !== undefined) return refuse(target, malformed);
  const hint = parameters.get('id_token_hint');
  const hintedSubject = hint === undefined ? undefined : subjectOfHint(hint);
  if (hint !== undefined && hintedSubject === undefined) return refuse(target, invalid(FOREIGN_HINT, 'id_token_hint'));
  const refused = firstRefusal(UNACCEPTED, parameters, client, received);
  if (refused !== undefined) return refuse(target, refused);
  const resources = resourceRules.accepted(parameters.all('resource'));
  const scope = grantableScope(parameters, client, scopeRules, resourceRules.defaultScope(resources ?? []));
  // If no scope was sent, an unknown resource may be the cause.
  if (scope.kind === 'refused' && (resources !== undefined || parameters.has('scope'))) {
    const expected = client.scope?.join(' ');
    return refuse(target, { error: 'invalid_scope', description: scope.description, about: ['scope'], expected });
  }
  if (scope.kind === 'refused' || resources === undefined) {
    const description = `resource must be at most ${MAX_RESOURCES} of the configured resource servers`;
    const expected = resourceRules.identifiers.join(' ');
    return refuse(target, { error: 'invalid_target', description, about: ['resource'], expected });
  }
  const voluntary = voluntaryParameters(parameters, scope.scope, client, scopeRules);
  if (voluntary === undefined) {
    const description = 'none of the acr values requested as essential in claims is supported';
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
    hintedSubject,
    dpopKey: parameters.get('dpop_jkt'),
    prompts: promptsOf(parameters),
    maxAge: maxAgeOf(parameters) ?? client.defaultMaxAge,
    loginHint: parameters.get('login_hint'),
    uiLocales: parameters.get('ui_locales'),
  };
  return { kind: 'accepted', request };
}

function grantableScope(
  parameters: FormParameters,
  client: RequestingClient,
  rules: ScopeRules,
  ofResources: readonly string[] | undefined,
):
  | { readonly kind: 'granted'; readonly scope: readonly string[] }
  | { readonly kind: 'refused'; readonly description: string } {
  const text = parameters.get('scope');
  const requested = text === undefined ? (client.scope ?? ofResources) : parseScope(text);
  if (requested === undefined) {
    const description =
      text === undefined
        ? 'scope is required: the client has no registered scope, and no requested resource has scopes'
        : 'scope is malformed';
    return { kind: 'refused', description };
  }
  const problem = rules.setProblem(requested, client.sector !== undefined);
  if (problem !== undefined) return { kind: 'refused', description: problem };
  const scope = rules.filterForUser(requested, client.scope);
  if (scope.length === 0)
    return { kind: 'refused', description: 'none of the requested scopes can be granted to this client' };
  if (client.hasBoundTokens && rules.hasUnboundScope(scope)) return { kind: 'refused', description: UNBOUND_SCOPE };
  return { kind: 'granted', scope };
}

/** Returns undefined if the URI is not registered, or omitted by a client with more than one. */
function verifiedRedirectUri(parameters: FormParameters, client: RequestingClient): string | undefined {
  const requested = parameters.get('redirect_uri');
  if (requested === undefined) return client.redirectUris.length === 1 ? client.redirectUris[0] : undefined;
  return redirectUriMatches(client, requested) ? requested : undefined;
}

/** Returns undefined if the state is absent or too long. */
function usableState(parameters: FormParameters): string | undefined {
  const state = parameters.get('state');
  return state === undefined || state.length > MAX_STATE_CHARACTERS ? undefined : state;
}

function redirectUriRefusal(parameters: FormParameters, client: RequestingClient): Refusal<'invalid_redirect_uri'> {
  const count = client.redirectUris.length;
  const description =
    count === 0
      ? 'no redirect_uri is registered for the client'
      : parameters.has('redirect_uri')
        ? 'redirect_uri must exactly match one of the URIs registered for the client'
        : 'redirect_uri is required: more than one is registered for the client';
  return { error: 'invalid_redirect_uri', description };
}

function refuse(target: ResponseTarget, refusal: AuthorizationRefusal): CheckedRequest {
  return { kind: 'redirect', target, ...refusal };
}
