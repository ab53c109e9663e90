import { expect, test } from 'vitest';
import { foreignText } from './foreign-text.ts';

test('a text of another server is one line without invisible characters, and has 300 characters at most', () => {
  expect(foreignText(' AADSTS7000215:\r\n\tInvalid\u202e client\u0000secret\u2028. ')).toBe(
    'AADSTS7000215: Invalid client secret .',
  );
  expect(foreignText('é'.repeat(10_000))).toBe('é'.repeat(300));
  expect(foreignText('😀'.repeat(10_000))).toBe('😀'.repeat(300));
  expect(foreignText('\n')).toBe('');
});
