/**
 * Signed JWTs from outside (RFC 7515, RFC 7519). What the header says of keys (`jwk`, `jku`, `x5u`, `x5c`) is never
 * followed, and an algorithm counts only with a key of its kind (RFC 8725 3.1, 3.10).
 */
import { createHmac, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { equalDigests } from '#platform/base/secret.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseJson } from '#platform/http/json-body.ts';
import {
  algorithmsOfKey,
  hashOfAlgorithm,
  isMacAlgorithm,
  isSigningAlgorithm,
  settledName,
  signInput,
} from './signing-algorithms.ts';

const verifyInThreadPool = promisify(verify);

/** A segment without padding. */
const SEGMENT = /^[A-Za-z0-9_-]+$/;

export interface CompactJws {
  /** As the header names it, any text; of two names for one algorithm the one in `SIGNING_ALGORITHMS`. */
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** The media type in lower case and without `application/` (RFC 7515 4.1.9); undefined when none is named. */
  readonly type: string | undefined;
  readonly header: Readonly<Record<string, unknown>>;
  /** Nothing of it counts before the signature was checked. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** What was signed. */
  readonly content: string;
  readonly signature: Buffer;
}

/**
 * Reads a compact JWS over a JSON object. Undefined for any other text, for members that are repeated, and for
 * extensions that change what is verified (`crit`, `b64`), since none is known here.
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
 * Whether the public key made the signature, with an algorithm of its kind. In the thread pool: a signature on P-521
 * takes a millisecond.
 */
export async function isSignedBy(jws: CompactJws, key: KeyObject): Promise<boolean> {
  const { algorithm, content, signature } = jws;
  if (!isSigningAlgorithm(algorithm) || !algorithmsOfKey(key).includes(algorithm)) return false;
  const { digest, input } = signInput(algorithm, key);
  return await outside(verifyInThreadPool(digest, Buffer.from(content), input, signature));
}

/** Whether the holder of a shared secret made the signature. */
export function isMacOf({ algorithm, content, signature }: CompactJws, secret: string): boolean {
  if (!isMacAlgorithm(algorithm)) return false;
  return equalDigests(createHmac(hashOfAlgorithm(algorithm), secret).update(content).digest(), signature);
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

/** Undefined unless it is the one spelling of its bytes: there must be one text only for each signed JWT. */
function decode(segment: string): Buffer | undefined {
  if (!SEGMENT.test(segment)) return undefined;
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.toString('base64url') === segment ? bytes : undefined;
}
