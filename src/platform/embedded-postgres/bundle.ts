import { chmod, copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno, lstatIfThere, readIfThere, symlinkUnlessThere } from './file-system.ts';

/** Parts of the delivered PostgreSQL that serve to compile programs against it. */
const NOT_NEEDED = /\.a$|^pgxs$|^pkgconfig$|^include$/;
const COPIES = /^postgres-/;

/**
 * Completes the library links that the package's install script would have made (npm may not run it): in place, or in
 * a directory of ours when the package is read-only.
 * @param bundle the package's `native` directory
 * @returns the directory of ours, to be searched first, if one was needed
 */
export async function linkLibraries(bundle: string, ownDirectory: () => Promise<string>): Promise<string | undefined> {
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
  return own;
}

/**
 * Hard-linked, or copied where that cannot be, below `directory`; copies of other versions are removed. Its name holds
 * the version: programs of one version do not work with the shared files of another.
 */
export async function copyBundle(bundle: string, directory: string): Promise<string> {
  const name = `postgres-${await bundleVersion(bundle)}`;
  const copy = join(directory, name);
  if ((await lstatIfThere(copy)) !== undefined) return copy;
  for (const entry of await readdir(directory)) {
    if (COPIES.test(entry)) await rm(join(directory, entry), { recursive: true, force: true });
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
  // A link shares the file's mode, so one that others may not read has to be copied.
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
  // Paths are written relative to the package, whose directory `native` is.
  const inBundle = (path: string): string => resolve(bundle, relative('native', path));
  return (Array.isArray(list) ? list : [])
    .filter(isLibraryLink)
    .map(({ source, target }) => ({ source: inBundle(source), target: inBundle(target) }));
}

function isLibraryLink(entry: unknown): entry is LibraryLink {
  if (typeof entry !== 'object' || entry === null || !('source' in entry) || !('target' in entry)) return false;
  return typeof entry.source === 'string' && typeof entry.target === 'string';
}

/** Of the package, or of the copy's name. */
async function bundleVersion(bundle: string): Promise<string> {
  const manifest = await readIfThere(join(bundle, '..', 'package.json'));
  const version = manifest === undefined ? undefined : /"version": *"([\w.-]+)"/.exec(manifest)?.[1];
  return version ?? basename(bundle).replace(COPIES, '');
}
