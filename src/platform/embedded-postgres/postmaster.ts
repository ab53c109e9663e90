import { execFile, execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { delay } from '#platform/base/tasks.ts';
import { type Account, asAccount } from './account.ts';
import { isErrno, readIfThere, replaceFile } from './file-system.ts';
import { processIdentity } from './processes.ts';

const run = promisify(execFile);

/** What a server writes about itself into `postmaster.pid` of its cluster. */
export interface Postmaster {
  readonly pid: number;
  /** Empty until the server has opened its socket. */
  readonly socketDirectory: string;
  /** What it last said of itself; only a connection proves it. */
  readonly isReady: boolean;
}

/** What the file says; the server it names may be long dead. */
export async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readIfThere(join(cluster, 'postmaster.pid')))?.split('\n');
  const pid = Number(lines?.[0]);
  if (lines === undefined || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, socketDirectory: lines[4] ?? '', isReady: lines[7]?.startsWith('ready') === true };
}

/**
 * Whether that process is a server of this cluster. Its number alone proves nothing: it may have gone to another
 * program, for example after a restart of a container, whose numbers begin anew.
 */
export async function isPostmasterAlive(pid: number, cluster: string): Promise<boolean> {
  if (processIdentity(pid) === undefined) return false;
  if (process.platform !== 'linux') return commandName(pid).includes('postgres');
  try {
    // A server works in its cluster's directory.
    return readlinkSync(`/proc/${pid}/cwd`) === (await realpath(cluster));
  } catch {
    return false;
  }
}

/**
 * PostgreSQL does not start while the number in a dead server's file, of its cluster or its socket, belongs to any
 * process of the same account, be it one that ended and that nobody has waited for yet. The number of its own parent
 * it takes for stale, so that is written there; the rest stays, since from it the server finds out whether processes
 * of the former one still use its shared memory.
 */
export async function disownFiles(cluster: string, socketDirectory: string, account: Account): Promise<void> {
  for (const path of [join(cluster, 'postmaster.pid'), join(socketDirectory, '.s.PGSQL.5432.lock')]) {
    const text = await readIfThere(path);
    const pid = Number(text?.split('\n')[0]);
    if (text === undefined || !isTaken(pid) || (await isPostmasterAlive(pid, cluster))) continue;
    await replaceFile(path, text.replace(/^\d+/, String(process.pid)), account);
  }
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

/** The number was read from a file of the server's account, so as root the signal is sent with no more than its rights. */
async function interrupt(pid: number, account: Account): Promise<void> {
  try {
    if (account.isOwn) process.kill(pid, 'SIGINT');
    else await run('/bin/sh', ['-c', `kill -INT ${pid}`], asAccount(account));
  } catch (error) {
    if (processIdentity(pid) !== undefined) throw error;
  }
}

/** As PostgreSQL sees it. */
function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
}

function commandName(pid: number): string {
  return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
}
