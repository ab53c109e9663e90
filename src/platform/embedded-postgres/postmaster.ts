/** The running server according to its `postmaster.pid` file: checks whether it is alive, and stops it. */
import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readIfThere } from '#platform/base/files.ts';
import { delay } from '#platform/base/tasks.ts';
import { type Account, asAccount } from './account.ts';
import { replaceFile } from './file-system.ts';
import { commandName, isPidTaken, processIdentity } from './processes.ts';

const run = promisify(execFile);
const JUST_MADE_MS = 100;

/** Contents of a cluster's `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  /** Empty until the server has opened its socket. */
  readonly socketDirectory: string;
  /** The last state that the server wrote. Only a connection proves it. */
  readonly isReady: boolean;
}

/** Reads the file. The server that wrote it may have exited. */
export async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readIfThere(join(cluster, 'postmaster.pid')))?.split('\n');
  const pid = Number(lines?.[0]);
  if (lines === undefined || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, socketDirectory: lines[4] ?? '', isReady: lines[7]?.startsWith('ready') === true };
}

/**
 * Returns whether the process is a server of this cluster. The process id alone proves nothing: another program may
 * have it now, for example after a restart of a container, when ids start from 1.
 */
export async function isPostmasterAlive(pid: number, cluster: string): Promise<boolean> {
  if (processIdentity(pid) === undefined) return false;
  if (process.platform !== 'linux') return commandName(pid).includes('postgres');
  try {
    // A server's working directory is its cluster.
    return readlinkSync(`/proc/${pid}/cwd`) === (await realpath(cluster));
  } catch {
    return false;
  }
}

/**
 * Makes the files of a dead server acceptable to a new one. PostgreSQL does not start if the process id in its
 * cluster's or socket's lock file belongs to any process of the same account, even an unreaped one. It ignores the id
 * of its own parent process, so this writes that id. The rest of the file stays, because the server reads from it
 * whether processes of its predecessor still use the shared memory.
 */
export async function disownFiles(cluster: string, socketDirectory: string, account: Account): Promise<void> {
  for (const path of [join(cluster, 'postmaster.pid'), join(socketDirectory, '.s.PGSQL.5432.lock')]) {
    const text = await readIfThere(path);
    const pid = Number(text?.split('\n')[0]);
    if (text !== undefined && !isProcessId(pid)) {
      await removeUnlessWritten(path, text);
      continue;
    }
    if (text === undefined || !isPidTaken(pid) || (await isPostmasterAlive(pid, cluster))) continue;
    await replaceFile(path, text.replace(/^\d+/, String(process.pid)), account);
  }
}

/** A standalone backend writes its own id as a negative number. */
function isProcessId(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid !== 0;
}

/**
 * Removes a file without a process id, because PostgreSQL does not start with it. A power failure can leave such a file
 * just after its creation. A server that is starting writes its id immediately.
 */
async function removeUnlessWritten(path: string, text: string): Promise<void> {
  await delay(JUST_MADE_MS);
  if ((await readIfThere(path)) === text) await rm(path, { force: true });
}

/**
 * Performs a fast shutdown: rolls back open transactions and writes a checkpoint. Returns false if the server is still
 * running after `waitMs`.
 */
export async function stopPostmaster(cluster: string, account: Account, waitMs: number): Promise<boolean> {
  const postmaster = await readPostmaster(cluster);
  if (postmaster === undefined || !(await isPostmasterAlive(postmaster.pid, cluster))) return true;
  await interrupt(postmaster.pid, account);
  const deadline = performance.now() + waitMs;
  while (await isPostmasterAlive(postmaster.pid, cluster)) {
    if (performance.now() > deadline) return false;
    await delay(5);
  }
  return true;
}

/**
 * The process id comes from a file of the server's account, so root sends the signal only with that account's rights.
 */
async function interrupt(pid: number, account: Account): Promise<void> {
  try {
    if (account.isOwn) process.kill(pid, 'SIGINT');
    else await run('/bin/sh', ['-c', `kill -INT ${pid}`], asAccount(account));
  } catch (error) {
    if (processIdentity(pid) !== undefined) throw error;
  }
}
