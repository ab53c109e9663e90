import { open, readFile, rm } from 'node:fs/promises';
import { isDiskFull, isErrno } from './system-errors.ts';

/** The text of a file, or undefined when there is none. */
export function readIfThere(path: string): Promise<string | undefined> {
  return unlessAbsent(readFile(path, 'utf8'));
}

/** What a look at a path found, or undefined when nothing is there. */
export async function unlessAbsent<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/**
 * Writes and flushes a new file of mode 0600, or leaves none.
 * @param owner who it is given to
 */
export async function writeNewFile(
  path: string,
  content: string | Buffer,
  owner?: { readonly uid: number; readonly gid: number },
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    if (owner !== undefined) await file.chown(owner.uid, owner.gid);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    // Writes do not name their file.
    if (isDiskFull(error)) error.path ??= path;
    throw error;
  } finally {
    await file.close();
  }
}

/** Makes sure that names created, linked or renamed in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
