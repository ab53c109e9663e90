/** Public keys of other parties as JSON Web Keys (RFC 7517, RFC 7518 6, RFC 8037). */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { sha256 } from '#platform/base/secret.ts';
import { algorithmsOfKey, type SigningAlgorithm, settledName } from './signing-algorithms.ts';

/** A key for verifying signatures. */
export interface VerificationKey {
  readonly kid: string | undefined;
  /** Algorithms that the key may have signed with. */
  readonly algorithms: readonly SigningAlgorithm[];
  readonly key: KeyObject;
}

/** The keys of a set, or what is wrong with it as the end of a sentence. */
export type KeySetOutcome =
  | {
      readonly ok: true;
      /** The keys as received. Some may not be usable here. */
      readonly given: readonly object[];
      readonly usable: readonly VerificationKey[];
    }
  | { readonly ok: false; readonly problem: string };

type KeyOutcome =
  | { readonly kind: 'usable'; readonly key: VerificationKey }
  /** The key type or purpose is unknown (RFC 7517 5). */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'wrong'; readonly problem: string };

const MAX_STORED_KEYS = 20;
const MAX_FETCHED_KEYS = 50;
const MAX_KID_CHARACTERS = 255;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
/** Larger exponents would only cost time. */
const MAX_RSA_EXPONENT = 2n ** 32n;
/** RFC 7518 6: private members of a key. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const NUMBER_MEMBERS = ['n', 'e', 'x', 'y'];
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Curves by key type. Keys on other curves are ignored. */
const CURVES: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['EC', ['P-256', 'P-384', 'P-521', 'secp256k1']],
  ['OKP', ['Ed25519']],
]);

/** Parses a key set that is about to be stored. Anything that its owner must fix is a problem. */
export function parseKeySet(set: unknown): KeySetOutcome {
  const list = keysOf(set);
  if (list === undefined || list.length > MAX_STORED_KEYS) {
    return wrongSet(`must contain a list "keys" of at most ${MAX_STORED_KEYS} keys`);
  }
  const given: object[] = [];
  const usable: VerificationKey[] = [];
  const kids = new Set<unknown>();
  for (const [index, jwk] of list.entries()) {
    const outcome = readKey(jwk);
    if (outcome.kind === 'wrong') return wrongSet(`is invalid: keys[${index}] ${outcome.problem}`);
    const kid = membersOf(jwk)?.get('kid');
    if (kid !== undefined && kids.has(kid)) return wrongSet('contains two keys with the same kid');
    kids.add(kid);
    if (typeof jwk === 'object' && jwk !== null) given.push(jwk);
    if (outcome.kind === 'usable') usable.push(outcome.key);
  }
  return { ok: true, given, usable };
}

/** Returns the usable keys of a published set and ignores everything else. */
export function usableKeys(set: unknown): readonly VerificationKey[] {
  return (keysOf(set) ?? []).slice(0, MAX_FETCHED_KEYS).flatMap((jwk) => {
    const outcome = readKey(jwk);
    return outcome.kind === 'usable' ? [outcome.key] : [];
  });
}

/** Parses a single public key, such as the one in the header of a DPoP proof; undefined if it is not usable. */
export function parsePublicKey(jwk: unknown): VerificationKey | undefined {
  const outcome = readKey(jwk);
  return outcome.kind === 'usable' ? outcome.key : undefined;
}

/** Returns the SHA-256 over the required members in base64url (RFC 7638 3). */
export function keyThumbprint(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = key.export({ format: 'jwk' });
  // Members are in lexicographic order, and those that the key type does not have are omitted.
  return sha256(JSON.stringify({ crv, e, kty, n, x, y })).toString('base64url');
}

function readKey(jwk: unknown): KeyOutcome {
  const members = membersOf(jwk);
  const kty = members?.get('kty');
  if (members === undefined || typeof kty !== 'string') return wrong('is not a key');
  if (PRIVATE_MEMBERS.some((name) => members.has(name))) {
    return wrong('is a private key: replace this key pair and register only the public key');
  }
  const kid = members.get('kid');
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID_CHARACTERS)) {
    return wrong(`has a kid that is not a string of at most ${MAX_KID_CHARACTERS} characters`);
  }
  const isKnownKind = kty === 'RSA' || CURVES.get(kty)?.includes(members.get('crv')) === true;
  if (!isKnownKind || !isForSignatures(members)) return { kind: 'unknown' };
  const key = publicKeyOf(members);
  if (key === undefined) return wrong('cannot be read');
  const problem = rsaProblem(key);
  if (problem !== undefined) return wrong(problem);
  const possible = algorithmsOfKey(key);
  const alg = settledName(members.get('alg'));
  const algorithms = alg === undefined ? possible : possible.filter((algorithm) => algorithm === alg);
  if (algorithms.length === 0) return { kind: 'unknown' };
  return { kind: 'usable', key: { kid, algorithms, key } };
}

/** RFC 7517 4.2, 4.3. */
function isForSignatures(members: ReadonlyMap<string, unknown>): boolean {
  const operations = members.get('key_ops');
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return false;
  const use = members.get('use');
  return use === undefined || use === 'sig';
}

function publicKeyOf(members: ReadonlyMap<string, unknown>): KeyObject | undefined {
  const jwk: JsonWebKey = {};
  for (const name of ['kty', 'crv', ...NUMBER_MEMBERS]) {
    const value = members.get(name);
    if (value === undefined) continue;
    // The runtime would skip characters outside the alphabet.
    if (typeof value !== 'string' || (NUMBER_MEMBERS.includes(name) && !BASE64URL.test(value))) return undefined;
    jwk[name] = value;
  }
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function rsaProblem(key: KeyObject): string | undefined {
  const { modulusLength: bits, publicExponent: exponent } = key.asymmetricKeyDetails ?? {};
  if (bits === undefined || exponent === undefined) return undefined;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
    return `has ${bits} bits; RSA keys must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`;
  }
  const isFine = exponent >= 3n && exponent < MAX_RSA_EXPONENT && exponent % 2n === 1n;
  return isFine ? undefined : 'has an unsafe RSA exponent; use 65537';
}

/** Uses a map instead of properties, because a name may be `__proto__`. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? new Map(Object.entries(value)) : undefined;
}

function keysOf(set: unknown): readonly unknown[] | undefined {
  const keys = membersOf(set)?.get('keys');
  return Array.isArray(keys) ? keys : undefined;
}

function wrong(problem: string): KeyOutcome {
  return { kind: 'wrong', problem };
}

function wrongSet(problem: string): KeySetOutcome {
  return { ok: false, problem };
}
