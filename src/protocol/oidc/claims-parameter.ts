import { CLAIM_SCOPES, isUserClaimName, type UserClaimName } from './user-claims.ts';

const MAX_CHARACTERS = 4096;

/** Individually requested claims about the user, by where they are returned. */
export interface RequestedClaims {
  readonly idToken: readonly UserClaimName[];
  readonly userinfo: readonly UserClaimName[];
}

export const NO_CLAIMS: RequestedClaims = { idToken: [], userinfo: [] };

/** The supported parts of a `claims` parameter. */
export interface ClaimsParameter {
  readonly claims: RequestedClaims;
  /** Accounts that may complete the request; undefined for any. */
  readonly subjects: readonly string[] | undefined;
  /** Requested authentication classes in order of preference; one of them is enough. Empty if none is requested. */
  readonly acrValues: readonly string[];
  readonly isAcrEssential: boolean;
}

type Members = ReadonlyMap<string, unknown>;

/**
 * Parses the parameter; undefined if it is malformed. Whether a claim is essential matters only for `acr`. A claim
 * without a value is omitted even if it is essential (Core 5.5.1), and a requested `sub` must match in any case (Core
 * 5.5.1). Every ID token has `auth_time`. Unknown names are ignored.
 * @see OpenID Connect Core 1.0 5.5
 */
export function parseClaimsParameter(text: string): ClaimsParameter | undefined {
  const top = text.length > MAX_CHARACTERS ? undefined : membersOf(parseJson(text));
  if (top === undefined) return undefined;
  const idToken = requestsIn(top, 'id_token');
  const userinfo = requestsIn(top, 'userinfo');
  if (idToken === undefined || userinfo === undefined) return undefined;
  const subjects = subjectsOf([idToken.get('sub'), userinfo.get('sub')]);
  if (subjects === 'malformed') return undefined;
  const acr = idToken.get('acr');
  return {
    claims: {
      idToken: [...idToken.keys()].filter(isUserClaimName),
      userinfo: [...userinfo.keys()].filter(isUserClaimName),
    },
    subjects,
    acrValues: valuesOf(acr).filter((value) => typeof value === 'string'),
    isAcrEssential: acr?.get('essential') === true,
  };
}

/** Returns the scopes of individually requested claims. */
export function scopesOfClaims({ idToken, userinfo }: RequestedClaims): readonly string[] {
  return [...new Set([...idToken, ...userinfo].map((name) => CLAIM_SCOPES[name]))];
}

/** Returns the claims that belong to one of these scopes. */
export function claimsWithin({ idToken, userinfo }: RequestedClaims, scopes: readonly string[]): RequestedClaims {
  const isWithin = (name: UserClaimName): boolean => scopes.includes(CLAIM_SCOPES[name]);
  return { idToken: idToken.filter(isWithin), userinfo: userinfo.filter(isWithin) };
}

/** Returns the form stored with grants and sessions; null if nothing is requested. */
export function claimsToJson({ idToken, userinfo }: RequestedClaims): string | null {
  if (idToken.length + userinfo.length === 0) return null;
  return JSON.stringify({ id_token: idToken, userinfo });
}

export function claimsFromJson(stored: unknown): RequestedClaims {
  const members = membersOf(stored);
  return { idToken: storedNames(members?.get('id_token')), userinfo: storedNames(members?.get('userinfo')) };
}

function storedNames(value: unknown): readonly UserClaimName[] {
  return Array.isArray(value) ? value.filter(isUserClaimName) : [];
}

/** Returns the individual requests for one place by name. `null` becomes an empty request. Undefined if malformed. */
function requestsIn(top: Members, place: string): ReadonlyMap<string, Members> | undefined {
  const value = top.get(place);
  if (value === undefined || value === null) return new Map();
  const members = membersOf(value);
  if (members === undefined) return undefined;
  const requests = new Map<string, Members>();
  for (const [name, request] of members) {
    const details = request === null ? new Map<string, unknown>() : membersOf(request);
    if (details === undefined) return undefined;
    requests.set(name, details);
  }
  return requests;
}

/** Returns the requested `value` or `values` of a claim. */
function valuesOf(request: Members | undefined): readonly unknown[] {
  const [value, values] = [request?.get('value'), request?.get('values')];
  return [...(value === undefined ? [] : [value]), ...(Array.isArray(values) ? values : [])];
}

/**
 * Returns the subjects that every place accepts. Non-string values are an error, because they would otherwise allow any
 * account.
 */
function subjectsOf(requests: readonly (Members | undefined)[]): readonly string[] | undefined | 'malformed' {
  const requested = requests.filter((request) => request?.has('value') === true || request?.has('values') === true);
  if (requested.length === 0) return undefined;
  const accepted = requested.map(valuesOf).map((values) => values.filter((value) => typeof value === 'string'));
  const isComplete = requested.every((request, index) => {
    const texts = accepted[index] ?? [];
    return texts.length > 0 && texts.length === valuesOf(request).length && isListOrAbsent(request?.get('values'));
  });
  if (!isComplete) return 'malformed';
  const [first = [], ...others] = accepted;
  return [...new Set(first)].filter((subject) => others.every((texts) => texts.includes(subject)));
}

function isListOrAbsent(value: unknown): boolean {
  return value === undefined || Array.isArray(value);
}

function membersOf(value: unknown): Members | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
