import { expect, test } from 'vitest';
import { describeTarget } from './connection-target.ts';

test('a target is described without its password', () => {
  const target = { host: 'db.example.org', user: 'user', password: 'hidden', database: 'latchkey' };
  expect(describeTarget(target)).toBe('database latchkey on db.example.org:5432');
});
