import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesByAttack, filesByFault } from '../../scripts/reference/attack-tests.ts';
import { ATTACKS, FAULTS, FAULTS_TRIED_BY, SHOWN_BY } from './attack-list.ts';
import { PROTECTIONS, placeOf, readSource } from './protections/index.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const SPECIFICATION = readFileSync(join(ROOT, 'docs/specification/security.md'), 'utf8');

/** Returns the numbers in the first column of the tables of the specification. */
function specified(letter: 'S' | 'F'): readonly number[] {
  const ids = [...SPECIFICATION.matchAll(new RegExp(`^\\| ${letter}-(\\d+)\\b`, 'gm'))];
  return ids.map(([, number]) => Number(number)).toSorted((one, other) => one - other);
}

test('every attack in the specification has a test, or waits for its feature', () => {
  const files = filesByAttack(ROOT);
  expect(ATTACKS.map(([number]) => number)).toEqual(specified('S'));
  const forgotten = ATTACKS.filter(([number, , comesWith]) => comesWith === undefined && !files.has(number));
  expect(forgotten).toEqual([]);
  expect([...files.keys()].filter((number) => !ATTACKS.some(([known]) => known === number))).toEqual([]);
});

test('every fault in the specification is tested, or listed as missing', () => {
  const files = filesByFault(ROOT);
  expect(FAULTS.map(([number]) => number)).toEqual(specified('F'));
  const forgotten = FAULTS.filter(([number, , missing]) => missing === undefined && !files.has(number));
  expect(forgotten).toEqual([]);
  expect([...files.keys()].filter((number) => !FAULTS.some(([known]) => known === number))).toEqual([]);
});

test('every fault without full coverage is a known gap in the release notes', () => {
  const [, gaps = ''] = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split('\n### Known gaps\n');
  const missing = FAULTS.flatMap(([number, , lacking]) => (lacking === undefined ? [] : [nameOf(number)]));
  expect(missing.filter((name) => !gaps.includes(name))).toEqual([]);
});

const nameOf = (number: number): string => `F-${String(number).padStart(2, '0')}`;

test('files that cover an attack or fault without citing its number exist', () => {
  const named = [...Object.values(SHOWN_BY), ...Object.values(FAULTS_TRIED_BY).flat()];
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('every protection that mutations.js removes occurs once in the source, and its test name exists', () => {
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
