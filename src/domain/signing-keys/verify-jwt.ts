import { type KeyObject, verify } from 'node:crypto';
import { algorithmsOfKey, isSigningAlgorithm, signInput } from './signing-algorithms.ts';

/** What is needed of a signing key to check what it signed. */
export interface VerifyingKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** A segment of a compact JWS: base64url without padding. */
const SEGMENT = /^[A-Za-z0-9_-]+$/;

/**
 * The claims of a compact JWT that one of the keys signed, without a look at their meaning; undefined for any other
 * text. The header names the algorithm, but only one that the key's kind can produce counts (RFC 8725 3.1);
 * it may have been another one before.
 */
export function verifyJwt(token: string, keys: readonly VerifyingKey[]): Readonly<Record<string, unknown>> | undefined {
  const segments = token.split('.');
  const [head, body, signature] = segments;
  if (segments.length !== 3 || head === undefined || body === undefined || signature === undefined) return undefined;
  if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
  const header = jsonOf(head);
  const { alg, kid } = header ?? {};
  // Other kinds of JWT are signed with the same keys and say so in `typ` (RFC 8725 3.11).
  if (typeof alg !== 'string' || !isSigningAlgorithm(alg) || header?.['typ'] !== 'JWT') return undefined;
  const key = keys.find((candidate) => candidate.kid === kid && algorithmsOfKey(candidate.privateKey).includes(alg));
  if (key === undefined) return undefined;
  const { digest, input } = signInput(alg, key.privateKey);
  const isGenuine = verify(digest, Buffer.from(`${head}.${body}`), input, Buffer.from(signature, 'base64url'));
  return isGenuine ? jsonOf(body) : undefined;
}

function jsonOf(segment: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString());
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
