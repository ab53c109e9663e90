import { describe, expect, test } from 'vitest';
import { formatUserCode, newUserCode, parseUserCode } from './user-code.ts';

describe('user codes (RFC 8628 6.1)', () => {
  test('have 8 of 20 letters, each about equally often', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 2500; round += 1) {
      const code = newUserCode();
      expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
      for (const letter of code) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(20);
    // Expects 1,000 of each, within 6 standard deviations.
    for (const [letter, count] of counts) expect(Math.abs(count - 1000), letter).toBeLessThan(190);
  });

  test.each([
    ['BCDF-GHJK', 'BCDFGHJK'],
    ['bcdfghjk', 'BCDFGHJK'],
    [' b c d f – g.h/j_k 1', 'BCDFGHJK'],
    ['BCDF-GHJ', undefined],
    ['BCDF-GHJKL', undefined],
    ['', undefined],
    ['AEIOUY01', undefined],
    [`BCDFGHJK${' '.repeat(25)}`, undefined],
  ])('%j is parsed as %j', (typed, code) => {
    expect(parseUserCode(typed)).toBe(code);
  });

  test('are displayed in two halves, which can be parsed', () => {
    const code = newUserCode();
    expect(formatUserCode(code)).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    expect(parseUserCode(formatUserCode(code))).toBe(code);
  });
});
