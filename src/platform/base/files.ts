import { open, readFile } from 'node:fs/promises';
import { isErrno } from './system-errors.ts';

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

/** Makes sure that names created, linked or renamed in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
