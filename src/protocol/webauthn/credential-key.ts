import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { CborMap, CborValue } from './cbor.ts';

/** Offered COSE algorithms, in this order: ES256, EdDSA with Ed25519, RS256. */
export const CREDENTIAL_ALGORITHMS: readonly number[] = [-7, -8, -257];

const MIN_RSA_BYTES = 256;
const MAX_RSA_BYTES = 512;
const MAX_EXPONENT_BYTES = 4;

/** Labels from RFC 9052 and RFC 9053. */
const LABEL = { kty: 1, alg: 3, crv: -1, x: -2, y: -3, n: -1, e: -2 } as const;

/**
 * Reads the key of a credential. Each key type has one algorithm, so a stored key determines how its signatures are
 * verified.
 * @returns undefined if it is not a public key of an offered algorithm
 */
export function readCredentialKey(map: CborMap): KeyObject | undefined {
  const jwk = jwkOf(map);
  if (jwk === undefined) return undefined;
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    // The point is not on its curve.
    return undefined;
  }
}

function jwkOf(map: CborMap): JsonWebKey | undefined {
  const crv = map.get(LABEL.crv);
  const [x, y] = [base64Url(map.get(LABEL.x), 32), base64Url(map.get(LABEL.y), 32)];
  switch (`${String(map.get(LABEL.kty))} ${String(map.get(LABEL.alg))}`) {
    case '2 -7':
      return crv === 1 && x !== undefined && y !== undefined ? { kty: 'EC', crv: 'P-256', x, y } : undefined;
    case '1 -8':
      return crv === 6 && x !== undefined ? { kty: 'OKP', crv: 'Ed25519', x } : undefined;
    case '3 -257':
      return rsaJwk(map.get(LABEL.n), map.get(LABEL.e));
    default:
      return undefined;
  }
}

/** The limits keep signature verification cheap. */
function rsaJwk(modulus: CborValue | undefined, exponent: CborValue | undefined): JsonWebKey | undefined {
  const n = base64Url(modulus, MIN_RSA_BYTES, MAX_RSA_BYTES);
  const e = base64Url(exponent, 1, MAX_EXPONENT_BYTES);
  return n !== undefined && e !== undefined ? { kty: 'RSA', n, e } : undefined;
}

function base64Url(value: CborValue | undefined, min: number, max = min): string | undefined {
  if (!Buffer.isBuffer(value) || value.length < min || value.length > max) return undefined;
  return value.toString('base64url');
}

export function exportCredentialKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' });
}

/** @param spki from `exportCredentialKey` */
export function isSignedByCredential(spki: Buffer, signed: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature);
}
