import { expect, test } from 'vitest';
import { parseDisplayName } from './display-name.ts';

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
  '%.20j is none',
  (text) => {
    expect(parseDisplayName(text)).toBeUndefined();
  },
);
