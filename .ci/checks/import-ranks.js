/**
 * Runs the import rules and verifies that they were applied: a run that reads fewer modules than there are source files
 * would pass. Also finds import cycles between folders and between modules, which can exist without a cycle between
 * files: two modules also form a cycle if the imports are in different folders below them. The layout in
 * docs/architecture.md must list exactly the folders of `src`.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TEST = /\.test(-support)?\.tsx?$/;

const sources = ['src', 'web']
  .flatMap((folder) => readdirSync(folder, { recursive: true }))
  .filter((name) => /(?<!\.d)\.tsx?$/.test(name)).length;
// The cache compares the content of all files, and is used only if none changed.
const CACHE = ['--cache', 'node_modules/.cache/dependency-cruiser', '--cache-strategy', 'content'];
const run = spawnSync('npx', ['depcruise', 'src', 'web', ...CACHE, '--output-type', 'json'], {
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
const folderCycles = cyclesOf(cruised, dirname);
const moduleCycles = cyclesOf(cruised, moduleOf);
for (const cycle of folderCycles) process.stderr.write(`folders import one another: ${cycle.join(', ')}\n`);
for (const cycle of moduleCycles) process.stderr.write(`modules import one another: ${cycle.join(', ')}\n`);
const modules = new Set(cruised.map(({ source }) => moduleOf(source)).filter((name) => name.startsWith('src/domain/')));
process.stdout.write(
  `${cruised.length} of ${sources} source files and ${modules.size} modules of the domain read, ` +
    `${report.summary.error} violations, ${folderCycles.length} cycles of folders, ${moduleCycles.length} of modules\n`,
);
const entries = readdirSync('src', { recursive: true, withFileTypes: true });
const folders = new Set([
  'src',
  ...entries.filter((one) => one.isDirectory()).map((one) => join(one.parentPath, one.name)),
]);
const listed = new Set(listedFolders(readFileSync('docs/architecture.md', 'utf8').split('```')[1] ?? ''));
const unlisted = [...folders].filter((folder) => !listed.has(folder));
const absent = [...listed].filter((folder) => !folders.has(folder));
for (const folder of unlisted) process.stderr.write(`docs/architecture.md does not list ${folder}\n`);
for (const folder of absent) process.stderr.write(`docs/architecture.md lists ${folder}, which does not exist\n`);
const problems = [folderCycles, moduleCycles, unlisted, absent].flat();
process.exitCode = report.summary.error > 0 || problems.length > 0 || cruised.length < sources ? 1 : 0;

/** Returns the module of a file: the first folder below `platform`, `domain` or `features`, or below `src`. */
function moduleOf(source) {
  const [module] = /^src\/(?:(?:platform|domain|features)\/)?[^/]+(?=\/)/.exec(source) ?? [dirname(source)];
  return module;
}

/**
 * Reads the folders of `src` from the layout, which is indented by two spaces. A line starts with folders; the folders
 * in its description are below the first of them.
 */
function listedFolders(layout) {
  const found = [];
  const path = [];
  for (const line of layout.split('\n').filter((one) => one.trim() !== '')) {
    const depth = line.search(/\S/) / 2;
    const [start, description] = line.trim().split(/ {2,}(.*)/);
    const names = [...start.matchAll(/([\w-]+)\//g)].map(([, name]) => name);
    path.splice(depth, path.length, names[0]);
    if (path[0] !== 'src') continue;
    const parent = path.slice(0, depth).join('/');
    found.push(...names.map((name) => (parent === '' ? name : `${parent}/${name}`)));
    const below = [...(description ?? '').matchAll(/([\w-]+)\/(?=[ ,;:)]|$)/g)];
    found.push(...below.map(([, name]) => `${path.join('/')}/${name}`));
  }
  return found;
}

/**
 * Returns groups that import one another, including type imports but not tests.
 * @param groupOf returns the group of a file: its folder or its module
 */
function cyclesOf(files, groupOf) {
  const imported = new Map();
  for (const { source, dependencies } of files) {
    if (TEST.test(source)) continue;
    const from = groupOf(source);
    const groups = imported.get(from) ?? new Set();
    imported.set(from, groups);
    for (const { resolved } of dependencies) {
      if (resolved.startsWith('src/') && groupOf(resolved) !== from) groups.add(groupOf(resolved));
    }
  }
  const reached = new Map([...imported.keys()].map((group) => [group, reachedFrom(group, imported)]));
  const cycles = new Map();
  for (const [group, others] of reached) {
    const cycle = [...others].filter((other) => reached.get(other)?.has(group)).toSorted();
    if (cycle.length > 0) cycles.set(cycle.join(), cycle);
  }
  return [...cycles.values()];
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
