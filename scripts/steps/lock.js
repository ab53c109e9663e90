import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from './say.js';

const RETRY_MS = 100;

/**
 * Runs `work` while this process holds the lock file; other processes wait. The file is created atomically by a hard
 * link. The lock of a killed process is replaced.
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
      // Several processes may find the same stale lock. The one that holds a second lock checks once more and removes
      // it.
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

/**
 * Returns the start time of a process, which distinguishes it from a later one with the same ID; undefined if there is
 * none.
 */
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
