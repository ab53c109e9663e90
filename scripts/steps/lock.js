import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from './say.js';

const RETRY_MS = 100;

/**
 * Runs `work` while this process holds the lock file; a second start waits. The file appears whole, by a hard link;
 * the lock of a process that was killed is taken over.
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = `${process.pid} ${startOf(process.pid)}\n`;
  const prepared = `${path}.${process.pid}`;
  const release = () => {
    if (readIfThere(path) === mine) rmSync(path, { force: true });
  };
  writeFileSync(prepared, mine);
  try {
    let isAnnounced = false;
    while (!tryLink(prepared, path)) {
      const held = readIfThere(path);
      const pid = held?.split(' ')[0];
      // Several may find the same stale lock: the holder of a second one looks again and removes it.
      if (held !== undefined && !isHeld(held)) {
        await withLock(`${path}.takeover`, () => readIfThere(path) === held && rmSync(path));
      } else if (held !== undefined) {
        if (!isAnnounced) say(`waiting for process ${pid}, which installs or builds here`);
        isAnnounced = true;
        await pause(RETRY_MS);
      }
    }
  } finally {
    rmSync(prepared, { force: true });
  }
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

function isHeld(held) {
  const [pid, start] = held.trim().split(' ');
  return start !== undefined && start === startOf(Number(pid));
}

/** What tells a running process from a later one of the same number; undefined when there is none. */
function startOf(pid) {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat !== undefined) return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  try {
    process.kill(pid, 0);
    return process.platform === 'linux' ? undefined : 'running';
  } catch (error) {
    return error.code === 'EPERM' ? 'running' : undefined;
  }
}

function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
