/** `docs/reference/attack-tests.md`: which test makes which attack, found by the numbers in the names of tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS, SHOWN_BY } from '../../test/attacks/attack-list.ts';
import { labelOf, PROTECTIONS } from '../../test/attacks/protections/index.ts';

/** A number in the name of a test, or the first and last of several. */
const NUMBERS = /S-(\d{2,3})(?: to S-(\d{2,3}))?/g;

/** Test files by the numbers that the names of their tests hold. */
export function filesByAttack(root: string): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>(
    Object.entries(SHOWN_BY).map(([number, file]) => [Number(number), new Set([file])]),
  );
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  for (const file of files.filter((name) => /\.test\.tsx?$/.test(name))) {
    for (const line of readFileSync(join(root, file), 'utf8').split('\n')) {
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

/** The page, for the tests below a root. */
export function attackTestsPage(root: string): string {
  const files = filesByAttack(root);
  const rows = ATTACKS.map(([number, attempt, comesWith]) => {
    const names = [...(files.get(number) ?? [])].sort().map((file) => `\`${file}\``);
    const missing = comesWith === undefined ? [] : [`${names.length === 0 ? '' : 'more '}with: ${comesWith}`];
    return `| S-${String(number).padStart(2, '0')} | ${attempt} | ${[...names, ...missing].join('<br>')} |\n`;
  });
  return [
    '# Attack tests\n\n',
    'Each attack of the security specification, and the tests that make it. Their names hold the number. An attack on ',
    'something that is still to be built comes with that feature.\n\n',
    '`node scripts/generate-reference.js` writes this page.\n\n',
    '| Attack | What is tried | Tests |\n|---|---|---|\n',
    ...rows,
    '\n## Protections that are taken out\n\n',
    'A test proves something when it fails without what it is about. `node test/attacks/mutations.js` takes each of ',
    'these protections out of a copy of the tree, by itself, and expects its test to fail; with names it does so for ',
    'these only. It takes some ten seconds for each.\n\n',
    '| Protection | Attack | What is taken out | Test that notices |\n|---|---|---|---|\n',
    ...[...PROTECTIONS]
      .sort((one, other) => order(one) - order(other) || (one.name < other.name ? -1 : 1))
      .map(({ name, attack, what, test }) => `| ${name} | ${labelOf(attack)} | ${what} | \`${test}\` |\n`),
  ].join('');
}

/** Attacks by their number, then promises and faults. */
function order({ attack }: (typeof PROTECTIONS)[number]): number {
  return typeof attack === 'number' ? attack : Number.MAX_SAFE_INTEGER;
}
