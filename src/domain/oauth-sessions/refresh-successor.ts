import { createHmac } from 'node:crypto';
import { appendAlphanumeric } from '#platform/base/random.ts';
import { equalDigests, sha256 } from '#platform/base/secret.ts';
import { formatToken, TOKEN_RANDOM_LENGTH, type TokenPrefix } from '#protocol/oauth/token-format.ts';

/**
 * Successors of refresh tokens are derived, not drawn: the same presented token can be answered with the same pair
 * again, although nothing readable is stored (oauth.md 9.4). Deriving takes the server's key, the presented token and
 * the salt in its row, which is erased as soon as the successor is used up.
 */
const FAMILY_LENGTH = 12;

/** A refresh token as it was presented. */
export interface PresentedToken {
  readonly text: string;
  /** The 30 random characters in it; empty for one of another make, whose successor begins a family. */
  readonly random: string;
}

export interface SuccessorPair {
  readonly refreshToken: string;
  readonly accessToken: string;
}

/** How the tokens of a kind of session begin. */
export type PairPrefixes = Readonly<Record<keyof SuccessorPair, TokenPrefix>>;

/** SHA-256 of the tag that all refresh tokens of a session share: the first characters after the prefix. */
export function refreshFamily(random: string): Buffer {
  return sha256(random.slice(0, FAMILY_LENGTH));
}

/** The family that a refresh token of ours begins. @param text the whole token */
export function familyOfToken(text: string): Buffer {
  const start = text.indexOf('_') + 1;
  return refreshFamily(text.slice(start, start + TOKEN_RANDOM_LENGTH));
}

/**
 * @param key 32 bytes, `KeyRing.derive('refresh-rotation')`
 * @param counter how often a lost answer was repeated with a fresh access token
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
 * The pair that is stored, derived once more, and the key that led to it: one of a former root when that was replaced
 * between rotation and repetition. Undefined when no key fits.
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

/** Fills `start` up with derived characters; bytes that rejection sampling leaves out are made up for by blocks. */
function derive(extracted: Buffer, purpose: string, start: string): string {
  let text = start;
  for (let block = 0; text.length < TOKEN_RANDOM_LENGTH; block += 1) {
    text = appendAlphanumeric(text, hkdfBlock(extracted, `latchkey|${block}|${purpose}`), TOKEN_RANDOM_LENGTH);
  }
  return text;
}

/** What HKDF-SHA-256 expands (RFC 5869 2.2). The runtime's `hkdfSync` costs more than twice as much. */
export function hkdfExtract(key: Buffer, salt: Buffer): Buffer {
  return createHmac('sha256', salt).update(key).digest();
}

/** The first 32 bytes of HKDF-SHA-256 (RFC 5869 2.3). */
export function hkdfBlock(extracted: Buffer, info: string): Buffer {
  return createHmac('sha256', extracted).update(info).update('\x01').digest();
}
