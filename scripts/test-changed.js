/**
 * `npm run test:changed`: runs the tests that import a changed file. Changed are the files that differ from the merge
 * base with `main` (or with another branch, as the first argument), including those that are not committed. Options are
 * passed to vitest.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps/places.js';
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';
import { say } from './steps/say.js';
import { runVitest } from './steps/vitest.js';

/** Tests read migrations instead of importing them. */
const TESTS_OF_MIGRATIONS = [
  'src/platform/postgres/migrator/migrate.test.ts',
  'src/platform/postgres/migrator/schema.test.ts',
  'test/long-life/pre-release.test.ts',
];

const args = process.argv.slice(2);
const options = args[0]?.startsWith('-') === false ? args.slice(1) : args;
let files = [];
await run(() => {
  files = findChangedFiles(options === args ? 'main' : args[0]);
  return prepare({ withTools: true });
});
if (files.length === 0) say('no source file, test or migration has changed');
else await runVitest('related', '--run', '--passWithNoTests', ...options, ...files);

function findChangedFiles(branch) {
  const base = git('merge-base', 'HEAD', branch)[0];
  const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
  const sources = changed.filter((name) => /\.(?:[jt]sx?|json)$/.test(name) && existsSync(join(root, name)));
  const hasMigrations = changed.some((name) => /^migrations\/(?:pre-release\/)?\d+.*\.sql$/.test(name));
  return [...new Set([...sources, ...(hasMigrations ? TESTS_OF_MIGRATIONS : [])])];
}

function git(...command) {
  return execFileSync('git', command, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
}
