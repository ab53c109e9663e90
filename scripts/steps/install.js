import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from './child.js';
import { root, workshop } from './places.js';
import { say } from './say.js';

const modules = join(root, 'node_modules');
const stampFile = join(modules, '.latchkey.json');
const lockfile = join(root, 'package-lock.json');
/** Errors if the folder cannot be renamed because it is a mount point. */
const NOT_RENAMABLE = new Set(['EXDEV', 'EBUSY', 'EPERM', 'EINVAL']);

/**
 * Returns true if the packages of the lockfile are installed.
 * @param options `withTools`: also packages that only tests and checks need
 */
export function isInstalled({ withTools }) {
  const stamp = readJson(stampFile);
  if (stamp?.digest === digest()) return stamp.withTools || !withTools;
  return matchesLockfile(withTools);
}

/**
 * Installs exactly the packages of the lockfile, into a new folder that is then renamed. A kill therefore leaves no
 * partial installation, and a process still running on the old folder keeps its files. Install scripts do not run.
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
  // Set if npm runs this script: use the same npm, even if it is not on the PATH.
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

/** For folders created by `npm ci` or `npm install` directly: npm keeps a list of installed packages. */
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

/**
 * Returns the dependencies of these packages. npm omits optional packages that only packages of other platforms need.
 */
function namesNeeded(packages) {
  return new Set(
    packages.flatMap(([, { dependencies, optionalDependencies, devDependencies }]) =>
      [dependencies, optionalDependencies, devDependencies].flatMap((list) => Object.keys(list ?? {})),
    ),
  );
}

function fitsHere({ os, cpu, libc }) {
  const fits = (list, value) => list === undefined || list.includes(value);
  if (!fits(os, process.platform) || !fits(cpu, process.arch)) return false;
  // A report takes many milliseconds.
  return libc === undefined || fits(libc, isGlibc() ? 'glibc' : 'musl');
}

function isGlibc() {
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
