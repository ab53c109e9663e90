import { expect, test } from 'vitest';
import { foreignText } from './foreign-text.ts';

test('text from another server becomes one line without invisible characters, at most 300 characters long', () => {
  expect(foreignText(' AADSTS7000215:\r\n\tInvalid\u202e client\u0000secret\u2028. ')).toBe(
    'AADSTS7000215: Invalid client secret .',
  );
  expect(foreignText('é'.repeat(10_000))).toBe('é'.repeat(300));
  expect(foreignText('😀'.repeat(10_000))).toBe('😀'.repeat(300));
  expect(foreignText('\n')).toBe('');
});
