import { describe, expect, test } from 'vitest';
import { usernameProblems } from './username.ts';

const problems = (name: string): string[] => usernameProblems(name, 'example.org');

describe('username rules (browser-flows 5.5, S-97)', () => {
  test.each(['alice', 'alice.', '.alice', '..alice', 'a', 'a-b_c=d/e+f.1', '1a', 'constructor', 'admin', '...'])(
    '%j may be taken',
    (name) => {
      expect(problems(name)).toEqual([]);
    },
  );

  test.each([
    ['', ['username-too-short']],
    ['12345', ['username-all-numeric']],
    ['Alice', ['username-invalid-chars']],
    ['ALICE', ['username-invalid-chars']],
    ['ａｌｉｃｅ', ['username-invalid-chars']],
    ['аlice', ['username-invalid-chars']],
    ['alice\u200d', ['username-invalid-chars']],
    [' alice', ['username-invalid-chars']],
    ['alıce', ['username-invalid-chars']],
    ['@alice:server', ['username-invalid-chars']],
    ['alice%00', ['username-invalid-chars']],
    ['alice\0', ['username-invalid-chars']],
    ['alice\n', ['username-invalid-chars']],
    ['.', ['username-reserved']],
    ['..', ['username-reserved']],
    ['_alice', ['username-reserved']],
    ['__proto__', ['username-reserved']],
    ['_Alice', ['username-invalid-chars', 'username-reserved']],
    ['1'.repeat(256), ['username-too-long', 'username-all-numeric']],
  ])('%j breaks %j', (name, expected) => {
    expect(problems(name)).toEqual(expected);
  });

  test('@name:server has at most 255 bytes', () => {
    expect(problems('a'.repeat(255 - '@:example.org'.length))).toEqual([]);
    expect(problems('a'.repeat(256 - '@:example.org'.length))).toEqual(['username-too-long']);
  });
});
