import { describe, expect, test } from 'vitest';
import { challengeProblem, verifierFits } from './pkce.ts';

// RFC 7636 appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('code verifier', () => {
  test('matches the challenge derived from it (RFC 7636 appendix B)', () => {
    expect(verifierFits(VERIFIER, CHALLENGE)).toBe(true);
  });

  test.each([
    ['another one', `${VERIFIER.slice(0, -1)}l`],
    ['an empty one', ''],
    ['one with padding', `${VERIFIER}=`],
    ['the challenge itself, as plain would allow', CHALLENGE],
  ])('%s does not match (S-18)', (_, verifier) => {
    expect(verifierFits(verifier, CHALLENGE)).toBe(false);
  });

  test.each([42, 129])('of %i characters does not match even its own challenge (S-18)', (length) => {
    // SHA-256 of 42 and of 129 times "a", as base64url.
    const challenges: Record<number, string> = {
      42: 'elOGB_2quSlplZKfRRVlu7gULhhEEXMiqv0rPXawGv8',
      129: 'wSywJKLlVRzKDgj86PHF4xRVXMP-9jKe6ZSj23UhZq4',
    };
    expect(verifierFits('a'.repeat(length), challenges[length] ?? '')).toBe(false);
  });
});

describe('code challenge', () => {
  test('with S256 is accepted from every client', () => {
    expect(challengeProblem(CHALLENGE, 'S256', true)).toBeUndefined();
    expect(challengeProblem(CHALLENGE, 'S256', false)).toBeUndefined();
  });

  test('can be omitted only by a confidential client (R-13)', () => {
    expect(challengeProblem(undefined, undefined, false)).toBeUndefined();
    expect(challengeProblem(undefined, undefined, true)).toEqual(expect.any(String));
  });

  test.each([
    ['without method, which would mean plain', CHALLENGE, undefined],
    ['with plain', CHALLENGE, 'plain'],
    ['with s256 in lower case', CHALLENGE, 's256'],
    ['of 42 characters', CHALLENGE.slice(1), 'S256'],
    ['of 44 characters', `${CHALLENGE}A`, 'S256'],
    ['with padding', `${CHALLENGE.slice(1)}=`, 'S256'],
    ['with characters of plain base64', `${CHALLENGE.slice(1)}+`, 'S256'],
  ])('%s is rejected (S-20)', (_, challenge, method) => {
    expect(challengeProblem(challenge, method, false)).toEqual(expect.any(String));
  });

  test('a method without challenge is rejected', () => {
    expect(challengeProblem(undefined, 'S256', false)).toEqual(expect.any(String));
  });
});
