import { expect, test } from 'vitest';
import { describeTarget, sharedCount } from './database-options.ts';

test('describes a target without its password', () => {
  const target = { host: 'db.example.org', user: 'user', password: 'hidden', database: 'latchkey' };
  expect(describeTarget(target)).toBe('database latchkey on db.example.org:5432');
});

test.each([
  [1, 0],
  [2, 1],
  [3, 2],
  [10, 6],
  [100, 8],
])('with a limit of %i connections shares %i', (max, shared) => {
  expect(sharedCount(max)).toBe(shared);
});
