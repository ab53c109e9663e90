import { describe, expect, test } from 'vitest';
import { formatToken, newToken, parseToken } from './token-format.ts';

describe('token format', () => {
  test.each([
    ['mat', '0123456789ABCDEFGHIJabcdefghij', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
    ['mar', 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz', 'mar_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz_Il6Hq1'],
    ['mct', '2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4', 'mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M'],
  ] as const)('a %s token has the checksum of the published vector', (prefix, random, text) => {
    expect(formatToken(prefix, random)).toBe(text);
    expect(parseToken(text)).toEqual({ prefix, random });
  });

  test('a new token is recognized and never repeats', () => {
    const token = newToken('mat');
    expect(parseToken(token)?.prefix).toBe('mat');
    expect(newToken('mat')).not.toBe(token);
  });

  test.each([
    ['a changed character', 'mat_0123456789ABCDEFGHIJabcdefghiJ_0WADMv'],
    ['a changed checksum', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMw'],
    ['another kind in front of the same characters', 'mar_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
    ['an unknown prefix', 'mxt_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
    ['lower case', 'mat_0123456789abcdefghijabcdefghij_0wadmv'],
    ['a trailing space', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv '],
    ['a trailing line feed', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv\n'],
    ['nothing', ''],
  ])('text with %s is not a token', (_, text) => {
    expect(parseToken(text)).toBeUndefined();
  });
});
