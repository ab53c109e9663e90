/** Generates `docs/assurance/acceptance-checks.md`: the tests for each clause of the acceptance checks. */
import { CHECKS, type Clause } from '../../test/acceptance/checks.ts';

export function acceptanceChecksPage(): string {
  return [
    '# Acceptance checks\n\n',
    'The acceptance checks of the [operations specification](../specification/operations.md), clause by clause, ',
    'and the tests that prove them. `npm test -- FILE -t WORDS` runs one. Files in `tools/` and `bench/` ' +
      'are standalone ',
    'programs ([tools](../../tools/README.md)).\n\n',
    '`node scripts/generate-reference.js` writes this page.\n',
    ...CHECKS.flatMap(({ title, clauses }, index) => [
      `\n## 10.${index + 1} ${title}\n\n`,
      '| Requirement | Proven by |\n|---|---|\n',
      ...clauses.map(rowOf),
    ]),
  ].join('');
}

function rowOf({ what, shownBy, missing }: Clause): string {
  const proofs = shownBy.map(([file, words]) =>
    words === undefined ? `\`${file}\`` : `\`${file}\`: ${words.replaceAll('|', '\\|')}`,
  );
  const lacking = missing === undefined ? [] : [`missing: ${missing}`];
  return `| ${what} | ${[...proofs, ...lacking].join('<br>')} |\n`;
}
