/** The running server, known by its file `postmaster.pid`: whether it is alive, and how it is stopped. */
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

/** What a server writes to `postmaster.pid` of its cluster. */
export interface Postmaster {
  readonly pid: number;
  /** Empty until the server has opened its socket. */
  readonly socketDirectory: string;
  /** As the server last wrote; only a connection proves it. */
  readonly isReady: boolean;
}

/** Reads the file; the server that wrote it may have ended. */
export async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readIfThere(join(cluster, 'postmaster.pid')))?.split('\n');
  const pid = Number(lines?.[0]);
  if (lines === undefined || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, socketDirectory: lines[4] ?? '', isReady: lines[7]?.startsWith('ready') === true };
}

/**
 * Whether that process is a server of this cluster. The process id alone proves nothing: another program may have it
 * now, for example after a restart of a container, where ids start from 1 again.
 */
export async function isPostmasterAlive(pid: number, cluster: string): Promise<boolean> {
  if (processIdentity(pid) === undefined) return false;
  if (process.platform !== 'linux') return commandName(pid).includes('postgres');
  try {
    // The working directory of a server is its cluster.
    return readlinkSync(`/proc/${pid}/cwd`) === (await realpath(cluster));
  } catch {
    return false;
  }
}

/**
 * Makes the files of a dead server acceptable to a new one. PostgreSQL does not start while the process id in such a
 * file, of its cluster or its socket, belongs to any process of the same account, even one that has ended and was not
 * yet reaped. It ignores the id of its own parent, so that is written there; the rest is kept, since the server reads
 * from it whether processes of the former one still use its shared memory.
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

/** A process without the server's others writes its own id with a minus. */
function isProcessId(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid !== 0;
}

/**
 * Removes a file without the id of a process, as a loss of power leaves one that was just made: PostgreSQL does not start
 * with it. A server that begins at this moment writes the id at once.
 */
async function removeUnlessWritten(path: string, text: string): Promise<void> {
  await delay(JUST_MADE_MS);
  if ((await readIfThere(path)) === text) await rm(path, { force: true });
}

/** Fast shutdown: open transactions are rolled back, a checkpoint is written. False when it still runs after `waitMs`. */
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

/** The process id comes from a file of the server's account, so root sends the signal with that account's rights only. */
async function interrupt(pid: number, account: Account): Promise<void> {
  try {
    if (account.isOwn) process.kill(pid, 'SIGINT');
    else await run('/bin/sh', ['-c', `kill -INT ${pid}`], asAccount(account));
  } catch (error) {
    if (processIdentity(pid) !== undefined) throw error;
  }
}
