/**
 * Signed JWTs from other parties (RFC 7515, RFC 7519). Keys in the header (`jwk`, `jku`, `x5u`, `x5c`) are never used,
 * and an algorithm is accepted only with a key of its type (RFC 8725 3.1, 3.10).
 */
import { createHmac, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { errors, flattenedVerify } from 'jose';
import { equalDigests } from '#platform/base/secret.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseJson } from '#platform/http/json-body.ts';
import {
  algorithmsOfKey,
  hashOfAlgorithm,
  isMacAlgorithm,
  type SigningAlgorithm,
  settledName,
  signInput,
} from './signing-algorithms.ts';

const verifyInThreadPool = promisify(verify);

/**
 * The algorithm that jose imported a key for. Each import takes as much memory as the key, and an RSA key has six
 * algorithms, so strangers who register clients could multiply the memory that their keys take.
 */
const imported = new WeakMap<KeyObject, SigningAlgorithm>();

/** A segment without padding. */
const SEGMENT = /^[A-Za-z0-9_-]+$/;

export interface CompactJws {
  /** As in the header, any text. Of two names for an algorithm, the one in `SIGNING_ALGORITHMS`. */
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** The media type in lower case without `application/` (RFC 7515 4.1.9); undefined if there is none. */
  readonly type: string | undefined;
  readonly header: Readonly<Record<string, unknown>>;
  /** Must not be trusted before the signature is verified. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The signed content. */
  readonly content: string;
  readonly signature: Buffer;
}

/**
 * Parses a compact JWS over a JSON object. Returns undefined for any other text, for repeated members, and for
 * extensions that change what is verified (`crit`, `b64`), since none are supported.
 */
export function parseCompactJws(text: string): CompactJws | undefined {
  const [head, body, tail, ...rest] = text.split('.');
  if (head === undefined || body === undefined || tail === undefined || rest.length > 0) return undefined;
  const header = jsonObject(head);
  const claims = jsonObject(body);
  const signature = decode(tail);
  if (header === undefined || claims === undefined || signature === undefined) return undefined;
  const { alg, kid, typ, crit, b64 } = header;
  if (typeof alg !== 'string' || crit !== undefined || b64 !== undefined) return undefined;
  if (kid !== undefined && typeof kid !== 'string') return undefined;
  if (typ !== undefined && typeof typ !== 'string') return undefined;
  return {
    algorithm: settledName(alg),
    keyId: kid,
    type: typ?.toLowerCase().replace(/^application\//, ''),
    header,
    claims,
    content: `${head}.${body}`,
    signature,
  };
}

/**
 * Returns whether a public key made the signature, with an algorithm of its type. For keys that are kept: jose imports
 * a key at its first signature.
 */
export async function isSignedBy(jws: CompactJws, key: KeyObject): Promise<boolean> {
  const algorithm = algorithmFor(jws, key);
  if (algorithm === undefined) return false;
  const importedFor = imported.get(key) ?? algorithm;
  // The Web Cryptography API, which jose uses, does not have ES256K.
  if (algorithm !== importedFor || algorithm === 'ES256K') return await isSignedByPresentedKey(jws, key);
  imported.set(key, algorithm);
  const [head = '', payload = ''] = jws.content.split('.');
  const signature = jws.signature.toString('base64url');
  try {
    await outside(flattenedVerify({ protected: head, payload, signature }, key));
    return true;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return false;
    throw error;
  }
}

/**
 * Does the same for a key that arrived with its signature, such as that of a DPoP proof. jose would import it for this
 * one signature, which nearly doubles the work (decision 0039). Runs in the thread pool, because P-521 takes a
 * millisecond.
 */
export async function isSignedByPresentedKey(jws: CompactJws, key: KeyObject): Promise<boolean> {
  const algorithm = algorithmFor(jws, key);
  if (algorithm === undefined) return false;
  const { digest, input } = signInput(algorithm, key);
  return await outside(verifyInThreadPool(digest, Buffer.from(jws.content), input, jws.signature));
}

/** Returns whether the holder of a shared secret made the signature. */
export function isMacOf({ algorithm, content, signature }: CompactJws, secret: string): boolean {
  if (!isMacAlgorithm(algorithm)) return false;
  return equalDigests(createHmac(hashOfAlgorithm(algorithm), secret).update(content).digest(), signature);
}

/** Returns the algorithm of the signature if a key can have made it (RFC 8725 3.1). */
function algorithmFor({ algorithm }: CompactJws, key: KeyObject): SigningAlgorithm | undefined {
  return algorithmsOfKey(key).find((possible) => possible === algorithm);
}

function jsonObject(segment: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = decode(segment);
  if (bytes === undefined) return undefined;
  try {
    const value = parseJson(bytes);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns undefined unless the encoding is canonical, so that each signed JWT has only one text. */
function decode(segment: string): Buffer | undefined {
  if (!SEGMENT.test(segment)) return undefined;
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.toString('base64url') === segment ? bytes : undefined;
}
