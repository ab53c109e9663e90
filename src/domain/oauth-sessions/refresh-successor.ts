import { createHmac } from 'node:crypto';
import { appendAlphanumeric } from '#platform/base/random.ts';
import { equalDigests, sha256 } from '#platform/base/secret.ts';
import { formatToken, TOKEN_RANDOM_LENGTH, type TokenPrefix } from '#protocol/oauth/token-format.ts';

/**
 * Successors of refresh tokens are derived instead of generated. A repeated request can therefore return the same pair,
 * although no readable token is stored (oauth 9.4). The derivation uses the server's key, the presented token and
 * the salt in its row. The salt is deleted as soon as the successor is consumed.
 */
const FAMILY_LENGTH = 12;

/** A refresh token as presented. */
export interface PresentedToken {
  readonly text: string;
  /** Its 30 random characters; empty for a token in a foreign format, whose successor starts a family. */
  readonly random: string;
}

export interface SuccessorPair {
  readonly refreshToken: string;
  readonly accessToken: string;
}

/** Token prefixes of a kind of session. */
export type PairPrefixes = Readonly<Record<keyof SuccessorPair, TokenPrefix>>;

/** Returns the SHA-256 of the tag that all refresh tokens of a session share: the first characters after the prefix. */
export function refreshFamily(random: string): Buffer {
  return sha256(random.slice(0, FAMILY_LENGTH));
}

/** Returns the family of a native refresh token. @param text the whole token */
export function familyOfToken(text: string): Buffer {
  const start = text.indexOf('_') + 1;
  return refreshFamily(text.slice(start, start + TOKEN_RANDOM_LENGTH));
}

/**
 * @param key 32 bytes, `KeyRing.derive('refresh-rotation')`
 * @param counter how often a lost response was repeated with a fresh access token
 */
export function deriveSuccessor(
  key: Buffer,
  presented: PresentedToken,
  salt: Buffer,
  counter: number,
  prefixes: PairPrefixes,
): SuccessorPair {
  const family = presented.random.slice(0, FAMILY_LENGTH);
  const extracted = hkdfExtract(key, salt);
  return {
    refreshToken: formatToken(prefixes.refreshToken, derive(extracted, `refresh|${presented.text}`, family)),
    accessToken: formatToken(prefixes.accessToken, derive(extracted, `access|${counter}|${presented.text}`, '')),
  };
}

/**
 * Derives the stored pair once more, and returns it with its key. The key may belong to a former root that was replaced
 * since the rotation. Returns undefined if no key matches.
 */
export function findSuccessor(
  keys: readonly Buffer[],
  presented: PresentedToken,
  stored: { readonly salt: Buffer; readonly replayCounter: number; readonly refreshTokenHash: Buffer },
  prefixes: PairPrefixes,
): { readonly key: Buffer; readonly pair: SuccessorPair } | undefined {
  for (const key of keys) {
    const pair = deriveSuccessor(key, presented, stored.salt, stored.replayCounter, prefixes);
    if (equalDigests(sha256(pair.refreshToken), stored.refreshTokenHash)) return { key, pair };
  }
  return undefined;
}

/** Appends derived characters to `start`. Further blocks replace the bytes that rejection sampling skips. */
function derive(extracted: Buffer, purpose: string, start: string): string {
  let text = start;
  for (let block = 0; text.length < TOKEN_RANDOM_LENGTH; block += 1) {
    text = appendAlphanumeric(text, hkdfBlock(extracted, `latchkey|${block}|${purpose}`), TOKEN_RANDOM_LENGTH);
  }
  return text;
}

/** The extract step of HKDF-SHA-256 (RFC 5869 2.2). The runtime's `hkdfSync` takes more than twice as long. */
export function hkdfExtract(key: Buffer, salt: Buffer): Buffer {
  return createHmac('sha256', salt).update(key).digest();
}

/** Returns the first 32 bytes of HKDF-SHA-256 (RFC 5869 2.3). */
export function hkdfBlock(extracted: Buffer, info: string): Buffer {
  return createHmac('sha256', extracted).update(info).update('\x01').digest();
}
