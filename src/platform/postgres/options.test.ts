import { expect, test } from 'vitest';
import { sharedCount } from './options.ts';

test.each([
  [1, 0],
  [2, 1],
  [3, 2],
  [10, 6],
  [100, 8],
])('of a bound of %i connections, %i are shared', (max, shared) => {
  expect(sharedCount(max)).toBe(shared);
});
