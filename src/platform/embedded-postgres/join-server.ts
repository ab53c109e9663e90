/** Connects to the server of a data directory, or starts it and creates everything that it requires. */
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { type Account, canReach, findServerAccount, ownAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import {
  type ClusterFiles,
  checkMajorVersion,
  createCluster,
  findClusterFiles,
  outsideDirectory,
  placeOutside,
  writeAccess,
} from './cluster.ts';
import { type ControlConnection, connectControl } from './control-connection.ts';
import { diskFullError } from './disk-full.ts';
import { makeTraversable } from './file-system.ts';
import { settleReplacement } from './interrupted-replacement.ts';
import { launchServer, makeSocketDirectory, START_TIMEOUT_MS } from './launch.ts';
import { disownFiles, isPostmasterAlive, readPostmaster } from './postmaster.ts';
import type { ServerDirectories } from './server-directories.ts';

const POLL_MS = 10;
/** How long the processes of a killed server may still use its files, or a starting server may be killed again. */
const CONTENTION_MS = 15_000;
const CONTENTION_POLL_MS = 100;
const CONTENTION = /^ended with SIG|pre-existing shared memory|lock file ".*" already exists|is another postmaster/;

export interface JoinedServer {
  readonly control: ControlConnection;
  readonly socketDirectory: string;
  readonly cluster: string;
  readonly account: Account;
  readonly isOutside: boolean;
}

/** Creates the parent directories of everything else. As root, their modes let the server's account traverse them. */
export async function makeDirectories({ dataDir, db }: ServerDirectories): Promise<void> {
  for (const directory of new Set([dataDir, dirname(db)])) {
    if (process.getuid?.() === 0) await makeTraversable(directory);
    else await mkdir(directory, { recursive: true, mode: 0o700 });
  }
}

/**
 * Connects to the running server, or starts one, and creates its files if there are none. The caller must hold the
 * lock.
 */
export async function joinServer(directories: ServerDirectories, onLost: () => void): Promise<JoinedServer> {
  const deadline = performance.now() + CONTENTION_MS;
  await settleReplacement(directories);
  for (;;) {
    const found = await findClusterFiles(directories.db);
    const account = await findServerAccount(directories.serverUser, found?.owner);
    if (found?.owner !== undefined) {
      checkOwner(found, account);
      const running = await connectRunning(found.directory, onLost);
      if (running !== undefined) {
        await completeStart(running.control);
        directories.log.debug('database.embedded.joined', 'connected to the running database server');
        return { ...running, cluster: found.directory, account, isOutside: found.isOutside };
      }
    }
    const started = await startServer(directories, found, account, onLost);
    if (typeof started === 'object') {
      directories.log.debug('database.embedded.started', 'database server started');
      return started;
    }
    if (!CONTENTION.test(started) || performance.now() > deadline) throw startFailure(directories, started);
    await delay(CONTENTION_POLL_MS);
  }
}

/**
 * Only a connection proves that a server is running. A process that does not respond is starting, recovering or
 * stopping.
 */
async function connectRunning(
  cluster: string,
  onLost: () => void,
): Promise<{ control: ControlConnection; socketDirectory: string } | undefined> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const postmaster = await readPostmaster(cluster);
    if (postmaster === undefined) return undefined;
    const { pid, socketDirectory } = postmaster;
    const control = socketDirectory === '' ? 'absent' : await connectControl(socketDirectory, onLost);
    if (typeof control === 'object') return { control, socketDirectory };
    if (!(await isPostmasterAlive(pid, cluster))) return undefined;
    if (performance.now() > deadline) {
      throw new ExitError(
        ExitCode.tempFail,
        `the embedded PostgreSQL (process ${pid}) is running but does not respond`,
      );
    }
    await delay(POLL_MS);
  }
}

/** Returns the server's messages if it exited immediately. */
async function startServer(
  directories: ServerDirectories,
  found: ClusterFiles | undefined,
  account: Account,
  onLost: () => void,
): Promise<JoinedServer | string> {
  const { dataDir, db } = directories;
  const { binaries, isCopy } = await findBinaries({
    binDir: directories.binDir,
    account,
    ownDirectory: async () => {
      if (found?.isOutside === true) return dirname(found.directory);
      return account.isOwn ? dataDir : outsideDirectory(dataDir, directories.stateDirectory);
    },
  });
  const files = found ?? (await placeFiles(directories, account, isCopy));
  const parent = dirname(files.directory);
  if (!(await canReach(account, await realpath(parent)))) {
    throw new ExitError(
      ExitCode.noPermission,
      `system user ${account.name} owns ${db} but has no access to it; check the permissions of its parent directories`,
    );
  }
  if (files.owner === undefined) await createCluster(files.directory, binaries, account);
  await checkMajorVersion(files.directory, binaries);
  await writeAccess(files.directory, account, ownAccount());
  const socketDirectory = await makeSocketDirectory(join(files.isOutside ? parent : dataDir, 'run'), account);
  await disownFiles(files.directory, socketDirectory, account);
  const serverLog = join(dataDir, 'server.log');
  const launch = { cluster: files.directory, socketDirectory, serverLog, binaries, account };
  const control = await launchServer(launch, onLost);
  if (typeof control === 'string') return control;
  await completeStart(control);
  return { control, socketDirectory, cluster: files.directory, account, isOutside: files.isOutside };
}

/**
 * Also runs for a server that is already running, since the process that started it may have been killed right
 * afterwards.
 */
async function completeStart(control: ControlConnection): Promise<void> {
  try {
    await control.createServiceDatabase();
  } catch (error) {
    await control.close();
    throw error;
  }
}

async function placeFiles(directories: ServerDirectories, account: Account, isCopy: boolean): Promise<ClusterFiles> {
  const isReachable = !isCopy && (await canReach(account, await realpath(dirname(directories.db))));
  if (isReachable) return { directory: directories.db, isOutside: false, owner: undefined };
  return placeOutside(directories.db, await outsideDirectory(directories.dataDir, directories.stateDirectory));
}

function checkOwner(files: ClusterFiles, account: Account): void {
  if (files.owner === account.uid) return;
  throw new ExitError(
    ExitCode.noPermission,
    `${files.directory} belongs to user id ${files.owner}, but this process runs as ${account.name}; run it as that user or as root`,
  );
}

function startFailure(directories: ServerDirectories, output: string): ExitError {
  const full = diskFullError(`the embedded PostgreSQL failed to start on ${directories.db}`, output);
  if (full !== undefined) return full;
  return new ExitError(
    ExitCode.software,
    `the embedded PostgreSQL failed to start on ${directories.db}, which was left unchanged:\n  ${output}\n` +
      `The complete output is in ${join(directories.dataDir, 'server.log')}. If the files are damaged, ` +
      'restore a backup: latchkey restore PATH --force.',
  );
}
