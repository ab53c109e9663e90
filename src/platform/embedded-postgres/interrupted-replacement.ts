/**
 * Cleans up after a replacement of the files (`replace-files.ts`) that was killed. Requires the lock, so no replacement
 * is in progress. Complete new files are put in place if the old ones were already moved away. Incomplete files are
 * removed.
 */
import { readdir, readlink, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncDirectory } from '#platform/base/files.ts';
import { type Account, findServerAccount } from './account.ts';
import { findClusterFiles, outsideDirectory, removeTree } from './cluster.ts';
import { lstatIfThere } from './file-system.ts';
import { stopPostmaster } from './postmaster.ts';
import type { ServerDirectories } from './server-directories.ts';

const STOP_WAIT_MS = 30_000;
const STAGING = /^\.restore-[0-9a-f]{12}$/;

/** Path of complete files before they are renamed to `db`. */
export function arrivingFiles(db: string): string {
  return `${db}.arriving`;
}

/** A separate data directory next to `db`, where new files are created. */
export function stagingDirectory(db: string, name: string): string {
  return `${db}.restore-${name}`;
}

export async function settleReplacement(directories: ServerDirectories): Promise<void> {
  const { db } = directories;
  const arriving = arrivingFiles(db);
  if ((await lstatIfThere(arriving)) !== undefined) {
    if ((await lstatIfThere(db)) === undefined) {
      await rename(arriving, db);
      await syncDirectory(dirname(db));
    } else {
      await removeFiles(arriving, directories);
    }
  }
  const entries = await readdir(dirname(db)).catch(() => []);
  for (const entry of entries) {
    const isStaging = entry.startsWith(basename(db)) && STAGING.test(entry.slice(basename(db).length));
    if (isStaging) await removeStaging(join(dirname(db), entry), directories);
  }
}

/**
 * Stops the server of a staging directory, if there is one, and deletes the directory and all its files, including
 * those stored elsewhere.
 */
export async function removeStaging(staging: string, directories: ServerDirectories): Promise<void> {
  const account = await removeFiles(join(staging, 'db'), directories);
  const outside = account.isOwn ? [] : [await outsideDirectory(staging, directories.stateDirectory)];
  for (const directory of [...outside, staging]) {
    await removeSocketDirectory(join(directory, 'run'), account);
    await rm(directory, { recursive: true, force: true });
  }
}

async function removeSocketDirectory(run: string, account: Account): Promise<void> {
  const entry = await lstatIfThere(run);
  if (entry?.isSymbolicLink() === true) await rmdir(await readlink(run)).catch(() => undefined);
  else if (entry !== undefined) await removeTree(run, account);
}

/** Uses the rights of the account that owns the files. */
async function removeFiles(db: string, directories: ServerDirectories): Promise<Account> {
  const found = await findClusterFiles(db).catch(() => undefined);
  const account = await findServerAccount(directories.serverUser, found?.owner);
  if (found !== undefined) {
    await stopPostmaster(found.directory, account, STOP_WAIT_MS);
    await removeTree(found.directory, account);
    if (found.isOutside) await rm(db, { force: true });
  }
  return account;
}
