import { describe, expect, test } from 'vitest';
import { checkDisplayName, parseDisplayName, usernameProblems } from './account-names.ts';

const problems = (name: string): string[] => usernameProblems(name, 'example.org');

describe('username rules (browser-flows 5.5, S-97)', () => {
  test.each([
    'alice',
    'alice.',
    '.alice',
    '..alice',
    'a',
    'a-b_c=d/e+f.1',
    '1a',
    'constructor',
    'admin',
    '...',
    '81m8fnp7n8wtbq5ypd2n1p034g',
  ])('%j is allowed', (name) => {
    expect(problems(name)).toEqual([]);
  });

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
    ['01m8fnp7n8wtbq5ypd2n1p034g', ['username-identifier']],
    ['01M8FNP7N8WTBQ5YPD2N1P034G', ['username-invalid-chars', 'username-identifier']],
    ['0190a5f1-7d5e-7c11-8f3a-2b5d6c7e8f90', ['username-identifier']],
    ['0190A5F1-7D5E-7C11-8F3A-2B5D6C7E8F90', ['username-invalid-chars', 'username-identifier']],
    ['1'.repeat(26), ['username-all-numeric', 'username-identifier']],
    ['1'.repeat(256), ['username-too-long', 'username-all-numeric']],
  ])('%j breaks %j', (name, expected) => {
    expect(problems(name)).toEqual(expected);
  });

  test('@name:server has at most 255 bytes', () => {
    expect(problems('a'.repeat(255 - '@:example.org'.length))).toEqual([]);
    expect(problems('a'.repeat(256 - '@:example.org'.length))).toEqual(['username-too-long']);
  });
});

test.each([
  ['Amira Okafor', 'Amira Okafor'],
  ['  Amira  ', 'Amira'],
  ['أميرة', 'أميرة'],
  ['👩‍🚀'.repeat(80), '👩‍🚀'.repeat(80)],
  ['x'.repeat(255), 'x'.repeat(255)],
  ['<b>Amira</b>', '<b>Amira</b>'],
])('%.20s is a display name', (text, name) => {
  expect(parseDisplayName(text)).toBe(name);
});

test.each(['', ' \u3000 ', 'x'.repeat(256), 'a\u0007b', 'a\nb', 'a\u0085b', 'a\u2028b', '\u202eabc', 'a\u2066b'])(
  '%.20j is not a display name',
  (text) => {
    expect(parseDisplayName(text)).toBeUndefined();
  },
);

test.each([
  ['', 'empty'],
  [' \u3000 ', 'empty'],
  ['x'.repeat(256), 'too-long'],
  ['a\nb', 'forbidden-characters'],
  ['a\u061cb', 'forbidden-characters'],
  ['a\u200eb', 'forbidden-characters'],
  ['\u200fb', 'forbidden-characters'],
  ['\u202eabc', 'forbidden-characters'],
  ['\u200b\u200b', 'invisible'],
  ['\u2060', 'invisible'],
  ['\u00ad', 'invisible'],
  ['\u3164', 'invisible'],
  ['\u2800\u2800', 'invisible'],
  ['\u{e0041}', 'invisible'],
  ['\u0301', 'invisible'],
])('%.20j is rejected as %s', (text, problem) => {
  expect(checkDisplayName(text)).toEqual({ ok: false, problem });
});

test.each(['a\u200cb', '👩\u200d🚀', '.', '١', '☃'])('%j is visible', (text) => {
  expect(checkDisplayName(text)).toEqual({ ok: true, name: text });
});
