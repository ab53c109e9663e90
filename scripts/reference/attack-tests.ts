/**
 * Generates pages of `docs/assurance/`: the tests for each attack and each fault, found by the numbers in test names and
 * in `tools/faults/rows/`, and the protections that `test/attacks/mutations.js` removes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS, FAULTS, FAULTS_TRIED_BY, SHOWN_BY } from '../../test/attacks/attack-list.ts';
import { labelOf, PROTECTIONS } from '../../test/attacks/protections/index.ts';

export const FAULT_ROWS = 'tools/faults/rows';

/** Returns test files by the attack numbers in their test names. */
export function filesByAttack(root: string): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const [number, file] of Object.entries(SHOWN_BY)) note(found, Number(number), file);
  for (const file of testFiles(root)) for (const number of numbersIn(root, file, 'S')) note(found, number, file);
  return found;
}

/** Returns the tests of a fault by its number: tests with the number in their name, and runs under load. */
export function filesByFault(root: string): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const [number, files] of Object.entries(FAULTS_TRIED_BY)) {
    for (const file of files) note(found, Number(number), file);
  }
  for (const file of testFiles(root)) for (const number of numbersIn(root, file, 'F')) note(found, number, file);
  for (const name of readdirSync(join(root, FAULT_ROWS))) {
    const file = join(FAULT_ROWS, name);
    const [, number] = /^ {2}id: 'F-(\d{2})',$/m.exec(readFileSync(join(root, file), 'utf8')) ?? [];
    if (number !== undefined) note(found, Number(number), file);
  }
  return found;
}

function note(found: Map<number, Set<string>>, number: number, file: string): void {
  found.set(number, (found.get(number) ?? new Set()).add(file));
}

function testFiles(root: string): readonly string[] {
  return ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .filter((name) => /\.test\.tsx?$/.test(name));
}

/** Returns the numbers after a letter in test names. They are single numbers, or the first and last of a range. */
function numbersIn(root: string, file: string, letter: 'S' | 'F'): readonly number[] {
  const numbers = new RegExp(`\\b${letter}-(\\d{2,3})(?: to ${letter}-(\\d{2,3}))?`, 'g');
  // Test names are string literals; numbers in comments do not count.
  const named = new RegExp(`['"\`].*\\b${letter}-\\d`);
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines
    .filter((line) => named.test(line))
    .flatMap((line) => [...line.matchAll(numbers)])
    .flatMap(([, first, last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
    );
}

/** Returns the page about attacks, for the tests below a root directory. */
export function attackTestsPage(root: string): string {
  return [
    '# Attack tests\n\n',
    'The attacks of the [security specification](../specification/security.md) and the tests that perform them. Test ' +
      'names contain the number. Attacks on ',
    'features that are not implemented are added with the feature.\n\n',
    '`node scripts/generate-reference.js` writes this page.\n\n',
    '| Attack | Description | Tests |\n|---|---|---|\n',
    ...rowsOf('S', ATTACKS, filesByAttack(root), 'with'),
  ].join('');
}

/** Returns the page about faults. */
export function faultsPage(root: string): string {
  return [
    '# Faults\n\n',
    'The faults of the [security specification](../specification/security.md) and what injects them: tests, and ' +
      'programs in `tools/`. Those in ',
    '`tools/faults/rows/` inject one fault while users and clients use several instances. They then ' +
      'compare a journal ',
    'of all acknowledged changes with the state of the service.\n\n',
    '`node scripts/generate-reference.js` writes this page.\n\n',
    '| Fault | Description | Tested by |\n|---|---|---|\n',
    ...rowsOf('F', FAULTS, filesByFault(root), 'missing'),
  ].join('');
}

/** Returns the page about protections that are removed to test their tests. */
export function mutationTestsPage(): string {
  return [
    '# Mutation tests\n\n',
    'A security test is only meaningful if it fails without the protection. `node ' +
      'test/attacks/mutations.js` removes each ',
    'of these protections from a copy of the source, one at a time, and expects the test to fail. Pass ' +
      'names to run only ',
    'these. Each takes about ten seconds.\n\n',
    '`node scripts/generate-reference.js` writes this page.\n\n',
    '| Protection | Attack | Removed | Failing test |\n|---|---|---|---|\n',
    ...[...PROTECTIONS]
      .sort((one, other) => order(one) - order(other) || (one.name < other.name ? -1 : 1))
      .map(({ name, attack, what, test }) => `| ${name} | ${labelOf(attack)} | ${what} | \`${test}\` |\n`),
  ].join('');
}

/** @param notYet label of what a row lacks */
function rowsOf(
  letter: string,
  rows: readonly (readonly [number: number, what: string, lacking?: string])[],
  files: ReadonlyMap<number, ReadonlySet<string>>,
  notYet: string,
): readonly string[] {
  return rows.map(([number, what, lacking]) => {
    const names = [...(files.get(number) ?? [])].sort().map((file) => `\`${file}\``);
    const more = lacking === undefined ? [] : [`${notYet}: ${lacking}`];
    return `| ${letter}-${String(number).padStart(2, '0')} | ${what} | ${[...names, ...more].join('<br>')} |\n`;
  });
}

/** Sorts attacks by number, then promises and faults. */
function order({ attack }: (typeof PROTECTIONS)[number]): number {
  return typeof attack === 'number' ? attack : Number.MAX_SAFE_INTEGER;
}
