/**
 * Checks who can read or write a file with secrets, based on its owner, group and mode. An account that can write to a
 * key file controls what the service signs with. Root can read every file anyway.
 */
import type { Stats } from 'node:fs';

/** Owner checks are skipped where this is undefined: on systems without file owners. */
export interface ProcessAccount {
  readonly uid: number;
  readonly groups: readonly number[];
}

export interface Judgment {
  /** Why the file must not be used. */
  readonly error?: string;
  /** Permitted, but worth a warning. */
  readonly warning?: string;
}

type FileStatus = Pick<Stats, 'mode' | 'uid' | 'gid'>;

const ROOT = 0;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const GROUP_READS = 0o040;
const OTHERS_READ = 0o004;

/** The account of this process. */
export function processAccount(): ProcessAccount | undefined {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (uid === undefined || gid === undefined) return undefined;
  return { uid, groups: [gid, ...(process.getgroups?.() ?? [])] };
}

/**
 * Judges the permissions of a file or directory. A service that runs as root accepts only files that belong to root.
 * Another owner, or members of a group with write access, could replace the keys.
 * @param path as shown in messages
 */
export function checkOwnership(path: string, status: FileStatus, account: ProcessAccount | undefined): Judgment {
  const mode = `has mode ${(status.mode & 0o777).toString(8).padStart(4, '0')}`;
  if ((status.mode & OTHERS_WRITE) !== 0) {
    return { error: `${path} ${mode}: every system user can write to it; run chmod o-w on it` };
  }
  if (account === undefined) return {};
  if (account.uid === ROOT && status.uid !== ROOT) {
    return {
      error:
        `${path} belongs to user ${status.uid}, who can change it, but this process runs as root: ` +
        'run chown root on the file, or run Latchkey as that user',
    };
  }
  const isForeignGroup = !account.groups.includes(status.gid);
  if (account.uid === ROOT && isForeignGroup && (status.mode & GROUP_WRITES) !== 0) {
    return { error: `${path} ${mode}: members of group ${status.gid} can write to it; run chmod g-w on it` };
  }
  if ((status.mode & OTHERS_READ) !== 0) {
    return { warning: `${path} ${mode}: every system user can read it; run chmod o-r on it` };
  }
  if (isForeignGroup && (status.mode & (GROUP_READS | GROUP_WRITES)) !== 0) {
    return { warning: `${path} ${mode}: members of group ${status.gid} have access to it; run chmod g-rw on it` };
  }
  return {};
}
