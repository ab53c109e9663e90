import { constants, type KeyObject, type SignKeyObjectInput } from 'node:crypto';

/**
 * JWS algorithms by key type (RFC 7518 3.1, RFC 8812, RFC 8037), in the order of the metadata: RS256 first, because
 * OpenID Connect makes it mandatory.
 */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'ES256K',
  'EdDSA',
] as const;

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/**
 * Algorithms accepted from other parties. RFC 9864 gives EdDSA on Ed25519 its own name, which newer libraries send.
 * Latchkey signs with the older name, which all verifiers know.
 */
export const ACCEPTED_ALGORITHMS = [...SIGNING_ALGORITHMS, 'Ed25519'] as const;

/** Returns an algorithm's name in `SIGNING_ALGORITHMS`, and any other value unchanged. */
export function settledName<T>(algorithm: T): T | SigningAlgorithm {
  return algorithm === 'Ed25519' ? 'EdDSA' : algorithm;
}

/** Algorithms for shared secrets (RFC 7518 3.2). */
export const MAC_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;

export type MacAlgorithm = (typeof MAC_ALGORITHMS)[number];

/** Every provider must support it (OpenID Connect Core 1.0 15.1), so clients get it unless they request another one. */
export const MANDATORY_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

const RSA_ALGORITHMS: readonly SigningAlgorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const CURVE_ALGORITHMS: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
  secp256k1: 'ES256K',
};

/** Returns the algorithms of a key, the default first; empty for an unsupported key type. */
export function algorithmsOfKey(key: KeyObject): readonly SigningAlgorithm[] {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return RSA_ALGORITHMS;
    case 'ec': {
      const algorithm = CURVE_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? ''];
      return algorithm === undefined ? [] : [algorithm];
    }
    case 'ed25519':
      return ['EdDSA'];
    default:
      return [];
  }
}

export function isSigningAlgorithm(name: string): name is SigningAlgorithm {
  return SIGNING_ALGORITHMS.some((algorithm) => algorithm === name);
}

export function isMacAlgorithm(name: string): name is MacAlgorithm {
  return MAC_ALGORITHMS.some((algorithm) => algorithm === name);
}

/** Returns the hash of an algorithm, also for `at_hash` and `c_hash`. EdDSA on Ed25519 uses SHA-512. */
export function hashOfAlgorithm(algorithm: string): 'sha256' | 'sha384' | 'sha512' {
  if (algorithm === 'EdDSA') return 'sha512';
  if (algorithm === 'ES256K') return 'sha256';
  const bits = algorithm.slice(2);
  return bits === '256' ? 'sha256' : bits === '384' ? 'sha384' : 'sha512';
}

/** Returns arguments for `crypto.sign`: the digest name (none for EdDSA) and the key with its padding or encoding. */
export function signInput(
  algorithm: SigningAlgorithm,
  key: KeyObject,
): { digest: string | undefined; input: SignKeyObjectInput } {
  if (algorithm === 'EdDSA') return { digest: undefined, input: { key } };
  const digest = hashOfAlgorithm(algorithm);
  if (algorithm.startsWith('RS')) return { digest, input: { key } };
  if (algorithm.startsWith('PS')) {
    // RFC 7518 3.5: the salt is as long as the hash.
    return {
      digest,
      input: { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
    };
  }
  // RFC 7518 3.4: the fixed-length format, not DER.
  return { digest, input: { key, dsaEncoding: 'ieee-p1363' } };
}
