/**
 * Generates `docs/assurance/README.md`: what is tested, and how much of it. Every number and name is read from the
 * lists and programs that perform the tests.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS } from '../../test/acceptance/checks.ts';
import { ATTACKS, FAULTS } from '../../test/attacks/attack-list.ts';
import { PROTECTIONS } from '../../test/attacks/protections/index.ts';
import { FAULT_ROWS } from './attack-tests.ts';
import { table } from './markdown.ts';

/** Programs that tests use unmodified, and the file that runs or names each. */
const REAL_PROGRAMS: readonly (readonly [purpose: string, programs: readonly string[], file: string])[] = [
  ['client libraries', ['openid-client', 'oauth4webapi', 'matrix-js-sdk'], 'package.json'],
  ['chat client', ['matrix-nio'], '.ci/synapse.sh'],
  ['homeserver', ['Synapse'], '.ci/synapse.sh'],
  ['browser', ['Chromium'], 'tools/browser/chromium.js'],
  ['reverse proxies', ['nginx', 'Caddy'], '.ci/proxies.sh'],
  ['database cluster', ['Patroni', 'etcd', 'PgBouncer'], 'tools/cluster/programs.js'],
  ['API fuzzer', ['Schemathesis'], '.ci/schemathesis.sh'],
];

/** Returns the page for the tests below a root directory. */
export function assurancePage(root: string): string {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const clauses = CHECKS.flatMap((check) => check.clauses);
  const underLoad = readdirSync(join(root, FAULT_ROWS)).length;
  const faultsIn = (file: string): number => namesIn(read(file), /\b(F-\d{2})\b/g).length;
  const journeys = namesIn(read('tools/browser/run.js'), /^ {2}\{ name: '(\w+)'/gm);
  const misconfigured = namesIn(read('tools/apps/misconfigured.js'), /^ {2}withMistake\(\s*'([\w-]+)'/gm);
  const sequences = readdirSync(join(root, 'test/homeserver/sequences')).map((file) =>
    read(`test/homeserver/sequences/${file}`),
  );
  const crossing = readdirSync(join(root, 'test/journeys')).filter((file) => file.endsWith('.test.ts'));
  const rows = [
    [
      '[Attacks](attack-tests.md)',
      `${ATTACKS.length} attacks of the security specification`,
      covered(ATTACKS.filter(([, , lacking]) => lacking !== undefined).length, 'every attack has a test'),
      '`npm test`',
    ],
    [
      '[Mutations](mutation-tests.md)',
      `${PROTECTIONS.length} protections, removed one at a time from a copy of the source`,
      'a named test fails without the protection. `npm test` checks that each protection and its test exist',
      '`node test/attacks/mutations.js`',
    ],
    [
      '[Faults](faults.md)',
      `${FAULTS.length} faults of the security specification, ${underLoad} of them under load`,
      covered(FAULTS.filter(([, , lacking]) => lacking !== undefined).length, 'every fault has a test'),
      '`npm test`, `npm run --prefix tools faults`',
    ],
    [
      '[Acceptance checks](acceptance-checks.md)',
      `${CHECKS.length} operational requirements in ${clauses.length} clauses`,
      covered(clauses.filter(({ missing }) => missing !== undefined).length, 'every clause has a proof'),
      '`npm test`, and the programs listed there',
    ],
    [
      'Journeys',
      `${journeys.length} in Chromium, ${crossing.length} with HTTP clients, ${new Set(namesIn(sequences.join(), /^ {4}id: '(I-\d+)'/gm)).size} sequences of chat clients`,
      'a journey fails if a step, an accessibility rule or an expected log line does',
      '`npm run --prefix tools journey`, `npm test`',
    ],
  ];
  return `# Assurance

What we try against Latchkey, what must hold, and how to repeat it: for readers who decide whether to trust it. All of it
is scripted. \`node scripts/generate-reference.js\` writes this page from the lists that the tests use. \`npm test\` fails
if a list names a test that does not exist.

${table(['What', 'How much', 'What must hold', 'Run'], rows)}

- \`.ci/run\` runs all tests, the journeys, most applications and ${faultsIn('.ci/run')} faults under load. It fails if one of them fails.
- \`.ci/nightly\` runs the other ${faultsIn('.ci/nightly')} faults under load and the applications that are built first.
- Mutations run by hand, about ten seconds each.

## Applications and programs

The applications are unmodified and configured as in their manuals. Users sign in to them in Chromium, or programs call
them with tokens. Each must show the right user. ${misconfigured.length} more runs have a wrong setting: the application
or the log must show what is wrong.

${table(
  ['Kind', 'Tested with'],
  [
    ['applications', applications(read).join(', ')],
    ...REAL_PROGRAMS.map(([purpose, programs, file]) => {
      const absent = programs.filter((name) => !read(file).toLowerCase().includes(name.toLowerCase()));
      if (absent.length > 0) throw new Error(`${file} does not name ${absent.join(', ')}`);
      return [purpose, programs.join(', ')];
    }),
  ],
)}

## What is missing

- ${namesIn(read('CHANGELOG.md'), /^- (Not certified by the OpenID Foundation\.)$/gm).join()} There are
  [settings](../guides/fapi2-and-certification.md) for these plans of its certification suite:
  ${certificationPlans(read).join(', ')}.
- No independent audit. All of these tests are our own.
- [Features](../features.md) lists what Latchkey does not do, the [security policy](../../SECURITY.md) what is out of
  scope, and the [changelog](../../CHANGELOG.md) the known gaps.
`;
}

function covered(lacking: number, all: string): string {
  return lacking === 0 ? all : `${all}, except ${lacking} that lack a part`;
}

/** Returns the names of the applications in `tools/apps`. */
function applications(read: (file: string) => string): readonly string[] {
  const lists = ['applications', 'slow-applications'].map((name) => read(`tools/apps/${name}.js`));
  return lists.flatMap((list) => namesIn(list, /^ {4}name: ['`]([^'`]+?)(?: with \$\{\w+\})?['`],$/gm));
}

/** Returns the first column of the plans in the guide. */
function certificationPlans(read: (file: string) => string): readonly string[] {
  const [, plans = ''] = read('docs/guides/fapi2-and-certification.md').split('\n| Plan | ');
  return namesIn(plans, /^\| ([^|]+?) \|/gm);
}

/** @throws Error if there are none, because the file has changed its form */
function namesIn(text: string, form: RegExp): readonly string[] {
  const names = [...text.matchAll(form)].map(([, name = '']) => name);
  if (names.length === 0) throw new Error(`found nothing like ${form}`);
  return names;
}
