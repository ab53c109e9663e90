/** Generates the parts of `docs/trust.md` that repeat other lists of the repository. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { summaryOf } from '../../bench/summary.js';
import { ATTACKS, FAULTS } from '../../test/attacks/attack-list.ts';
import { FAULT_ROWS } from './attack-tests.ts';
import { dependencyTable } from './dependencies.ts';
import { fillPart, table } from './markdown.ts';

const SECTION = /^### 4\.\d+ (.*)$/;
const ROW = /^\| S-(\d+)/;

/** @param page the page with its markers; @param runs whole runs of the benchmark, oldest first */
export function filledTrustPage(root: string, page: string, runs: readonly object[]): string {
  const parts = {
    attacks: attackTable(root),
    faults: faultTable(root),
    ratios: ratioTable(runs),
    dependencies: dependencyTable(root),
    threats: threatTable(root),
  };
  return Object.entries(parts).reduce((filled, [name, text]) => fillPart(filled, name, text), page);
}

/** Counts the attacks of each section of the specification. */
function attackTable(root: string): string {
  const groups: { title: string; numbers: number[] }[] = [];
  for (const line of readFileSync(join(root, 'docs/specification/security.md'), 'utf8').split('\n')) {
    const [, title] = SECTION.exec(line) ?? [];
    if (title !== undefined) groups.push({ title, numbers: [] });
    const [, number] = ROW.exec(line) ?? [];
    if (number !== undefined) groups.at(-1)?.numbers.push(Number(number));
  }
  const tested = new Map(ATTACKS.map(([number, , lacking]) => [number, lacking === undefined]));
  const rows = groups
    .map(({ title, numbers }) => ({ title, known: numbers.filter((number) => tested.has(number)) }))
    .filter(({ known }) => known.length > 0)
    .map(({ title, known }) => {
      const complete = known.filter((number) => tested.get(number) === true).length;
      return [title, `${known.length}`, complete === known.length ? 'all' : `${complete}`];
    });
  const counted = rows.reduce((sum, [, count]) => sum + Number(count), 0);
  if (counted !== ATTACKS.length) throw new Error(`the sections list ${counted} of ${ATTACKS.length} attacks`);
  return table(
    ['Attacks', 'Number', 'With a test'],
    [...rows, ['total', `${counted}`, '[list](assurance/attack-tests.md)']],
  );
}

/** Lists the faults in two columns: those under load, and those of tests alone. */
function faultTable(root: string): string {
  const underLoad = new Set(readdirSync(join(root, FAULT_ROWS)).map((file) => Number(/^f-(\d+)/.exec(file)?.[1])));
  const list = (isUnderLoad: boolean): string =>
    FAULTS.filter(([number]) => underLoad.has(number) === isUnderLoad)
      .map(([, fault]) => fault)
      .join('; ');
  return table(
    ['How', 'Faults'],
    [
      ['while users and apps use several instances', list(true)],
      ['in tests', list(false)],
    ],
  );
}

/** Takes the columns that are ratios from the newest run. */
function ratioTable(runs: readonly object[]): string {
  const newest = runs.at(-1);
  if (newest === undefined) throw new Error('bench/results has no whole run');
  const [head = [], ...rows] = summaryOf(newest).requests;
  const columns = head.map((name, index) => ({ name, index })).filter(({ name }) => /^Request$| against /.test(name));
  const of = (row: readonly string[]): string[] => columns.map(({ index }) => row[index] ?? '');
  return table(of(head), rows.map(of));
}

/** Repeats the table of the security policy. */
function threatTable(root: string): string {
  const [, after = ''] = readFileSync(join(root, 'SECURITY.md'), 'utf8').split('## Threat model\n\n');
  const [found = ''] = after.split('\n\n');
  if (!found.startsWith('| Threat |')) throw new Error('SECURITY.md has no table of threats');
  return found;
}
