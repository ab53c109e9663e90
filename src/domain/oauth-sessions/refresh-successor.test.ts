import { hkdfSync, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sha256 } from '#platform/base/secret.ts';
import { deriveSuccessor, findSuccessor, hkdfBlock, hkdfExtract } from './refresh-successor.ts';

const key = Buffer.alloc(32, 7);
const salt = Buffer.alloc(16, 9);
const presented = { text: 'mar_0123456789ABCDEFGHIJabcdefghij_0abcde', random: '0123456789ABCDEFGHIJabcdefghij' };
const PREFIXES = { refreshToken: 'mar', accessToken: 'mat' } as const;

describe('successors of refresh tokens', () => {
  test('a block matches HKDF-SHA-256 (RFC 5869)', () => {
    for (const length of [0, 1, 64, 300]) {
      const [someKey, someSalt, info] = [randomBytes(32), randomBytes(16), randomBytes(length).toString('base64')];
      const expected = Buffer.from(hkdfSync('sha256', someKey, someSalt, info, 32));
      expect(hkdfBlock(hkdfExtract(someKey, someSalt), info)).toEqual(expected);
    }
  });

  test('the same presented token, key and salt derive the same pair; a different one of them another pair', () => {
    const pair = deriveSuccessor(key, presented, salt, 0, PREFIXES);
    expect(deriveSuccessor(key, presented, salt, 0, PREFIXES)).toEqual(pair);
    const others = [
      deriveSuccessor(Buffer.alloc(32, 8), presented, salt, 0, PREFIXES),
      deriveSuccessor(key, { ...presented, text: `${presented.text}x` }, salt, 0, PREFIXES),
      deriveSuccessor(key, presented, Buffer.alloc(16, 10), 0, PREFIXES),
    ];
    for (const other of others) {
      expect(other.refreshToken).not.toBe(pair.refreshToken);
      expect(other.accessToken).not.toBe(pair.accessToken);
    }
  });

  test('a successor keeps the family tag, and a new counter changes the access token only', () => {
    const pair = deriveSuccessor(key, presented, salt, 0, PREFIXES);
    const next = deriveSuccessor(key, presented, salt, 1, PREFIXES);
    expect(pair.refreshToken).toMatch(/^mar_0123456789AB[0-9A-Za-z]{18}_[0-9A-Za-z]{6}$/);
    expect(next.refreshToken).toBe(pair.refreshToken);
    expect(next.accessToken).not.toBe(pair.accessToken);
  });

  test('a stored pair is found with a former key, and with no unrelated one', () => {
    const pair = deriveSuccessor(key, presented, salt, 0, PREFIXES);
    const stored = { salt, replayCounter: 0, refreshTokenHash: sha256(pair.refreshToken) };
    expect(findSuccessor([Buffer.alloc(32, 1), key], presented, stored, PREFIXES)).toEqual({ key, pair });
    expect(findSuccessor([Buffer.alloc(32, 1)], presented, stored, PREFIXES)).toBeUndefined();
  });
});
