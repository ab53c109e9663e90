import { describe, expect, test } from 'vitest';
import { loadYaml } from '#config/fixture.test-support.ts';
import { defaultHashConcurrency } from '#config/hash-concurrency.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { requireMemoryForHashes, warnOfLittleMemory } from './start-checks.ts';

const MIB = 1024 * 1024;

function schemes(scheme: string) {
  return loadYaml(`passwords: { schemes: [{ version: 1, ${scheme} }] }`);
}

describe('the memory of password hashes (operations 9.2)', () => {
  const argon2id = () => schemes('algorithm: argon2id, memory_kib: 65536, iterations: 3');

  test("may be at most half of the container's memory", () => {
    requireMemoryForHashes(argon2id(), 4, 512 * MIB);
    expect(() => requireMemoryForHashes(argon2id(), 4, 511 * MIB)).toThrow(
      expect.objectContaining({
        exitCode: 78,
        message:
          '4 concurrent password hashes require 256 MiB, more than half of the 511 MiB of this container: ' +
          'set limits.password_hash_concurrency to at most 3, or give the container more memory',
      }),
    );
    requireMemoryForHashes(argon2id(), 3, 511 * MIB);
  });

  test('must hold at least one hash', () => {
    expect(() => requireMemoryForHashes(argon2id(), 1, 64 * MIB)).toThrow(/memory_kib/);
  });

  test.each([undefined, 0, 2 ** 64])('does not matter without a limit: %s', (limit) => {
    requireMemoryForHashes(argon2id(), 64, limit);
  });

  test('does not matter for algorithms that need none, or without passwords', () => {
    requireMemoryForHashes(schemes('algorithm: bcrypt, cost: 12'), 64, 64 * MIB);
    requireMemoryForHashes(loadYaml('passwords: { enabled: false }'), 64, 1);
  });
});

describe('concurrent hashes by default', () => {
  const passwords = (settings = '') => loadYaml(`passwords: { ${settings} }`).passwords;
  test.each([
    ['one per processor', 1, { processors: 4 }, 4],
    ['two on a single processor', 1, { processors: 1 }, 2],
    ['eight on a larger machine', 1, { processors: 64 }, 8],
    ['divided by the processes', 2, { processors: 8 }, 4],
    ['limited by half of the memory of the container', 1, { processors: 8, memoryLimit: 256 * MIB }, 6],
    ['limited by half of the memory, divided by the processes', 2, { processors: 8, memoryLimit: 256 * MIB }, 3],
    ['one if none fits, which is rejected at start', 1, { processors: 8, memoryLimit: 32 * MIB }, 1],
    ['no fewer without a limit', 1, { processors: 8, memoryLimit: 2 ** 64 }, 8],
  ])('are %s', (_, processes, machine, expected) => {
    expect(defaultHashConcurrency(processes, passwords(), { memoryLimit: undefined, ...machine })).toBe(expected);
  });

  test('are not reduced for algorithms that need no memory, or without passwords', () => {
    const small = { processors: 8, memoryLimit: 32 * MIB };
    const bcrypt = passwords('schemes: [{ version: 1, algorithm: bcrypt }]');
    expect(defaultHashConcurrency(1, bcrypt, small)).toBe(8);
    expect(defaultHashConcurrency(1, passwords('enabled: false'), small)).toBe(8);
  });
});

describe("the container's memory (security F-13)", () => {
  function warnings(processes: number, limit: number | undefined): readonly string[] {
    const log = new RecordingLog();
    warnOfLittleMemory(processes, limit, log);
    return log.written;
  }

  test('causes a warning where a service under load does not fit', () => {
    expect(warnings(1, 150 * MIB)).toEqual([expect.stringContaining('is 150 MiB: with less than 256 MiB')]);
    expect(warnings(2, 256 * MIB)).toEqual([expect.stringContaining('with less than 512 MiB')]);
  });

  test('causes no warning where there is enough, or no limit', () => {
    for (const limit of [256 * MIB, 0, undefined, 2 ** 64]) expect(warnings(1, limit)).toEqual([]);
  });
});
