/**
 * Removes each protection in `protections/` individually from a copy of the tree, and expects the named test to fail. A
 * test that still passes does not prove the protection.
 *
 *     node test/attacks/mutations.js [--parallel=2] [NAME...]
 *
 * Without names, it runs the whole list. It prints a table and exits with code 1 in three cases: a test does not detect
 * a removal, a test fails without any change, or a text to remove is not in the source exactly once.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Excluded from the copy. */
const LEFT_OUT = new Set(['.git', '.latchkey', 'dist', 'node_modules']);
const MAX_RUN_MS = 600_000;

const { PROTECTIONS, labelOf, placeOf, readSource } = await importList();
const { positionals, values } = parseArgs({ allowPositionals: true, options: { parallel: { type: 'string' } } });
const chosen = choose(positionals);
const copies = Number(values.parallel ?? Math.min(2, availableParallelism()));
const folder = mkdtempSync(join(tmpdir(), 'latchkey-mutations-'));
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const child of running) process.kill(-child.pid, 'SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main() {
  const whole = readSource(root);
  const misplaced = chosen.flatMap(({ name, removals }) =>
    removals
      .map(({ text }) => placeOf(whole, text).problem)
      .flatMap((problem) => (problem ? [`${name}: ${problem}`] : [])),
  );
  if (misplaced.length > 0) {
    process.stderr.write(`${misplaced.join('\n')}\n`);
    return false;
  }
  const slots = Array.from({ length: Math.min(copies, chosen.length) }, (_, index) => makeCopy(index));
  const sound = await untouched(slots[0]);
  const outcomes = new Map();
  const queue = [...chosen];
  await Promise.all(
    slots.map(async (copy) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const outcome = sound.has(next.name) ? await without(copy, next) : 'FAILS WITHOUT A CHANGE';
        outcomes.set(next.name, outcome);
        process.stderr.write(`${next.name}: ${outcome}\n`);
      }
    }),
  );
  const rows = chosen.map(({ name, attack, test }) => [name, labelOf(attack), test, outcomes.get(name)]);
  printTable([['protection', 'attack', 'test', 'taken out'], ...rows]);
  const noticed = rows.filter((row) => row[3] === 'noticed').length;
  process.stdout.write(`${noticed} of ${rows.length} noticed\n`);
  return noticed === rows.length;
}

/** Returns the names of the protections whose tests pass in the unchanged tree. */
async function untouched(copy) {
  if (chosen.some(({ isBuilt }) => isBuilt === true)) await buildProgram(copy);
  const files = [...new Set(chosen.map(({ test }) => test))];
  const results = await runTests(copy, files, [...new Set(chosen.map(({ testName }) => testName))]);
  const sound = chosen.filter(({ test, testName }) => {
    const own = results.filter((result) => result.file === test && result.name.includes(testName));
    return own.length > 0 && own.every(({ status }) => status === 'passed');
  });
  return new Set(sound.map(({ name }) => name));
}

/** Runs the test of a protection in a copy without it. */
async function without(copy, { removals, test, testName, isBuilt }) {
  const originals = new Map();
  try {
    for (const { text, instead = '' } of removals) {
      const path = join(copy, placeOf(readSource(copy), text).file);
      const source = readFileSync(path, 'utf8');
      if (!originals.has(path)) originals.set(path, source);
      writeFileSync(
        path,
        source.replace(text, () => instead),
      );
    }
    if (isBuilt === true) await buildProgram(copy);
    const results = await runTests(copy, [test], [testName]);
    if (results.length === 0) return 'NOTHING RAN';
    return results.some(({ status }) => status === 'failed') ? 'noticed' : 'NOT NOTICED';
  } finally {
    for (const [path, source] of originals) writeFileSync(path, source);
  }
}

/** @returns the tests that ran, none if the tree does not load */
async function runTests(copy, files, names) {
  const report = join(folder, `${basename(copy)}.json`);
  rmSync(report, { force: true });
  const pattern = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const options = ['--maxWorkers=1', '--reporter=json', `--outputFile.json=${report}`];
  await runNode(copy, [vitest, 'run', ...files, '-t', pattern, ...options]);
  const { testResults } = readReport(report);
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map((result) => ({ file: name.slice(copy.length + 1), name: result.fullName, status: result.status })),
  );
}

async function buildProgram(copy) {
  await runNode(copy, ['scripts/build-here.js']);
}

async function runNode(copy, args) {
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: 'ignore',
    // A separate process group, so that the test's database stops with it.
    detached: true,
  });
  running.add(child);
  const deadline = setTimeout(() => process.kill(-child.pid, 'SIGTERM'), MAX_RUN_MS);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(deadline);
  running.delete(child);
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { testResults: [] };
  }
}

function makeCopy(index) {
  const copy = join(folder, `copy-${index}`);
  cpSync(root, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function choose(names) {
  const unknown = names.filter((name) => !PROTECTIONS.some((protection) => protection.name === name));
  if (unknown.length > 0) throw new Error(`no such protection: ${unknown.join(', ')}`);
  return names.length === 0 ? PROTECTIONS : PROTECTIONS.filter(({ name }) => names.includes(name));
}

function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

/** The list is TypeScript, which Node.js 20 does not load. */
async function importList() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['test/attacks/protections/index.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
