import { expect, test } from 'vitest';
import { automaticWorkers } from './automatic-workers.ts';

const MIB = 1024 * 1024;

test.each([
  ['one per processor', { processors: 4, memoryLimit: undefined }, 4],
  ['no limit is reported as 0', { processors: 4, memoryLimit: 0 }, 4],
  ['no limit is reported as a huge number', { processors: 4, memoryLimit: 2 ** 63 }, 4],
  ['as many as have 256 MiB each', { processors: 8, memoryLimit: 1024 * MIB }, 4],
  ['at least one', { processors: 8, memoryLimit: 128 * MIB }, 1],
  ['at most 64', { processors: 192, memoryLimit: undefined }, 64],
])('automatic workers: %s', (_rule, machine, expected) => {
  expect(automaticWorkers(machine)).toBe(expected);
});
