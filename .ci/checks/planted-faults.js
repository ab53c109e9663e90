/**
 * A check that cannot fail proves nothing: each one must pass on a copy of the tree, and refuse a copy with one fault
 * planted.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const COPIED = [
  'src',
  'test',
  'scripts',
  'bench',
  'bin',
  'share',
  'docs',
  'locales',
  'migrations',
  '.ci',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'biome.json',
  'knip.json',
  'vitest.config.ts',
  '.oxlintrc.json',
  '.dependency-cruiser.cjs',
  '.gitignore',
];

const FAULTS = [
  {
    check: ['npx', 'tsc', '-p', '.', '--noEmit'],
    fault: 'a wrong type',
    plant: () => appendFileSync('src/platform/base/clock.ts', '\nexport const planted: number = "text";\n'),
  },
  {
    check: ['npx', 'biome', 'ci', '.'],
    fault: 'an unformatted line',
    plant: () => appendFileSync('src/platform/base/clock.ts', '\nexport   const planted="text"\n'),
  },
  {
    check: ['npx', 'biome', 'ci', '.'],
    fault: 'a call to the console',
    plant: () => appendFileSync('src/platform/base/clock.ts', "\nconsole.log('planted');\n"),
  },
  {
    check: ['npx', 'oxlint', '--type-aware', 'src', 'test'],
    fault: 'a promise nobody awaits',
    plant: () =>
      appendFileSync(
        'src/platform/base/clock.ts',
        '\nexport function planted(work: () => Promise<void>): void {\n  work();\n}\n',
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an import of a higher rank',
    plant: () =>
      appendFileSync('src/platform/base/clock.ts', "\nexport { statement } from '#platform/postgres/statement.ts';\n"),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a type of a higher rank',
    plant: () =>
      appendFileSync(
        'src/platform/base/clock.ts',
        "\nexport type { Statement } from '#platform/postgres/statement.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a feature that imports another',
    plant: () =>
      appendFileSync('src/features/discovery/routes.ts', "\nexport { mount as planted } from '../token/routes.ts';\n"),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'two folders that import each other, by files that do not',
    plant: () => {
      writeFileSync('src/domain/audit/planted.ts', "export { rateLimits } from '#domain/rate-limits/planted.ts';\n");
      writeFileSync('src/domain/rate-limits/planted.ts', 'export const rateLimits = 1;\n');
      writeFileSync('src/domain/rate-limits/other.ts', "export { audit } from '#domain/audit/other.ts';\n");
      writeFileSync('src/domain/audit/other.ts', 'export const audit = 1;\n');
    },
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an import between two modules of the platform',
    plant: () =>
      appendFileSync(
        'src/platform/password-hash/schemes.ts',
        "\nexport type { HttpLimits } from '#platform/http/http-options.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/table-owners.js'],
    fault: 'a statement that changes the table of another module',
    plant: () =>
      appendFileSync(
        'src/domain/audit/audit-event.ts',
        "\nexport const planted = 'with gone as (delete from user_emails where id = :id::uuid) select 1';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/table-owners.js'],
    fault: 'a feature that changes a table',
    plant: () =>
      appendFileSync(
        'src/features/discovery/routes.ts',
        '\nexport const planted = `\n  update users u\n     set locked_at = :now::timestamptz`;\n',
      ),
  },
  {
    check: ['node', '.ci/checks/outside-awaits.js'],
    fault: 'a file read that is awaited without `outside`',
    plant: () =>
      appendFileSync(
        'src/features/discovery/routes.ts',
        "\nimport { readFile } from 'node:fs/promises';\nexport const planted = async () => await readFile('x');\n",
      ),
  },
  {
    check: ['node', '.ci/checks/banned-calls.js'],
    fault: 'a clock read',
    plant: () => appendFileSync('src/platform/base/ids.ts', '\nexport const planted = Date.now();\n'),
  },
  {
    check: ['npx', 'knip'],
    fault: 'an export nobody uses',
    plant: () => appendFileSync('src/platform/base/clock.ts', '\nexport const planted = 1;\n'),
  },
  {
    check: ['npx', 'knip', '--production'],
    fault: 'code kept alive only by a test',
    plant: () => {
      appendFileSync('src/platform/base/clock.ts', '\nexport const planted = 1;\n');
      writeFileSync('src/platform/base/planted.test.ts', "import { planted } from './clock.ts';\nvoid planted;\n");
    },
  },
  {
    check: ['node', '.ci/checks/licences.js'],
    fault: 'a dependency under another licence',
    plant: () => {
      const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
      lock.packages['node_modules/planted'] = { version: '1.0.0', license: 'AGPL-3.0-only' };
      writeFileSync('package-lock.json', JSON.stringify(lock));
    },
  },
  {
    check: ['node', '.ci/checks/generated-files.js'],
    fault: 'a generated file edited by hand',
    plant: () => appendFileSync('share/config.schema.json', '\n'),
  },
];

const root = process.cwd();
let missed = 0;

// A check that refuses the copy as it is would refuse every fault as well.
const checks = new Map(FAULTS.map(({ check }) => [check.join(' '), check]));
onCopy(() => {
  for (const [name, check] of checks) report(passes(check), 'passes ', `without a fault (${name})`);
});
for (const { check, fault, plant } of FAULTS) {
  onCopy(() => {
    plant();
    report(!passes(check), 'refused', `${fault} (${check.join(' ')})`);
  });
}
process.exitCode = missed === 0 ? 0 : 1;

/** Runs `work` inside of a copy of the tree. */
function onCopy(work) {
  const copy = mkdtempSync(join(tmpdir(), 'latchkey-planted-'));
  try {
    for (const name of COPIED) cpSync(resolve(root, name), join(copy, name), { recursive: true });
    symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'));
    process.chdir(copy);
    work();
  } finally {
    process.chdir(root);
    rmSync(copy, { recursive: true, force: true });
  }
}

function passes([command, ...args]) {
  const { status } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === null) throw new Error(`${command} did not end by itself`);
  return status === 0;
}

function report(isAsExpected, outcome, what) {
  process.stdout.write(`${isAsExpected ? outcome : 'MISSED '} ${what}\n`);
  if (!isAsExpected) missed += 1;
}
