import { createHash } from 'node:crypto';
import { readdir, readlink, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ExitError } from '#platform/base/errors.ts';
import { randomBytes } from '#platform/base/random.ts';
import { lstatIfThere, makePassable, symlinkUnlessThere, syncDirectory } from './file-system.ts';
import { isPostmasterAlive, readPostmaster } from './postmaster.ts';

/**
 * Where the files of a cluster are, or will be: at `db` of the data directory, or apart from it, in a place that the
 * server's account can reach and to which `db` is a link.
 */
export interface ClusterFiles {
  readonly directory: string;
  readonly isApart: boolean;
  /** User id of the owner; undefined while there are no files. */
  readonly owner: number | undefined;
}

/**
 * Undefined when there is nothing yet, or an empty directory.
 * @throws ExitError 78 when something else is there
 */
export async function findClusterFiles(db: string): Promise<ClusterFiles | undefined> {
  const entry = await lstatIfThere(db);
  if (entry === undefined) return undefined;
  const isApart = entry.isSymbolicLink();
  // The link is made before the files, so that it may still point to nothing.
  const directory = isApart ? await readlink(db) : db;
  if ((await lstatIfThere(join(directory, 'PG_VERSION'))) !== undefined) {
    return { directory, isApart, owner: (await stat(directory)).uid };
  }
  if (isApart) return { directory, isApart, owner: undefined };
  if (entry.isDirectory() && (await readdir(db)).length === 0) return undefined;
  throw new ExitError(78, `${db} exists and does not hold a PostgreSQL database; move it away or set another data_dir`);
}

/** The directory apart from the data directory that belongs to it, below `stateDirectory`; made when needed. */
export async function apartDirectory(dataDir: string, stateDirectory: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex');
  const directory = join(stateDirectory, digest.slice(0, 16));
  await makePassable(stateDirectory);
  await makePassable(directory);
  return directory;
}

/**
 * Lets `db` point into `apart`. Files left there by a data directory that was deleted are moved aside, never taken
 * over: their secrets went with it.
 * @throws ExitError 75 while their server still runs
 */
export async function placeApart(db: string, apart: string): Promise<ClusterFiles> {
  const directory = join(apart, basename(db));
  const left = await readPostmaster(directory);
  if (left !== undefined && (await isPostmasterAlive(left.pid, directory))) {
    throw new ExitError(75, `the server of a deleted data directory still runs (process ${left.pid}); stop it first`);
  }
  if ((await lstatIfThere(directory)) !== undefined) {
    await rename(directory, `${directory}.left-behind-${randomBytes(4).toString('hex')}`);
  }
  await symlinkUnlessThere(directory, db);
  await syncDirectory(dirname(db));
  return { directory, isApart: true, owner: undefined };
}
