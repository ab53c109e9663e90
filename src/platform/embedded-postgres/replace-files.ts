/**
 * Replaces the embedded database with a new one. A separate server creates and fills it in a directory next to the old
 * one. When complete, it is renamed into place, so a crash at any time leaves either the old or the new database. The
 * lock of the data directory is held throughout, so that no process starts a server in the meantime.
 */
import { mkdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { syncDirectory } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { findClusterFiles, outsideDirectory } from './cluster.ts';
import {
  directoriesOf,
  type EmbeddedConnection,
  type EmbeddedServerOptions,
  useEmbeddedServer,
} from './embedded-server.ts';
import { lstatIfThere, makeTraversable } from './file-system.ts';
import { arrivingFiles, removeStaging, settleReplacement, stagingDirectory } from './interrupted-replacement.ts';
import { makeDirectories } from './join-server.ts';
import { withLock } from './lock.ts';
import { isPostmasterAlive, readPostmaster } from './postmaster.ts';
import type { ServerDirectories } from './server-directories.ts';

/** A server that is starting or stopping holds the lock. */
const LOCK_WAIT_MS = 5_000;

export interface ReplaceOptions extends EmbeddedServerOptions {
  /** Whether existing files are moved away. Otherwise there must be none. */
  readonly movesAway: boolean;
  /** Suffix for the names of files that are moved away. */
  readonly suffix: string;
  /** Fills the new database, which the service's role owns. */
  readonly fill: (connection: EmbeddedConnection) => Promise<void>;
}

/**
 * @returns the new location of the old files
 * @throws ExitError 73 if there is a database, 75 while a server is running, and as `useEmbeddedServer`
 */
export async function replaceFiles(options: ReplaceOptions): Promise<string | undefined> {
  const directories = directoriesOf(options);
  const { db } = directories;
  await makeDirectories(directories);
  return await withLock(join(options.dataDir, 'lock'), LOCK_WAIT_MS, async () => {
    await settleReplacement(directories);
    await requireStopped(db);
    if (!options.movesAway && (await isThere(db))) {
      throw new ExitError(
        ExitCode.cantCreate,
        `${db} already contains a database; use --force to move it aside (it is kept next to the new one)`,
      );
    }
    const staging = stagingDirectory(db, randomBytes(6).toString('hex'));
    if (process.getuid?.() === 0) await makeTraversable(staging);
    else await mkdir(staging, { mode: 0o700 });
    try {
      const use = await useEmbeddedServer({ ...options, dataDir: staging, clusterDir: undefined });
      try {
        await options.fill(use.connection);
      } finally {
        await use.release();
      }
      await requireStopped(join(staging, 'db'));
      return await putInPlace(staging, directories, options.suffix);
    } finally {
      await removeStaging(staging, directories);
    }
  });
}

async function isThere(db: string): Promise<boolean> {
  return (await findClusterFiles(db))?.owner !== undefined;
}

async function requireStopped(db: string): Promise<void> {
  const directory = (await lstatIfThere(db))?.isSymbolicLink() === true ? await readlink(db) : db;
  const running = await readPostmaster(directory);
  if (running === undefined || !(await isPostmasterAlive(running.pid, directory))) return;
  throw new ExitError(
    ExitCode.tempFail,
    `the database server of ${db} is running (process ${running.pid}): stop all Latchkey processes that use it first`,
  );
}

async function putInPlace(
  staging: string,
  { dataDir, db, stateDirectory }: ServerDirectories,
  suffix: string,
): Promise<string | undefined> {
  const arriving = arrivingFiles(db);
  const made = join(staging, 'db');
  if ((await lstatIfThere(made))?.isSymbolicLink() === true) {
    const outside = await outsideDirectory(dataDir, stateDirectory);
    const directory = join(outside, `${basename(db)}-${suffix}`);
    await rename(await readlink(made), directory);
    await syncDirectory(outside);
    await rm(made);
    await symlink(directory, arriving);
  } else {
    await rename(made, arriving);
  }
  await syncDirectory(dirname(db));
  const former = (await lstatIfThere(db)) === undefined ? undefined : await moveAway(db, suffix);
  await rename(arriving, db);
  await syncDirectory(dirname(db));
  return former;
}

/** Moves the files away. Deletes an empty directory instead. */
async function moveAway(db: string, suffix: string): Promise<string | undefined> {
  if ((await findClusterFiles(db)) === undefined) {
    await rmdir(db);
    return undefined;
  }
  const former = `${db}.before-restore-${suffix}`;
  await rename(db, former);
  return former;
}
