/** A lock file shared by processes on one machine. */
import { link, rm } from 'node:fs/promises';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { readIfThere, writeNewFile } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { processIdentity } from './processes.ts';

const RETRY_MS = 15;

/**
 * Runs `work` while this process holds the lock file `path`. Other processes, and other callers in this process, wait.
 * The file contains the holder's process id and start time, and is created atomically with a hard link. Node has no
 * flock, so the lock of a killed holder is recognized by the start time and replaced.
 * @throws ExitError 75 if the lock is not free within `waitMs`
 */
export async function withLock<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${processIdentity(process.pid)} ${randomBytes(6).toString('hex')}\n`;
  await acquire(path, mine, performance.now() + waitMs);
  try {
    return await work();
  } finally {
    // The file may have been replaced manually.
    if ((await readIfThere(path)) === mine) await rm(path, { force: true });
  }
}

async function acquire(path: string, mine: string, deadline: number): Promise<void> {
  const prepared = `${path}.${mine.split(' ')[2]?.trim()}`;
  await writeNewFile(prepared, mine);
  try {
    for (;;) {
      if (await linkUnlessThere(prepared, path)) return;
      const held = await readIfThere(path);
      if (held === undefined) continue;
      if (!isHolderAlive(held)) {
        await removeStale(path, held, deadline);
      } else if (performance.now() > deadline) {
        throw new ExitError(
          ExitCode.tempFail,
          `${path} is locked by process ${held.split(' ')[0]}; retry when it has finished`,
        );
      } else {
        await delay(RETRY_MS);
      }
    }
  } finally {
    await rm(prepared, { force: true });
  }
}

/**
 * Several processes may find the same stale lock, and a slow one may already find a new lock in its place. So only the
 * holder of a second lock checks again and removes it. If that holder is killed, its lock is stale as well.
 */
function removeStale(path: string, stale: string, deadline: number): Promise<void> {
  return withLock(`${path}.takeover`, deadline - performance.now(), async () => {
    if ((await readIfThere(path)) === stale) await rm(path);
  });
}

function isHolderAlive(held: string): boolean {
  const [pid, identity] = held.trim().split(' ');
  return identity !== undefined && processIdentity(Number(pid)) === identity;
}

async function linkUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}
