/**
 * OpenID Connect parameters that a provider honors if it can, and whose values are otherwise not an error (OpenID
 * Connect Core 1.0 3.1.2.1, 5.5, 15.1). `display` and `claims_locales` have no effect.
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

/** How the user must have signed in. */
export interface WantedAcr {
  /** Any of these, in order of preference; all can be issued here. Empty if none is requested. */
  readonly values: readonly string[];
  /** If none of them is reached, the request fails. Otherwise it continues. */
  readonly isEssential: boolean;
}

/** Registered properties of the client that affect these parameters. */
interface AskingClient {
  /** Used if the request has no `acr_values`. */
  readonly defaultAcrValues: readonly string[];
  /** The client's maximum, which also applies to individual claims; undefined for no restriction. */
  readonly scope: readonly string[] | undefined;
}

export interface VoluntaryParameters {
  readonly acr: WantedAcr;
  readonly claims: RequestedClaims;
  /**
   * Accounts that the client expects according to `claims`: `sub` values, which may not exist here. Undefined for any.
   */
  readonly subjects: readonly string[] | undefined;
}

/**
 * Reads these parameters of a request with well-formed `claims`. Undefined if an essential authentication class cannot
 * be issued here, so that no sign-in could satisfy the request.
 * @param granted scopes that the request may have
 */
export function voluntaryParameters(
  parameters: FormParameters,
  granted: readonly string[],
  client: AskingClient,
  rules: ScopeRules,
): VoluntaryParameters | undefined {
  const text = parameters.get('claims');
  const requested = text === undefined ? undefined : parseClaimsParameter(text);
  const inClaims = requested?.acrValues ?? [];
  const isEssential = inClaims.length > 0 && requested?.isAcrEssential === true;
  // OpenID Connect Core 1.0 5.5.1.1: a non-essential request for `acr` is equivalent to `acr_values`.
  const voluntary = parameters.get('acr_values')?.split(' ') ?? client.defaultAcrValues;
  const wanted = inClaims.length > 0 ? inClaims : voluntary;
  const values = [...new Set(wanted.filter((value) => ISSUED_ACR_VALUES.includes(value)))];
  if (isEssential && values.length === 0) return undefined;
  const isOpenId = granted.includes('openid');
  return {
    acr: { values, isEssential },
    claims: requested === undefined || !isOpenId ? NO_CLAIMS : permittedClaims(requested.claims, client.scope, rules),
    subjects: isOpenId ? requested?.subjects : undefined,
  };
}

function permittedClaims(
  claims: RequestedClaims,
  registered: readonly string[] | undefined,
  rules: ScopeRules,
): RequestedClaims {
  return claimsWithin(claims, rules.filterForUser(scopesOfClaims(claims), registered));
}
