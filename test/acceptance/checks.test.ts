import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKS } from './checks.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const clauses = CHECKS.flatMap(({ clauses: ofCheck }, index) =>
  ofCheck.map((clause) => ({ ...clause, name: `10.${index + 1}: ${clause.what}` })),
);

test('covers every check of the specification, each clause with a proof or listed as missing', () => {
  const [, specified = ''] = readFileSync(join(ROOT, 'docs/specification/operations.md'), 'utf8').split('\n## 10. ');
  expect(CHECKS.length).toBe([...specified.matchAll(/^\d+\. /gm)].length);
  const unshown = clauses.filter(({ shownBy, missing }) => shownBy.length === 0 && missing === undefined);
  expect(unshown.map(({ name }) => name)).toEqual([]);
});

test('names only tests that exist in their files', () => {
  const absent = clauses.flatMap(({ name, shownBy }) =>
    shownBy
      .filter(([file, words]) => !existsSync(join(ROOT, file)) || (words !== undefined && !names(file).includes(words)))
      .map(([file, words]) => `${name}: ${file}: ${words}`),
  );
  expect(absent).toEqual([]);
  const unnamed = clauses.flatMap(({ shownBy }) =>
    shownBy.filter(([file, words]) => /\.test\.tsx?$/.test(file) && words === undefined),
  );
  expect(unnamed).toEqual([]);
});

test('lists every clause without full proof as a known gap in the release notes', () => {
  const [, gaps = ''] = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split('\n### Known gaps\n');
  const missing = clauses.flatMap(({ name, missing: lacking }) =>
    lacking === undefined ? [] : [name.split(':', 1)[0]],
  );
  expect(missing.filter((name) => !new RegExp(`\\b${name}\\b`).test(gaps))).toEqual([]);
});

/** Returns the lines of a file that may contain the name of a test. */
function names(file: string): string {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line)).join('\n');
}
