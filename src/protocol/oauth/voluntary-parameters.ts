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
  /** The accounts of which the client expects one, by `claims`: each a `sub` that may be none of ours. Undefined: any. */
  readonly subjects: readonly string[] | undefined;
}

/**
 * Reads those of a request whose `claims` are well-formed. Undefined when an authentication class is essential and
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
  const inClaims = asked?.acrValues ?? [];
  const isEssential = inClaims.length > 0 && asked?.isAcrEssential === true;
  // OpenID Connect Core 1.0 5.5.1.1: a request for `acr` that is not essential is another spelling of `acr_values`.
  const voluntary = parameters.get('acr_values')?.split(' ') ?? client.defaultAcrValues;
  const wanted = inClaims.length > 0 ? inClaims : voluntary;
  const values = [...new Set(wanted.filter((value) => ISSUED_ACR_VALUES.includes(value)))];
  if (isEssential && values.length === 0) return undefined;
  const isOpenId = granted.includes('openid');
  return {
    acr: { values, isEssential },
    claims: asked === undefined || !isOpenId ? NO_CLAIMS : permittedClaims(asked.claims, client.scope, rules),
    subjects: isOpenId ? asked?.subjects : undefined,
  };
}

function permittedClaims(
  claims: RequestedClaims,
  registered: readonly string[] | undefined,
  rules: ScopeRules,
): RequestedClaims {
  return claimsWithin(claims, rules.filterForUser(scopesOfClaims(claims), registered));
}
