/**
 * Runs the import rules and verifies that they were applied: a run that reads fewer modules than there are source files
 * would pass. Also finds import cycles between folders, which can exist without a cycle between files.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';

const TEST = /\.test(-support)?\.tsx?$/;

const sources = ['src', 'web']
  .flatMap((folder) => readdirSync(folder, { recursive: true }))
  .filter((name) => /(?<!\.d)\.tsx?$/.test(name)).length;
const run = spawnSync('npx', ['depcruise', 'src', 'web', '--output-type', 'json'], {
  encoding: 'utf8',
  maxBuffer: 256 * 1024 * 1024,
});
let report;
try {
  report = JSON.parse(run.stdout);
} catch {
  process.stderr.write(`the import rules did not run: ${run.stderr || run.stdout}\n`);
  process.exit(1);
}
const cruised = report.modules.filter((module) => /^(?:src|web)\/.*(?<!\.d)\.tsx?$/.test(module.source));
for (const violation of report.summary.violations) {
  process.stderr.write(`${violation.rule.name}: ${violation.from} -> ${violation.to}\n`);
}
const cycles = folderCycles(cruised);
for (const cycle of cycles) process.stderr.write(`folders import one another: ${cycle.join(', ')}\n`);
process.stdout.write(
  `${cruised.length} of ${sources} source files read, ${report.summary.error} violations, ${cycles.length} cycles of folders\n`,
);
process.exitCode = report.summary.error === 0 && cycles.length === 0 && cruised.length >= sources ? 0 : 1;

/** Returns groups of folders that import one another, including type imports but not tests. */
function folderCycles(modules) {
  const imported = new Map();
  for (const { source, dependencies } of modules) {
    if (TEST.test(source)) continue;
    const from = dirname(source);
    const folders = imported.get(from) ?? new Set();
    imported.set(from, folders);
    for (const { resolved } of dependencies) {
      if (resolved.startsWith('src/') && dirname(resolved) !== from) folders.add(dirname(resolved));
    }
  }
  const reached = new Map([...imported.keys()].map((folder) => [folder, reachedFrom(folder, imported)]));
  const groups = new Map();
  for (const [folder, others] of reached) {
    const group = [...others].filter((other) => reached.get(other)?.has(folder)).toSorted();
    if (group.length > 0) groups.set(group.join(), group);
  }
  return [...groups.values()];
}

function reachedFrom(start, imported) {
  const found = new Set();
  const next = [...(imported.get(start) ?? [])];
  for (const folder of next) {
    if (found.has(folder)) continue;
    found.add(folder);
    next.push(...(imported.get(folder) ?? []));
  }
  return found;
}
