import { expect, test } from 'vitest';
import { remainingMethods } from './remaining-methods.ts';

test.each([
  [['UPSTREAM'], 1, 'none'],
  [['UPSTREAM'], 2, 'enough'],
  [['UPSTREAM', 'PASSKEY'], 1, 'passkeys'],
  [['UPSTREAM', 'PASSKEY'], 2, 'enough'],
  [['PASSWORD', 'UPSTREAM', 'PASSKEY'], 1, 'enough'],
  [['PASSWORD', 'UPSTREAM'], 1, 'enough'],
] as const)('with %j and %i links, removing one leaves %s', (loginMethods, totalCount, left) => {
  expect(remainingMethods({ loginMethods, upstreamOauth2Links: { totalCount } })).toBe(left);
});
