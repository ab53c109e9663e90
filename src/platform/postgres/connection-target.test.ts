import { expect, it } from 'vitest';
import { describeTarget } from './connection-target.ts';

it('a target is described without its password', () => {
  const target = { host: 'db.example.org', user: 'user', password: 'hidden', database: 'latchkey' };
  expect(describeTarget(target)).toBe('database latchkey on db.example.org:5432');
});
