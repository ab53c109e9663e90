/** Information from the operating system about processes, by process id. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isErrno } from '#platform/base/system-errors.ts';

/**
 * Returns an identity based on the start time, which differs from that of a later process with the same id. Returns
 * undefined if the process does not exist or is only unreaped.
 */
export function processIdentity(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid);
}

/** Returns whether any process has this id, including an unreaped one. */
export function isPidTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
}

/** Returns the name of the program that a process runs. */
export function commandName(pid: number): string {
  return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
}

/** Start times are relative to the boot time, so the identity includes the boot id. */
function identityFromProc(pid: number): string | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program name in parentheses, which may contain anything, so fields are counted from its end
  // (proc(5)).
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
