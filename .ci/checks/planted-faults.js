/**
 * Tests the checks: each one must fail on a copy of the tree with planted faults, and report each of them. Its output
 * must name the faults, because the checks themselves already passed on the unmodified tree.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const COPIED = [
  'src',
  'web',
  'test',
  'scripts',
  'bench',
  'tools',
  'bin',
  'share',
  'docs',
  'locales',
  'migrations',
  '.ci',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'biome.json',
  'knip.json',
  'vitest.config.ts',
  'vitest.unit.config.ts',
  '.oxlintrc.json',
  '.dependency-cruiser.cjs',
  '.gitignore',
];

const FAULTS = [
  {
    check: ['node', 'node_modules/typescript-native/bin/tsc', '-p', '.', '--noEmit'],
    fault: 'a wrong type',
    says: /clock\.ts\(\d+,\d+\): error TS2322/,
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), '\nexport const planted: number = "text";\n'),
  },
  {
    check: ['node', 'node_modules/typescript-native/bin/tsc', '-p', 'web', '--noEmit'],
    fault: 'a wrong type in the browser',
    says: /routes\.ts\(\d+,\d+\): error TS2322/,
    plant: (at) => appendFileSync(at('web/routes.ts'), '\nexport const planted: number = ROUTES;\n'),
  },
  {
    check: ['npx', 'biome', 'ci', '--colors=off', '.'],
    fault: 'an unformatted line',
    says: /clock\.ts format/,
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), '\nexport   const planted="text"\n'),
  },
  {
    check: ['npx', 'biome', 'ci', '--colors=off', '.'],
    fault: 'a call to the console',
    says: /clock\.ts:\d+:\d+ lint\S*noConsole/,
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), "\nconsole.log('planted');\n"),
  },
  {
    check: ['npx', 'oxlint', '--type-aware', 'src', 'test', 'web'],
    fault: 'a promise nobody awaits',
    says: /no-floating-promises/,
    plant: (at) =>
      appendFileSync(
        at('src/platform/base/clock.ts'),
        '\nexport function planted(work: () => Promise<void>): void {\n  work();\n}\n',
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an import of a higher rank',
    says: /base-imports: \S+clock\.ts -> \S+statement\.ts/,
    plant: (at) =>
      appendFileSync(
        at('src/platform/base/clock.ts'),
        "\nexport { statement } from '#platform/postgres/statement.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a type of a higher rank',
    says: /base-imports: \S+ids\.ts -> \S+statement\.ts/,
    plant: (at) =>
      appendFileSync(
        at('src/platform/base/ids.ts'),
        "\nexport type { Statement } from '#platform/postgres/statement.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a vocabulary that imports a mechanism of the platform',
    says: /vocabulary-knows-no-mechanism: \S+ids\.ts -> \S+statement\.ts/,
    plant: (at) =>
      appendFileSync(
        at('src/vocabulary/ids.ts'),
        "\nexport type { Statement } from '#platform/postgres/statement.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an application in the browser that imports the server',
    says: /web-imports: web\/routes\.ts/,
    plant: (at) =>
      appendFileSync(at('web/routes.ts'), "\nexport { epochSeconds } from '../src/platform/base/clock.ts';\n"),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a feature that imports another',
    says: /no-feature-to-feature: \S+discovery\/routes\.ts/,
    plant: (at) =>
      appendFileSync(
        at('src/features/discovery/routes.ts'),
        "\nexport { mount as planted } from '../token/routes.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'two folders that import each other, by files that do not',
    says: /import one another: src\/domain\/audit, src\/domain\/limits/,
    plant: (at) => {
      writeFileSync(at('src/domain/audit/planted.ts'), "export { rateLimits } from '#domain/limits/planted.ts';\n");
      writeFileSync(at('src/domain/limits/planted.ts'), 'export const rateLimits = 1;\n');
      writeFileSync(at('src/domain/limits/other.ts'), "export { audit } from '#domain/audit/other.ts';\n");
      writeFileSync(at('src/domain/audit/other.ts'), 'export const audit = 1;\n');
    },
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'two modules that import each other, by folders that do not',
    says: /modules import one another: src\/domain\/planted-one, src\/domain\/planted-two/,
    plant: (at) => {
      for (const folder of ['one/deeper', 'two/deeper'])
        mkdirSync(at(`src/domain/planted-${folder}`), { recursive: true });
      writeFileSync(at('src/domain/planted-one/first.ts'), "export { first } from '#domain/planted-two/first.ts';\n");
      writeFileSync(at('src/domain/planted-two/first.ts'), 'export const first = 1;\n');
      writeFileSync(
        at('src/domain/planted-two/deeper/second.ts'),
        "export { second } from '#domain/planted-one/deeper/second.ts';\n",
      );
      writeFileSync(at('src/domain/planted-one/deeper/second.ts'), 'export const second = 1;\n');
    },
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a folder that the architecture does not list',
    says: /architecture\.md does not list src\/domain\/unlisted/,
    plant: (at) => {
      mkdirSync(at('src/domain/unlisted'));
      writeFileSync(at('src/domain/unlisted/planted.ts'), 'export const planted = 1;\n');
    },
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'a record that imports another module of the domain',
    says: /records-imports: \S+user\.ts -> \S+audit-event\.ts/,
    plant: (at) =>
      appendFileSync(
        at('src/domain/records/user.ts'),
        "\nexport type { AuditActor } from '#domain/audit/audit-event.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/import-ranks.js'],
    fault: 'an import between two modules of the platform',
    says: /stand-alone: \S+schemes\.ts/,
    plant: (at) =>
      appendFileSync(
        at('src/platform/password-hash/schemes.ts'),
        "\nexport type { HttpLimits } from '#platform/http/http-options.ts';\n",
      ),
  },
  {
    check: ['node', 'scripts/unit.js', 'src/domain/clients/subjects.test.ts'],
    fault: 'a test that starts a database, run without one',
    says: /the selected tests need a database: src\/domain\/clients\/subjects\.test\.ts\. Run: npm test --/,
    plant: (at) =>
      appendFileSync(
        at('src/domain/clients/subjects.test.ts'),
        "\nexport { createTestDatabase } from '#test/support/database.ts';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/table-owners.js'],
    fault: 'a statement that changes the table of another module',
    says: /audit-event\.ts:\d+: changes user_emails/,
    plant: (at) =>
      appendFileSync(
        at('src/domain/audit/audit-event.ts'),
        "\nexport const planted = 'with gone as (delete from user_emails where id = :id::uuid) select 1';\n",
      ),
  },
  {
    check: ['node', '.ci/checks/table-owners.js'],
    fault: 'a feature that changes a table',
    says: /discovery\/routes\.ts:\d+: changes users/,
    plant: (at) =>
      appendFileSync(
        at('src/features/discovery/routes.ts'),
        '\nexport const planted = `\n  update users u\n     set locked_at = :now::timestamptz`;\n',
      ),
  },
  {
    check: ['node', '.ci/checks/migration-locks.js'],
    fault: 'a migration that reads a whole table while nobody can write',
    says: /9999-planted\.sql: builds an index/,
    plant: (at) =>
      writeFileSync(at('migrations/9999-planted.sql'), '-- expand\ncreate index planted on users (created_at);\n'),
  },
  {
    check: ['node', '.ci/checks/typed-source.js', 'awaits'],
    fault: 'a file read that is awaited without `outside`',
    says: /discovery\/routes\.ts:\d+: readFile/,
    plant: (at) =>
      appendFileSync(
        at('src/features/discovery/routes.ts'),
        "\nimport { readFile } from 'node:fs/promises';\nexport const planted = async () => await readFile('x');\n",
      ),
  },
  {
    check: ['node', '.ci/checks/banned-calls.js'],
    fault: 'a clock read',
    says: /ids\.ts:\d+: export const planted/,
    plant: (at) => appendFileSync(at('src/platform/base/ids.ts'), '\nexport const planted = Date.now();\n'),
  },
  {
    check: ['npx', 'knip'],
    fault: 'an export nobody uses',
    says: /planted +src\/platform\/base\/clock\.ts/,
    plant: (at) => appendFileSync(at('src/platform/base/clock.ts'), '\nexport const planted = 1;\n'),
  },
  {
    check: ['npx', 'knip', '--production'],
    fault: 'code kept alive only by a test',
    says: /planted +src\/platform\/base\/clock\.ts/,
    plant: (at) => {
      appendFileSync(at('src/platform/base/clock.ts'), '\nexport const planted = 1;\n');
      writeFileSync(at('src/platform/base/planted.test.ts'), "import { planted } from './clock.ts';\nvoid planted;\n");
    },
  },
  {
    check: ['node', '.ci/checks/licences.js'],
    fault: 'a dependency under another licence',
    says: /not allowed: planted: AGPL-3\.0-only/,
    plant: (at) => {
      const lock = JSON.parse(readFileSync(at('package-lock.json'), 'utf8'));
      lock.packages['node_modules/planted'] = { version: '1.0.0', license: 'AGPL-3.0-only' };
      writeFileSync(at('package-lock.json'), JSON.stringify(lock));
    },
  },
  {
    check: ['node', '.ci/checks/citations.js'],
    fault: 'a citation of a section that does not exist',
    says: /clock\.ts:\d+: operations has no section 99\.1/,
    plant: (at) =>
      appendFileSync(at('src/platform/base/clock.ts'), '\n/** As specified (operations 5.4,\n * 99.1). */\n'),
  },
  {
    check: ['node', '.ci/checks/citations.js'],
    fault: 'a citation of a row that does not exist',
    says: /ids\.ts:\d+: oauth 6\.3 has no row 99/,
    plant: (at) => appendFileSync(at('src/platform/base/ids.ts'), '\n/** Step 99 of oauth 6.3. */\n'),
  },
  {
    check: ['node', '.ci/checks/citations.js'],
    fault: 'a test of an attack that does not exist',
    says: /clean-up\.ts:\d+: no row S-999/,
    plant: (at) => appendFileSync(at('test/support/clean-up.ts'), "\nconst planted = 'withstands S-999';\n"),
  },
  {
    check: ['node', '.ci/checks/citations.js'],
    fault: 'a citation of a decision that does not exist',
    says: /README\.md:\d+: no decision 9999-/,
    plant: (at) => appendFileSync(at('docs/README.md'), '\nSee decision 9999.\n'),
  },
  {
    check: ['node', '.ci/checks/citations.js'],
    fault: 'a section number without its document',
    says: /spans\.ts:\d+: write the document and the number/,
    plant: (at) => appendFileSync(at('src/platform/base/spans.ts'), '\n/** As specified (5.4). */\n'),
  },
  {
    check: ['node', '.ci/checks/citations.js'],
    fault: 'a document of the specification that cites a section that does not exist',
    says: /specification\/oauth\.md:\d+: security has no section 99/,
    plant: (at) => appendFileSync(at('docs/specification/oauth.md'), '\nSee [`security.md`](security.md) 99.\n'),
  },
  {
    check: ['node', '.ci/checks/plain-english.js'],
    fault: 'a guide in odd phrases',
    says: /manual: "told" \d+/,
    plant: (at) => appendFileSync(at('docs/README.md'), `\n${'Users are told of it. '.repeat(500)}\n`),
  },
  {
    check: ['node', '.ci/checks/plain-english.js'],
    fault: 'comments in odd phrases',
    says: /comments: "by which" \d+/,
    plant: (at) =>
      appendFileSync(at('src/platform/base/clock.ts'), `\n/* ${'The way by which it works. '.repeat(1000)}*/\n`),
  },
  {
    check: ['node', '.ci/checks/typed-source.js', 'generated'],
    fault: 'a generated file edited by hand',
    says: /config\.schema\.json differs/,
    plant: (at) => appendFileSync(at('share/config.schema.json'), '\n'),
  },
  {
    check: ['node', '.ci/checks/typed-source.js', 'generated'],
    fault: 'a benchmark result that is not in the plot',
    says: /plot\.svg differs/,
    plant: (at) => {
      const result = at('bench/results/2026-11-22T2147-98f64d2b8dab.json');
      writeFileSync(result, readFileSync(result, 'utf8').replace('"measuredAt": "2026', '"measuredAt": "2100'));
    },
  },
];

