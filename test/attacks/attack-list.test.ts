import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesByAttack } from '../../scripts/reference/attack-tests.ts';
import { ATTACKS } from './attack-list.ts';
import { PROTECTIONS, placeOf, readSource } from './protections/index.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

test('every attack of the specification is made by a test, or waits for the feature it is on', () => {
  const files = filesByAttack(ROOT);
  expect(ATTACKS.map(([number]) => number)).toEqual(Array.from({ length: 187 }, (_, index) => index + 1));
  const forgotten = ATTACKS.filter(([number, , comesWith]) => comesWith === undefined && !files.has(number));
  expect(forgotten).toEqual([]);
  expect([...files.keys()].filter((number) => !ATTACKS.some(([known]) => known === number))).toEqual([]);
});

test('every protection that mutations.js takes out is in the source once, and its test has that name', () => {
  const source = readSource(ROOT);
  const misplaced = PROTECTIONS.flatMap(({ name, removals }) =>
    removals.flatMap(({ text }) => placeOf(source, text).problem ?? []).map((problem) => `${name}: ${problem}`),
  );
  expect(misplaced).toEqual([]);
  const nameless = PROTECTIONS.filter(
    ({ test, testName }) => !readFileSync(join(ROOT, test), 'utf8').includes(testName),
  );
  expect(nameless.map(({ name }) => name)).toEqual([]);
  expect(new Set(PROTECTIONS.map(({ name }) => name)).size).toBe(PROTECTIONS.length);
});
