/** The server's files (a PostgreSQL "cluster"): their location, their creation and who may connect. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, mkdir, readdir, readlink, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { readIfThere, syncDirectory } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import { type Account, asAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { diskFullError } from './disk-full.ts';
import { lstatIfThere, makeTraversable, replaceFile, symlinkUnlessThere } from './file-system.ts';
import { isPostmasterAlive, readPostmaster } from './postmaster.ts';

const run = promisify(execFile);

/** Superuser of the cluster. Creates the service's role and database, and lists the processes that use the server. */
export const ADMINISTRATOR = 'latchkey_admin';
/** Role of the service, without superuser rights, and the database that it owns. */
export const SERVICE_ROLE = 'latchkey';
export const SERVICE_DATABASE = 'latchkey';

const UNFINISHED = /^\.[0-9a-f]{12}\.tmp$/;

/**
 * Location of a cluster's existing or future files: `db` in the data directory, or a directory elsewhere that the
 * server's account can reach. In the latter case `db` is a link to it.
 */
export interface ClusterFiles {
  readonly directory: string;
  readonly isOutside: boolean;
  /** User id of the owner. Undefined until the files exist. */
  readonly owner: number | undefined;
}

/**
 * Finds the files of a cluster. Returns undefined if nothing exists yet, or only an empty directory.
 * @throws ExitError 78 if something else exists there
 */
export async function findClusterFiles(db: string): Promise<ClusterFiles | undefined> {
  const entry = await lstatIfThere(db);
  if (entry === undefined) return undefined;
  const isOutside = entry.isSymbolicLink();
  // The link is created before the files, so its target may not exist yet.
  const directory = isOutside ? await readlink(db) : db;
  if ((await lstatIfThere(join(directory, 'PG_VERSION'))) !== undefined) {
    return { directory, isOutside, owner: (await stat(directory)).uid };
  }
  if (isOutside) return { directory, isOutside, owner: undefined };
  if (entry.isDirectory() && (await readdir(db)).length === 0) return undefined;
  throw new ExitError(
    ExitCode.config,
    `${db} exists and does not contain a PostgreSQL database; move it away or set another data_dir`,
  );
}

/** Returns the directory below `stateDirectory` that belongs to this data directory. Creates it if necessary. */
export async function outsideDirectory(dataDir: string, stateDirectory: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex');
  const directory = join(stateDirectory, digest.slice(0, 16));
  await makeTraversable(stateDirectory);
  await makeTraversable(directory);
  return directory;
}

/**
 * Makes `db` a link into the directory `outside`. Renames files that a deleted data directory left there. They are
 * never used, because their secrets were deleted with that directory.
 * @throws ExitError 75 if their server is still running
 */
export async function placeOutside(db: string, outside: string): Promise<ClusterFiles> {
  const directory = join(outside, basename(db));
  const running = await readPostmaster(directory);
  if (running !== undefined && (await isPostmasterAlive(running.pid, directory))) {
    throw new ExitError(
      ExitCode.tempFail,
      `the database server of a deleted data directory is still running (process ${running.pid}); stop it first`,
    );
  }
  if ((await lstatIfThere(directory)) !== undefined) {
    await rename(directory, `${directory}.left-behind-${randomBytes(4).toString('hex')}`);
  }
  await symlinkUnlessThere(directory, db);
  await syncDirectory(dirname(db));
  return { directory, isOutside: true, owner: undefined };
}

/**
 * Creates a cluster under a temporary name and renames it when complete, so that a crash never leaves an incomplete
 * one.
 */
export async function createCluster(directory: string, binaries: Binaries, account: Account): Promise<void> {
  const parent = dirname(directory);
  await removeUnfinished(directory, account);
  const unfinished = `${directory}.${randomBytes(6).toString('hex')}.tmp`;
  await mkdir(unfinished, { mode: 0o700 });
  if (!account.isOwn) await chown(unfinished, account.uid, account.gid);
  const options = ['--encoding=UTF8', '--locale=C', '--data-checksums', '--auth-local=peer', '--auth-host=reject'];
  try {
    const args = [`--pgdata=${unfinished}`, `--username=${ADMINISTRATOR}`, ...options];
    await runInitdb(directory, args, binaries, account);
    await rename(unfinished, directory);
  } catch (cause) {
    await removeTree(unfinished, account);
    // Another process created the cluster first, on a system where the lock has no effect. Its cluster is used.
    if (isErrno(cause, 'ENOTEMPTY', 'EEXIST')) return;
    if (isErrno(cause, 'EBUSY'))
      throw new ExitError(ExitCode.config, `${directory} is a mount point; mount its parent directory instead`, {
        cause,
      });
    throw cause;
  }
  await syncDirectory(parent);
}

/** @throws ExitError 78 with both versions if another major version wrote the files */
export async function checkMajorVersion(directory: string, binaries: Binaries): Promise<void> {
  const written = Number(await readIfThere(join(directory, 'PG_VERSION')));
  if (written === binaries.major) return;
  throw new ExitError(
    ExitCode.config,
    `${directory} was written by PostgreSQL ${written}, but the installed programs are PostgreSQL ${binaries.major}: ` +
      `create a backup with the version of Latchkey that included PostgreSQL ${written} (latchkey backup -o PATH), and restore it ` +
      `with this version (latchkey restore PATH --force), or set database.embedded.bin_dir to programs of PostgreSQL ${written}`,
  );
}

/**
 * Allows only the account of this process and the server's account to connect. The kernel tells the server which
 * account connects. Written before each start, since the service's account may have changed.
 */
export async function writeAccess(directory: string, account: Account, service: Account): Promise<void> {
  const systemNames = [...new Set([account.name, service.name])].map((name) => `"${name.replaceAll('"', '""')}"`);
  const roles = [ADMINISTRATOR, SERVICE_ROLE];
  const map = systemNames.flatMap((name) => roles.map((role) => `latchkey ${name} ${role}\n`)).join('');
  await replaceFile(join(directory, 'pg_hba.conf'), 'local all all peer map=latchkey\n', account);
  await replaceFile(join(directory, 'pg_ident.conf'), map, account);
}

async function removeUnfinished(directory: string, account: Account): Promise<void> {
  const name = basename(directory);
  for (const entry of await readdir(dirname(directory))) {
    const isUnfinished = entry.startsWith(name) && UNFINISHED.test(entry.slice(name.length));
    if (isUnfinished) await removeTree(join(dirname(directory), entry), account);
  }
}

/**
 * Deletes with the rights of the account that owns the files. Only the empty directory itself is removed with our
 * rights. Files that an abandoned initdb is still writing are removed at the next start.
 */
export async function removeTree(directory: string, account: Account): Promise<void> {
  if (account.isOwn) {
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
    return;
  }
  await run('/bin/rm', ['-rf', '--', directory], asAccount(account)).catch(() => undefined);
  await rmdir(directory).catch(() => undefined);
}

/** Runs in a separate session, like the server, so that an interrupt from a terminal reaches only the service. */
function runInitdb(directory: string, args: readonly string[], binaries: Binaries, account: Account): Promise<void> {
  const child = spawn(binaries.initdb, [...args, '--no-instructions'], {
    ...asAccount(account, binaries.libraryPath),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const failure = `initdb exited with ${signal ?? `code ${code}`}: ${errors.trim()}`;
      if (code === 0) resolve();
      else reject(diskFullError(`cannot create ${directory}`, failure) ?? new ExitError(ExitCode.software, failure));
    });
  });
}
