/**
 * Request objects by value (JAR, RFC 9101): parameters of an authorization request as claims of a JWT signed by the
 * client.
 */
import { FormParameters } from '#platform/http/form-parameters.ts';
import { FAPI2_REQUEST_OBJECT_SECONDS } from './fapi2.ts';
import { MULTIPLE_PARAMETERS, SINGLE_PARAMETERS } from './request-parameters.ts';
import { parseScope } from './scopes.ts';

/** RFC 9101 10.8: other kinds of JWT have another type. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'oauth-authz-req+jwt'];
const MAX_LIFETIME_SECONDS = 3600;
/** Tolerance for a client's clock. */
const SKEW_SECONDS = 60;
/** Parameters with JSON values. */
const JSON_PARAMETERS = new Set(['authorization_details', 'claims', 'registration']);
/** Characters that neither a form nor the database can hold. */
const UNUSABLE_TEXT = /[\0\p{Surrogate}]/u;

export interface RequestObjectRules {
  /** Returns whether a text is the ID of the client whose key made the signature. */
  readonly isClient: (text: string) => boolean;
  readonly issuer: string;
  /** The object must have a recent `nbf` and expire within an hour of it (FAPI 2.0 Message Signing 5.3.1). */
  readonly needsNotBefore: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The parameters outside the request object. */
  readonly plain: FormParameters;
}

export type RequestObjectOutcome =
  | { readonly ok: true; readonly parameters: FormParameters }
  /** A sentence for the client's developer. */
  | { readonly ok: false; readonly problem: string };

/** Validates a request object whose signature was verified, and reads its parameters. */
export function readRequestObject(
  jwt: { readonly type: string | undefined; readonly claims: Readonly<Record<string, unknown>> },
  rules: RequestObjectRules,
): RequestObjectOutcome {
  const problem = typeProblem(jwt.type) ?? claimsProblem(new Map(Object.entries(jwt.claims)), rules);
  if (problem !== undefined) return refuse(problem);
  const values = new Map<string, readonly string[]>();
  const claims = new Map(Object.entries(jwt.claims));
  for (const name of [...SINGLE_PARAMETERS, ...MULTIPLE_PARAMETERS]) {
    const claim = claims.get(name);
    if (claim === undefined) continue;
    const texts = textsOf(name, claim);
    if (texts === undefined || texts.some((text) => UNUSABLE_TEXT.test(text))) {
      return refuse(`has an invalid value for ${name}`);
    }
    values.set(name, texts);
  }
  const parameters = FormParameters.of(Object.fromEntries(values));
  const difference = differenceFrom(parameters, rules.plain);
  return difference === undefined ? { ok: true, parameters } : refuse(difference);
}

function typeProblem(type: string | undefined): string | undefined {
  return TYPES.includes(type) ? undefined : 'has the typ of a different kind of JWT';
}

function claimsProblem(claims: ReadonlyMap<string, unknown>, rules: RequestObjectRules): string | undefined {
  const [iss, clientId, aud, exp, nbf] = ['iss', 'client_id', 'aud', 'exp', 'nbf'].map((name) => claims.get(name));
  const seconds = rules.now / 1000;
  if (typeof iss !== 'string' || !rules.isClient(iss)) return 'must have the client ID as iss';
  if (typeof clientId !== 'string' || !rules.isClient(clientId)) return 'must have the client ID as client_id';
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(rules.issuer)) return 'must have the issuer as aud';
  if (typeof exp !== 'number') return 'must have an exp';
  if (exp + SKEW_SECONDS <= seconds) return 'has expired';
  if (exp > seconds + MAX_LIFETIME_SECONDS + SKEW_SECONDS) return 'must be valid for at most an hour';
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf > seconds + SKEW_SECONDS)) return 'is not valid yet';
  if (rules.needsNotBefore) {
    if (typeof nbf !== 'number') return 'must have an nbf';
    // This also rejects an `nbf` more than an hour ago, because the object has then expired.
    if (exp > nbf + FAPI2_REQUEST_OBJECT_SECONDS) return 'must expire within an hour of its nbf';
  }
  // RFC 9101 4: request objects must not be nested.
  const nested = ['request', 'request_uri'].find((name) => claims.has(name));
  return nested === undefined ? undefined : `must not contain ${nested}`;
}

/** Returns the values of a parameter as in a form; undefined if the claim cannot be one. */
function textsOf(name: string, claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return [claim];
  if (name === 'max_age' && typeof claim === 'number') return [String(claim)];
  if (JSON_PARAMETERS.has(name) && typeof claim === 'object' && claim !== null) return [JSON.stringify(claim)];
  const isList = MULTIPLE_PARAMETERS.includes(name) && Array.isArray(claim);
  if (!isList || !claim.every((value) => typeof value === 'string')) return undefined;
  return claim;
}

/** Parameters that OpenID Connect also requires outside must be the same inside (OpenID Connect Core 1.0 6.1). */
function differenceFrom(parameters: FormParameters, plain: FormParameters): string | undefined {
  const type = plain.get('response_type');
  if (type !== undefined && type !== parameters.get('response_type'))
    return 'has a response_type that differs from the request parameter';
  const scope = plain.get('scope');
  const isSame = scope === undefined || sameScope(scope, parameters.get('scope') ?? '');
  return isSame ? undefined : 'has a scope that differs from the request parameter';
}

function sameScope(one: string, other: string): boolean {
  return parseScope(one)?.toSorted().join(' ') === parseScope(other)?.toSorted().join(' ');
}

function refuse(problem: string): RequestObjectOutcome {
  return { ok: false, problem: `the request object ${problem}` };
}
