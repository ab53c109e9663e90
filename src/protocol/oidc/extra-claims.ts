/** Claims that the operator defines for accounts or clients, and their restrictions. */

/** A JSON object whose members are passed on unchanged. */
export type ExtraClaims = Readonly<Record<string, unknown>>;

export const NO_EXTRA_CLAIMS: ExtraClaims = {};

const MAX_MEMBERS = 32;
const MAX_NAME_CHARACTERS = 255;
const MAX_BYTES = 8192;
const MAX_DEPTH = 5;

/** Control characters, and lone surrogates, which databases cannot store. */
const UNUSABLE_IN_NAMES = /[\p{Cc}\p{Cs}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is refused
const UNSTORABLE = /[\u0000\p{Cs}]/u;

/**
 * Claims that tokens, userinfo and introspection contain or may contain: protocol, session and user data. An operator's
 * claim with this name could take the place of an omitted one, such as `email_verified`.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti', 'typ', 'cty', 'sid', 'sub_jwk', 'events', 'txn', 'toe'],
  ...['nonce', 'auth_time', 'acr', 'amr', 'azp', 'at_hash', 'c_hash', 's_hash', 'rt_hash'],
  ...[
    'active',
    'scope',
    'scp',
    'client_id',
    'username',
    'token_type',
    'expires_in',
    'device_id',
    'token_introspection',
  ],
  ...['act', 'may_act', 'cnf', 'authorization_details', '_claim_names', '_claim_sources', 'verified_claims'],
  ...['preferred_username', 'name', 'locale', 'updated_at', 'email', 'email_verified', 'groups'],
  // Not a real claim, but it would mislead code that reads the claims as a JavaScript object.
  '__proto__',
]);

/**
 * Returns what is wrong with claims, as a phrase, and the member concerned; undefined if they are valid.
 * @param value JSON
 */
export function extraClaimsProblem(
  value: unknown,
): { readonly member: string | undefined; readonly problem: string } | undefined {
  if (!isExtraClaims(value)) return { member: undefined, problem: 'expected an object' };
  const members = Object.entries(value);
  if (members.length > MAX_MEMBERS) return { member: undefined, problem: `more than ${MAX_MEMBERS} claims` };
  for (const [name, claim] of members) {
    const problem = nameProblem(name) ?? valueProblem(claim, 2);
    if (problem !== undefined) return { member: name, problem };
  }
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_BYTES ? { member: undefined, problem: `more than ${MAX_BYTES} bytes of JSON` } : undefined;
}

/** Reads stored claims. Omits members whose names have since become reserved. */
export function extraClaimsFromJson(stored: unknown): ExtraClaims {
  if (!isExtraClaims(stored)) return NO_EXTRA_CLAIMS;
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !RESERVED.has(name)));
}

function nameProblem(name: string): string | undefined {
  if (RESERVED.has(name)) return 'this claim is reserved for the server';
  if (name === '' || [...name].length > MAX_NAME_CHARACTERS || UNUSABLE_IN_NAMES.test(name)) {
    return `expected a name of 1 to ${MAX_NAME_CHARACTERS} characters without control characters`;
  }
  return undefined;
}

/** @param depth of the value in the document, which is the first level */
function valueProblem(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : 'expected a JSON number';
    case 'string':
      return UNSTORABLE.test(value) ? 'a string contains an invalid character' : undefined;
    case 'object':
      return value === null ? undefined : membersProblem(value, depth);
    default:
      return 'expected a JSON value';
  }
}

function membersProblem(value: object, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels deep`;
  if (!Array.isArray(value) && !isExtraClaims(value)) return 'expected a JSON value';
  for (const [name, inner] of Object.entries<unknown>(value)) {
    const problem = UNSTORABLE.test(name) ? 'a name contains an invalid character' : valueProblem(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns whether the value is a JSON object; see `extraClaimsProblem`. */
export function isExtraClaims(value: unknown): value is ExtraClaims {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
