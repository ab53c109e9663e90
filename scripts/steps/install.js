import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from './child.js';
import { root, workshop } from './places.js';
import { say } from './say.js';

const modules = join(root, 'node_modules');
const stampFile = join(modules, '.latchkey.json');
const lockfile = join(root, 'package-lock.json');
/** Where the folder cannot be renamed, because it is a mount point of its own. */
const NOT_RENAMABLE = new Set(['EXDEV', 'EBUSY', 'EPERM', 'EINVAL']);

/** Whether what the lockfile names is there; `withTools`: also what only tests and checks need. */
export function isInstalled({ withTools }) {
  const stamp = readJson(stampFile);
  if (stamp?.digest === digest()) return stamp.withTools || !withTools;
  return matchesLockfile(withTools);
}

/**
 * Installs exactly what the lockfile names, into a new folder that is renamed: a kill leaves nothing half-installed,
 * and a process that still runs on the old folder is not robbed of its files one by one. No install scripts are run.
 */
export async function install({ withTools }) {
  say(`installing dependencies (npm ci${withTools ? '' : ' --omit=dev'})`);
  const place = join(workshop, `install-${process.pid}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    if (existsSync(join(root, name))) copyFileSync(join(root, name), join(place, name));
  }
  try {
    await npmCi(place, withTools);
    writeStamp(join(place, 'node_modules'), withTools);
    await swap(join(place, 'node_modules'), withTools);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function swap(installed, withTools) {
  const old = join(workshop, `old-modules-${process.pid}`);
  try {
    if (existsSync(modules)) renameSync(modules, old);
  } catch (error) {
    if (!NOT_RENAMABLE.has(error.code)) throw error;
    await npmCi(root, withTools);
    writeStamp(modules, withTools);
    return;
  }
  renameSync(installed, modules);
  rmSync(old, { recursive: true, force: true });
}

function npmCi(folder, withTools) {
  const args = ['ci', withTools ? '--include=dev' : '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  // Set when npm runs this script: then the same npm, whether or not it is on the PATH.
  const npm = process.env.npm_execpath;
  const [program, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  return runToEnd('npm ci', program, [...first, ...args], folder);
}

function writeStamp(folder, withTools) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.latchkey.json'), `${JSON.stringify({ digest: digest(), withTools })}\n`);
}

function digest() {
  return createHash('sha256')
    .update(readFileSync(lockfile))
    .update(process.platform)
    .update(process.arch)
    .digest('hex');
}

/** For folders that `npm ci` or `npm install` made without us: npm keeps a list of what it put there. */
function matchesLockfile(withTools) {
  const wanted = readJson(lockfile)?.packages ?? {};
  const present = readJson(join(modules, '.package-lock.json'))?.packages;
  if (present === undefined) return false;
  const needed = namesNeeded(Object.entries(wanted).filter(([path]) => path === '' || path in present));
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || (entry.dev === true && !withTools)) return true;
    if (present[path] !== undefined) return present[path].version === entry.version;
    const isOptional = entry.optional === true || entry.devOptional === true;
    return isOptional && (!fitsHere(entry) || !needed.has(path.slice(path.lastIndexOf('node_modules/') + 13)));
  });
}

/** What these packages ask for. npm leaves out optional packages that only packages of other platforms ask for. */
function namesNeeded(packages) {
  return new Set(
    packages.flatMap(([, { dependencies, optionalDependencies, devDependencies }]) =>
      [dependencies, optionalDependencies, devDependencies].flatMap((list) => Object.keys(list ?? {})),
    ),
  );
}

function fitsHere({ os, cpu, libc }) {
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  const fits = (list, value) => list === undefined || list.includes(value);
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, isGlibc ? 'glibc' : 'musl');
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
