import { open, readFile, rm } from 'node:fs/promises';
import { isDiskFull, isErrno } from './system-errors.ts';

/** Reads a text file. Returns undefined if it does not exist. */
export function readIfThere(path: string): Promise<string | undefined> {
  return unlessAbsent(readFile(path, 'utf8'));
}

/** Awaits a file system call. Returns undefined if the path does not exist. */
export async function unlessAbsent<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/**
 * Writes and flushes a new file with mode 0600. If that fails, the file is removed.
 * @param owner receives ownership of the file
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
    // Errors of writes do not include the path.
    if (isDiskFull(error)) error.path ??= path;
    throw error;
  } finally {
    await file.close();
  }
}

/** Flushes a directory, so that created, linked or renamed entries survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
