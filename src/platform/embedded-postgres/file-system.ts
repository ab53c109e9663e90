/** File operations for the embedded server. All of them can be repeated safely. */
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdir, rename, stat, symlink } from 'node:fs/promises';
import { unlessAbsent, writeNewFile } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import type { Account } from './account.ts';

/** Returns what exists at a path, without following links, or undefined. */
export function lstatIfThere(path: string): Promise<Stats | undefined> {
  return unlessAbsent(lstat(path));
}

/** Returns false if something already exists there. */
export async function symlinkUnlessThere(to: string, path: string): Promise<boolean> {
  try {
    await symlink(to, path);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Replaces a private file of the account. Renames a new file over the old one, so that root never follows a link in
 * another account's directory.
 */
export async function replaceFile(path: string, text: string, account: Account): Promise<void> {
  const prepared = `${path}.${randomBytes(6).toString('hex')}`;
  await writeNewFile(prepared, text, account.isOwn ? undefined : account);
  await rename(prepared, path);
}

/** Creates a directory that any account may traverse but not list. Keeps the modes of other accounts' directories. */
export async function makeTraversable(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const { mode, uid } = await stat(directory);
  if (uid === process.getuid?.() && (mode & 0o011) !== 0o011) await chmod(directory, (mode & 0o7777) | 0o011);
}
