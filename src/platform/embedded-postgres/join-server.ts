import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { delay } from '#platform/base/tasks.ts';
import { type Account, findServerAccount, mayPass, ownAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { checkMajorVersion, createCluster, writeAccess } from './cluster.ts';
import { apartDirectory, type ClusterFiles, findClusterFiles, placeApart } from './cluster-files.ts';
import { type ControlConnection, connectControl } from './control-connection.ts';
import { makePassable } from './file-system.ts';
import { launchServer, START_TIMEOUT_MS } from './launch.ts';
import { disownFiles, isPostmasterAlive, readPostmaster } from './postmaster.ts';
import { makeSocketDirectory } from './socket-directory.ts';

const POLL_MS = 10;
/** How long processes of a server that was killed may hold on to its files, or a starting one be killed again. */
const CONTENTION_MS = 15_000;
const CONTENTION_POLL_MS = 100;
const CONTENTION = /^ended with SIG|pre-existing shared memory|lock file ".*" already exists|is another postmaster/;

export interface ServerHome {
  readonly dataDir: string;
  /** The cluster's directory as configured; `db` of the data directory by default. */
  readonly db: string;
  readonly serverUser: string | undefined;
  readonly binDir: string | undefined;
  /** Below it are the files that the server's account cannot reach in the data directory. */
  readonly stateDirectory: string;
  readonly log: Log;
}

export interface JoinedServer {
  readonly control: ControlConnection;
  readonly socketDirectory: string;
  readonly cluster: string;
  readonly account: Account;
  readonly isApart: boolean;
}

/** Makes the directories that everything else stands in; as root, such that the server's account may pass. */
export async function makeHome({ dataDir, db }: ServerHome): Promise<void> {
  for (const directory of new Set([dataDir, dirname(db)])) {
    if (process.getuid?.() === 0) await makePassable(directory);
    else await mkdir(directory, { recursive: true, mode: 0o700 });
  }
}

/** Connects to the running server, or starts one, first making its files if there are none. Expects the lock. */
export async function joinServer(home: ServerHome, onLost: () => void): Promise<JoinedServer> {
  const deadline = performance.now() + CONTENTION_MS;
  for (;;) {
    const found = await findClusterFiles(home.db);
    const account = await findServerAccount(home.serverUser, found?.owner);
    if (found?.owner !== undefined) {
      checkOwner(found, account);
      const running = await connectRunning(found.directory, onLost);
      if (running !== undefined) {
        home.log.debug('database.embedded.joined', 'connected to the running server');
        return { ...running, cluster: found.directory, account, isApart: found.isApart };
      }
    }
    const started = await startServer(home, found, account, onLost);
    if (typeof started === 'object') {
      home.log.debug('database.embedded.started', 'server started');
      return started;
    }
    if (!CONTENTION.test(started) || performance.now() > deadline) throw startFailure(home, started);
    await delay(CONTENTION_POLL_MS);
  }
}

/** Only a connection proves a server alive; while its process runs but does not answer, it starts, recovers or ends. */
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
      throw new ExitError(75, `the embedded PostgreSQL (process ${pid}) runs and does not answer`);
    }
    await delay(POLL_MS);
  }
}

/** Returns what the server said when it ended at once. */
async function startServer(
  home: ServerHome,
  found: ClusterFiles | undefined,
  account: Account,
  onLost: () => void,
): Promise<JoinedServer | string> {
  const { dataDir, db } = home;
  const { binaries, isCopy } = await findBinaries({
    binDir: home.binDir,
    account,
    ownDirectory: async () => {
      if (found?.isApart === true) return dirname(found.directory);
      return account.isOwn ? dataDir : apartDirectory(dataDir, home.stateDirectory);
    },
  });
  const files = found ?? (await placeFiles(home, account, isCopy));
  const parent = dirname(files.directory);
  if (!(await mayPass(account, await realpath(parent)))) {
    throw new ExitError(77, `the account ${account.name}, which owns ${db}, cannot reach it; see the modes above it`);
  }
  if (files.owner === undefined) await createCluster(files.directory, binaries, account);
  await checkMajorVersion(files.directory, binaries);
  await writeAccess(files.directory, account, ownAccount());
  const socketDirectory = await makeSocketDirectory(join(files.isApart ? parent : dataDir, 'run'), account);
  await disownFiles(files.directory, socketDirectory, account);
  const serverLog = join(dataDir, 'server.log');
  const launch = { cluster: files.directory, socketDirectory, serverLog, binaries, account };
  const control = await launchServer(launch, onLost);
  if (typeof control === 'string') return control;
  try {
    await control.provide();
  } catch (error) {
    await control.close();
    throw error;
  }
  return { control, socketDirectory, cluster: files.directory, account, isApart: files.isApart };
}

async function placeFiles(home: ServerHome, account: Account, isCopy: boolean): Promise<ClusterFiles> {
  const isReachable = !isCopy && (await mayPass(account, await realpath(dirname(home.db))));
  if (isReachable) return { directory: home.db, isApart: false, owner: undefined };
  return placeApart(home.db, await apartDirectory(home.dataDir, home.stateDirectory));
}

function checkOwner(files: ClusterFiles, account: Account): void {
  if (files.owner === account.uid) return;
  throw new ExitError(
    77,
    `${files.directory} belongs to the user id ${files.owner}, and ${account.name} runs this; run it as that user or as root`,
  );
}

function startFailure(home: ServerHome, words: string): ExitError {
  return new ExitError(
    70,
    `the embedded PostgreSQL does not start on ${home.db}, which was left as it is:\n  ${words}\n` +
      `All it said is in ${join(home.dataDir, 'server.log')}. If the files are damaged, restore a backup.`,
  );
}
