import { CLAIM_SCOPES, isUserClaimName, type UserClaimName } from './user-claims.ts';

const MAX_CHARACTERS = 4096;

/** Claims about the person that a request names one by one, for each place where they are to be returned. */
export interface RequestedClaims {
  readonly idToken: readonly UserClaimName[];
  readonly userinfo: readonly UserClaimName[];
}

export const NO_CLAIMS: RequestedClaims = { idToken: [], userinfo: [] };

/** What of a `claims` parameter can be honored. */
export interface ClaimsParameter {
  readonly claims: RequestedClaims;
  /** The one account that may answer the request. */
  readonly subject: string | undefined;
  /** Authentication classes, one of which is required, in the order of preference; empty: none is. */
  readonly essentialAcrValues: readonly string[];
}

type Members = ReadonlyMap<string, unknown>;

/**
 * Reads the parameter; undefined when it is malformed. Whether a claim is essential makes no difference (Core 5.5.1
 * leaves a claim out that is not known, also an essential one), but for `acr`. Names that are not known are ignored.
 * @see OpenID Connect Core 1.0 5.5
 */
export function parseClaimsParameter(text: string): ClaimsParameter | undefined {
  const top = text.length > MAX_CHARACTERS ? undefined : membersOf(parseJson(text));
  if (top === undefined) return undefined;
  const idToken = requestsIn(top, 'id_token');
  const userinfo = requestsIn(top, 'userinfo');
  if (idToken === undefined || userinfo === undefined) return undefined;
  const subject = idToken.get('sub')?.get('value') ?? userinfo.get('sub')?.get('value');
  return {
    claims: {
      idToken: [...idToken.keys()].filter(isUserClaimName),
      userinfo: [...userinfo.keys()].filter(isUserClaimName),
    },
    subject: typeof subject === 'string' ? subject : undefined,
    essentialAcrValues: essentialAcrValues(idToken.get('acr')),
  };
}

/** The scopes that stand for the claims which are named one by one. */
export function scopesOfClaims({ idToken, userinfo }: RequestedClaims): readonly string[] {
  return [...new Set([...idToken, ...userinfo].map((name) => CLAIM_SCOPES[name]))];
}

/** The claims whose scope is among these. */
export function claimsWithin({ idToken, userinfo }: RequestedClaims, scopes: readonly string[]): RequestedClaims {
  const isWithin = (name: UserClaimName): boolean => scopes.includes(CLAIM_SCOPES[name]);
  return { idToken: idToken.filter(isWithin), userinfo: userinfo.filter(isWithin) };
}

/** As it is stored with grants and sessions; null when nothing is asked for. */
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

/** The individual requests for one place by name; an empty one for `null`. Undefined when malformed. */
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

function essentialAcrValues(request: Members | undefined): readonly string[] {
  if (request?.get('essential') !== true) return [];
  const values = request.get('values');
  const wanted = [request.get('value'), ...(Array.isArray(values) ? values : [])];
  return wanted.filter((value) => typeof value === 'string');
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
