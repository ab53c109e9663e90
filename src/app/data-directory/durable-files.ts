/** Files of secrets, written so that a crash or a second process leaves them complete or absent. */
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';

/** The text of a file, or undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Writes a file of mode 0600 unless one of that name is there: under a temporary name first, then hard-linked, so that
 * of two racing processes one wins whole, and a crash leaves the file complete or absent.
 * @returns false when another process was faster
 */
export async function writeOnce(path: string, text: string): Promise<boolean> {
  const prepared = await writePrepared(path, text);
  try {
    await link(prepared, path);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(prepared, { force: true });
    await syncDirectory(dirname(path));
  }
}

/** Writes a file of mode 0600 in place of what is there. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await rename(await writePrepared(path, text), path);
  await syncDirectory(dirname(path));
}

/** Writes and flushes a file of mode 0600 next to `path`; returns its temporary name. */
async function writePrepared(path: string, text: string): Promise<string> {
  const prepared = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(prepared, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return prepared;
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
