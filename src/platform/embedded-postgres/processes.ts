/** What the operating system knows about processes, by their ids. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isErrno } from '#platform/base/system-errors.ts';

/**
 * Distinguishes a process from a later one with the same id, by its start time. Undefined when there is none, or only
 * one that has ended and was not yet reaped.
 */
export function processIdentity(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid);
}

/** Whether any process has this id, also one that was not yet reaped. */
export function isPidTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
}

/** Name of the program that the process runs. */
export function commandName(pid: number): string {
  return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
}

/** Start times are counted from the boot, so the boot is part of the identity. */
function identityFromProc(pid: number): string | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses, which may contain anything: count from its end (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  const boot = readOrUndefined('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? '';
  return `${boot}-${fields[19]}`;
}

function identityFromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '').replaceAll(' ', '-');
  } catch {
    return undefined;
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