const root = process.cwd();

/** Checks that take long on a copy of the tree. `--quick` leaves their faults out; `.ci/nightly` plants them all. */
const SLOW_CHECK = /^npx |\/tsc |typed-source/;
const wanted = process.argv.includes('--quick') ? FAULTS.filter((fault) => !SLOW_CHECK.test(nameOf(fault))) : FAULTS;

/** All faults of a check are planted in one copy, and it must report each. */
const names = new Set(wanted.map(nameOf));
const attempts = [...names].map((name) => FAULTS.filter((fault) => nameOf(fault) === name));
let missed = 0;
await Promise.all(Array.from({ length: availableParallelism() }, takeAttempts));
process.exitCode = missed === 0 ? 0 : 1;

async function takeAttempts() {
  for (let faults = attempts.shift(); faults !== undefined; faults = attempts.shift()) {
    const { status, output } = await tryOnCopy(faults);
    for (const planted of faults) {
      const { fault, says } = planted;
      const isRefused = status !== 0 && says.test(output);
      process.stdout.write(`${isRefused ? 'refused' : 'MISSED '} ${fault} (${nameOf(planted)})\n`);
      if (isRefused) continue;
      missed += 1;
      process.stdout.write(`  status ${status}, and nothing of ${says} in:\n${output.slice(-4_000)}\n`);
    }
  }
}

function nameOf({ check }) {
  return check.join(' ');
}

function isOwn(path) {
  return !path.includes('/node_modules');
}

/** Returns the output of a check on a copy of the tree with its faults planted. */
async function tryOnCopy(faults) {
  const copy = mkdtempSync(join(tmpdir(), 'latchkey-planted-'));
  try {
    for (const name of COPIED) cpSync(resolve(root, name), join(copy, name), { recursive: true, filter: isOwn });
    symlinkSync(resolve(root, 'node_modules'), join(copy, 'node_modules'));
    for (const { plant } of faults) plant((path) => join(copy, path));
    return await outcomeOf(faults[0].check, copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function outcomeOf([command, ...args], folder) {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  child.stderr.on('data', (bytes) => {
    output += bytes;
  });
  const [status] = await once(child, 'close');
  if (status === null) throw new Error(`${command} did not end by itself`);
  return { status, output };
}
