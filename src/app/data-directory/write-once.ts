import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomBytes } from '#platform/base/random.ts';

/** The text of a file, or undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Makes a directory of mode 0700 unless it is there, durably. */
export async function makePrivateDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncDirectory(dirname(path));
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
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(prepared, { force: true });
    await syncDirectory(dirname(path));
  }
}

/** Writes and flushes a file of mode 0600 beside `path`; returns its temporary name. */
export async function writePrepared(path: string, text: string): Promise<string> {
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

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
