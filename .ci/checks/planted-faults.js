/**
 * A check that cannot fail proves nothing: each one must pass on a copy of the tree, and refuse a copy with one fault
 * planted.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const COPIED = [
  'src',
  'web',
  'test',
  'scripts',
  'bench',
  'tools/faults/rows',
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
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), '\nexport const planted: number = "text";\n'),
  },
  {
    check: ['npx', 'tsc', '-p', 'web', '--noEmit'],
    fault: 'a wrong type in the browser',
    plant: (at) => appendFileSync(at('web/routes.ts'), '\nexport const planted: number = ROUTES;\n'),
  },
  {
    check: ['npx', 'biome', 'ci', '.'],
    fault: 'an unformatted line',
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), '\nexport   const planted="text"\n'),
  },
  {
    check: ['npx', 'biome', 'ci', '.'],
    fault: 'a call to the console',
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), "\nconsole.log('planted');\n"),
  },
  {
    check: ['npx', 'oxlint', '--type-aware', 'src', 'test', 'web'],
    fault: 'a promise nobody awaits',
    plant: (at) =>
      appendFileSync(
        at('src/platform/base/clock.ts'),
        '\nexport function planted(work: () => Promise<void>): void {\n  work();\n}\n',
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an import of a higher rank',
    plant: (at) =>
      appendFileSync(
        at('src/platform/base/clock.ts'),
        "\nexport { statement } from '#platform/postgres/statement.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a type of a higher rank',
    plant: (at) =>
      appendFileSync(
        at('src/platform/base/clock.ts'),
        "\nexport type { Statement } from '#platform/postgres/statement.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an application in the browser that imports the server',
    plant: (at) =>
      appendFileSync(at('web/routes.ts'), "\nexport { epochSeconds } from '../src/platform/base/clock.ts';\n"),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a feature that imports another',
    plant: (at) =>
      appendFileSync(
        at('src/features/discovery/routes.ts'),
        "\nexport { mount as planted } from '../token/routes.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'two folders that import each other, by files that do not',
    plant: (at) => {
      writeFileSync(
        at('src/domain/audit/planted.ts'),
        "export { rateLimits } from '#domain/rate-limits/planted.ts';\n",
      );
      writeFileSync(at('src/domain/rate-limits/planted.ts'), 'export const rateLimits = 1;\n');
      writeFileSync(at('src/domain/rate-limits/other.ts'), "export { audit } from '#domain/audit/other.ts';\n");
      writeFileSync(at('src/domain/audit/other.ts'), 'export const audit = 1;\n');
    },
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an import between two modules of the platform',
    plant: (at) =>
      appendFileSync(
        at('src/platform/password-hash/schemes.ts'),
        "\nexport type { HttpLimits } from '#platform/http/http-options.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/table-owners.js'],
    fault: 'a statement that changes the table of another module',
    plant: (at) =>
      appendFileSync(
        at('src/domain/audit/audit-event.ts'),
        "\nexport const planted = 'with gone as (delete from user_emails where id = :id::uuid) select 1';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/table-owners.js'],
    fault: 'a feature that changes a table',
    plant: (at) =>
      appendFileSync(
        at('src/features/discovery/routes.ts'),
        '\nexport const planted = `\n  update users u\n     set locked_at = :now::timestamptz`;\n',
      ),
  },
  {
    check: ['node', '.ci/checks/migration-locks.js'],
    fault: 'a migration that reads a whole table while nobody can write',
    plant: (at) =>
      writeFileSync(at('migrations/9999-planted.sql'), '-- expand\ncreate index planted on users (created_at);\n'),
  },
  {
    check: ['node', '.ci/checks/outside-awaits.js'],
    fault: 'a file read that is awaited without `outside`',
    plant: (at) =>
      appendFileSync(
        at('src/features/discovery/routes.ts'),
        "\nimport { readFile } from 'node:fs/promises';\nexport const planted = async () => await readFile('x');\n",
      ),
  },
  {
    check: ['node', '.ci/checks/banned-calls.js'],
    fault: 'a clock read',
    plant: (at) => appendFileSync(at('src/platform/base/ids.ts'), '\nexport const planted = Date.now();\n'),
  },
  {
    check: ['npx', 'knip'],
    fault: 'an export nobody uses',
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), '\nexport const planted = 1;\n'),
  },
  {
    check: ['npx', 'knip', '--production'],
    fault: 'code kept alive only by a test',
    plant: (at) => {
      appendFileSync(at('src/platform/base/clock.ts'), '\nexport const planted = 1;\n');
      writeFileSync(at('src/platform/base/planted.test.ts'), "import { planted } from './clock.ts';\nvoid planted;\n");
    },
  },
  {
    check: ['node', '.ci/checks/licences.js'],
    fault: 'a dependency under another licence',
    plant: (at) => {
      const lock = JSON.parse(readFileSync(at('package-lock.json'), 'utf8'));
      lock.packages['node_modules/planted'] = { version: '1.0.0', license: 'AGPL-3.0-only' };
      writeFileSync(at('package-lock.json'), JSON.stringify(lock));
    },
  },
  {
    check: ['node', '.ci/checks/generated-files.js'],
    fault: 'a generated file edited by hand',
    plant: (at) => appendFileSync(at('share/config.schema.json'), '\n'),
  },
];

const root = process.cwd();

/**
 * Each attempt has a copy of its own, so several run at the same time. A check that refuses the copy as it is would
 * refuse every fault as well.
 */
const checks = new Map(FAULTS.map(({ check }) => [check.join(' '), check]));
const attempts = [
  ...[...checks].map(([name, check]) => ({ check, mustPass: true, text: `without a fault (${name})` })),
  ...FAULTS.map(({ check, fault, plant }) => ({
    check,
    plant,
    mustPass: false,
    text: `${fault} (${check.join(' ')})`,
  })),
];
let missed = 0;
await Promise.all(Array.from({ length: availableParallelism() }, takeAttempts));
process.exitCode = missed === 0 ? 0 : 1;

async function takeAttempts() {
  for (let attempt = attempts.shift(); attempt !== undefined; attempt = attempts.shift()) {
    const { mustPass, text } = attempt;
    const isAsExpected = (await tryOnCopy(attempt)) === mustPass;
    const outcome = mustPass ? 'passes ' : 'refused';
    process.stdout.write(`${isAsExpected ? outcome : 'MISSED '} ${text}\n`);
    if (!isAsExpected) missed += 1;
  }
}

/** Whether the check passes on a copy of the tree, with the fault planted if there is one. */
async function tryOnCopy({ check, plant }) {
  const copy = mkdtempSync(join(tmpdir(), 'latchkey-planted-'));
  try {
    for (const name of COPIED) cpSync(resolve(root, name), join(copy, name), { recursive: true });
    symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'));
    plant?.((path) => join(copy, path));
    return await passes(check, copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function passes([command, ...args], folder) {
  const child = spawn(command, args, { cwd: folder, stdio: 'ignore' });
  const [status] = await once(child, 'exit');
  if (status === null) throw new Error(`${command} did not end by itself`);
  return status === 0;
}
