/** Writes secret files so that a crash or a second process leaves them complete or absent. */
import { link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory, writeNewFile } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';

/**
 * Creates a file of mode 0600 unless one with that name exists. It is written under a temporary name and then
 * hard-linked. Of two racing processes one wins, and a crash leaves the file complete or absent.
 * @returns false if another process was faster
 */
export async function writeOnce(path: string, content: string | Buffer): Promise<boolean> {
  const prepared = await writePrepared(path, content);
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

/** Writes a file of mode 0600, replacing an existing one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await rename(await writePrepared(path, text), path);
  await syncDirectory(dirname(path));
}

/** Writes and flushes a file of mode 0600 next to `path`; returns its temporary name. */
async function writePrepared(path: string, content: string | Buffer): Promise<string> {
  const prepared = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await writeNewFile(prepared, content);
  return prepared;
}
