import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ATTACKS, SHOWN_BY } from './attack-list.ts';
import { PROTECTIONS, placeOf } from './protections.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
/** A number in the name of a test, or the first and last of several. */
const NUMBERS = /S-(\d{2,3})(?: to S-(\d{2,3}))?/g;

/** Test files by the numbers that the names of their tests hold. */
function filesByNumber(): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>(
    Object.entries(SHOWN_BY).map(([number, file]) => [Number(number), new Set([file])]),
  );
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  for (const file of files.filter((name) => /\.test\.tsx?$/.test(name))) {
    for (const line of readFileSync(join(ROOT, file), 'utf8').split('\n')) {
      // Names of tests are texts; a comment proves nothing.
      if (!/['"`].*S-\d/.test(line)) continue;
      for (const [, first, last = first] of line.matchAll(NUMBERS)) {
        for (let number = Number(first); number <= Number(last); number += 1) {
          found.set(number, (found.get(number) ?? new Set()).add(file));
        }
      }
    }
  }
  return found;
}

function table(files: ReadonlyMap<number, ReadonlySet<string>>): string {
  const rows = ATTACKS.map(([number, attempt, comesWith]) => {
    const names = [...(files.get(number) ?? [])].sort().map((file) => `\`${file}\``);
    const missing = comesWith === undefined ? [] : [`${names.length === 0 ? '' : 'more '}with: ${comesWith}`];
    return `| S-${String(number).padStart(2, '0')} | ${attempt} | ${[...names, ...missing].join('<br>')} |\n`;
  });
  return [
    '# Attack tests\n\n',
    'Each attack of the security specification, and the tests that make it. Their names hold the number. An attack on ',
    'something that is still to be built comes with that feature.\n\n',
    '`npx vitest run test/attacks/attack-list -u` writes this page.\n\n',
    '| Attack | What is tried | Tests |\n|---|---|---|\n',
    ...rows,
    '\n## Protections that are taken out\n\n',
    'A test proves something when it fails without what it is about. `node test/attacks/mutations.js` takes each of ',
    'these protections out of a copy of the tree, by itself, and expects its test to fail; with names it does so for ',
    'these only. It takes some ten seconds for each.\n\n',
    '| Protection | Attack | What is taken out | Test that notices |\n|---|---|---|---|\n',
    ...PROTECTIONS.map(
      ({ name, attack, what, test }) => `| ${name} | S-${String(attack).padStart(2, '0')} | ${what} | \`${test}\` |\n`,
    ),
  ].join('');
}

test('every attack of the specification is made by a test, or waits for the feature it is on', () => {
  const files = filesByNumber();
  expect(ATTACKS.map(([number]) => number)).toEqual(Array.from({ length: 187 }, (_, index) => index + 1));
  const forgotten = ATTACKS.filter(([number, , comesWith]) => comesWith === undefined && !files.has(number));
  expect(forgotten).toEqual([]);
  expect([...files.keys()].filter((number) => !ATTACKS.some(([known]) => known === number))).toEqual([]);
});

test('every protection that mutations.js takes out is in the source once, and its test has that name', () => {
  const misplaced = PROTECTIONS.flatMap(({ name, removals }) =>
    removals.flatMap(({ text }) => placeOf(ROOT, text).problem ?? []).map((problem) => `${name}: ${problem}`),
  );
  expect(misplaced).toEqual([]);
  const nameless = PROTECTIONS.filter(
    ({ test, testName }) => !readFileSync(join(ROOT, test), 'utf8').includes(testName),
  );
  expect(nameless.map(({ name }) => name)).toEqual([]);
  expect(new Set(PROTECTIONS.map(({ name }) => name)).size).toBe(PROTECTIONS.length);
});

test('docs/reference/attack-tests.md says where', async () => {
  await expect(table(filesByNumber())).toMatchFileSnapshot('../../docs/reference/attack-tests.md');
});
