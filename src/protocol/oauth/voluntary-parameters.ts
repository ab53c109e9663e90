/**
 * Parameters of OpenID Connect that a provider honors where it can, and that are not errors of their own otherwise
 * (OpenID Connect Core 1.0 3.1.2.1, 5.5, 15.1). `display` and `claims_locales` have no effect.
 */
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { ISSUED_ACR_VALUES } from '../oidc/authentication-classes.ts';
import {
  claimsWithin,
  NO_CLAIMS,
  parseClaimsParameter,
  type RequestedClaims,
  scopesOfClaims,
} from '../oidc/claims-parameter.ts';
import type { ScopeRules } from './scopes.ts';

const MAX_ID_TOKEN_HINT_CHARACTERS = 4096;

/** How the person has to have signed in. */
export interface WantedAcr {
  /** Any of these, the preferred one first; all are issued here. Empty: none is wanted. */
  readonly values: readonly string[];
  /** Without one of them the request fails; otherwise it goes on. */
  readonly isEssential: boolean;
}

/** What the client is registered for, as far as it bears on these parameters. */
interface AskingClient {
  /** Used when the request has no `acr_values`. */
  readonly defaultAcrValues: readonly string[];
  /** The most that it may ask for, which holds for single claims as well; undefined: no restriction. */
  readonly scope: readonly string[] | undefined;
}

export interface VoluntaryParameters {
  readonly acr: WantedAcr;
  readonly claims: RequestedClaims;
  /** The account that the client expects, by `claims`: a `sub` that may be none of ours. */
  readonly subject: string | undefined;
  /** Not verified. */
  readonly idTokenHint: string | undefined;
}

/** What is wrong with one of them, as a sentence for the developer. */
export function voluntaryProblem(parameters: FormParameters): string | undefined {
  const claims = parameters.get('claims');
  if (claims !== undefined && parseClaimsParameter(claims) === undefined) {
    return 'claims must be a JSON object of at most 4096 characters with the members id_token and userinfo';
  }
  if ((parameters.get('id_token_hint')?.length ?? 0) > MAX_ID_TOKEN_HINT_CHARACTERS) {
    return `id_token_hint must have at most ${MAX_ID_TOKEN_HINT_CHARACTERS} characters`;
  }
  return undefined;
}

/**
 * Reads those that `voluntaryProblem` found nothing wrong with. Undefined when an authentication class is essential and
 * none of its values is issued here, so that no sign-in could satisfy the request.
 * @param granted scopes that the request may have
 */
export function voluntaryParameters(
  parameters: FormParameters,
  granted: readonly string[],
  client: AskingClient,
  rules: ScopeRules,
): VoluntaryParameters | undefined {
  const text = parameters.get('claims');
  const asked = text === undefined ? undefined : parseClaimsParameter(text);
  const essential = asked?.essentialAcrValues ?? [];
  const isEssential = essential.length > 0;
  const wanted = isEssential ? essential : (parameters.get('acr_values')?.split(' ') ?? client.defaultAcrValues);
  const values = [...new Set(wanted.filter((value) => ISSUED_ACR_VALUES.includes(value)))];
  if (isEssential && values.length === 0) return undefined;
  const isOpenId = granted.includes('openid');
  return {
    acr: { values, isEssential },
    claims: asked === undefined || !isOpenId ? NO_CLAIMS : permittedClaims(asked.claims, client.scope, rules),
    subject: isOpenId ? asked?.subject : undefined,
    idTokenHint: parameters.get('id_token_hint'),
  };
}

function permittedClaims(
  claims: RequestedClaims,
  registered: readonly string[] | undefined,
  rules: ScopeRules,
): RequestedClaims {
  return claimsWithin(claims, rules.filterForUser(scopesOfClaims(claims), registered));
}
