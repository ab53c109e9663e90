/** Accounts of the operating system: which one the server runs under, and what it can reach. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

const run = promisify(execFile);

/** The account that the server runs under and that owns its files. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Whether it is the account of this process. */
  readonly isOwn: boolean;
}

const CANDIDATES = ['postgres', 'nobody'];

/**
 * PostgreSQL refuses to run as root: then the server gets the owner of its existing files, else the account asked
 * for, else `postgres` or `nobody`. For anyone else it is the account of this process.
 * @param owner user id that owns the existing files, if there are any
 * @throws ExitError 71 without an entry in the account database, 78 when the account asked for does not fit
 */
export async function findServerAccount(requested: string | undefined, owner: number | undefined): Promise<Account> {
  if (process.getuid?.() !== 0) return ownAccount();
  if (owner !== undefined && owner !== 0) return ownerAccount(requested, owner);
  if (requested !== undefined) {
    const account = await findAccount(requested);
    if (account !== undefined && account.uid !== 0) return account;
    throw new ExitError(
      ExitCode.config,
      `database.embedded.user: there is no account "${requested}" without root's rights`,
    );
  }
  for (const name of CANDIDATES) {
    const account = await findAccount(name);
    if (account !== undefined) return account;
  }
  throw new ExitError(
    ExitCode.osError,
    'PostgreSQL does not run as root; create an account and set database.embedded.user to it',
  );
}

/** The account of this process, which needs a name: PostgreSQL refuses to run without one. */
export function ownAccount(): Account {
  try {
    const { username, uid, gid } = userInfo();
    return { name: username, uid, gid, isOwn: true };
  } catch (cause) {
    const message = `the user id ${process.getuid?.()} has no entry in the account database; PostgreSQL needs one`;
    throw new ExitError(ExitCode.osError, message, { cause });
  }
}

async function ownerAccount(requested: string | undefined, owner: number): Promise<Account> {
  const account = await findAccount(String(owner));
  if (account === undefined)
    throw new ExitError(ExitCode.osError, `the embedded database belongs to the unknown user id ${owner}`);
  if (requested !== undefined && requested !== account.name) {
    const message = `database.embedded.user: the database belongs to "${account.name}", not to "${requested}"`;
    throw new ExitError(ExitCode.config, message);
  }
  return account;
}

/** By name or user id; the program `id` also knows accounts of directory services, which are not in the file. */
async function findAccount(key: string): Promise<Account | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  const [name, , uid, gid] = lines.find((fields) => fields[0] === key || fields[2] === key) ?? [];
  if (name !== undefined) return { name, uid: Number(uid), gid: Number(gid), isOwn: false };
  try {
    const [numbers, names] = await Promise.all([
      Promise.all(['-u', '-g'].map(async (option) => Number((await run('id', [option, key])).stdout))),
      run('id', ['-un', key]),
    ]);
    const [foundUid, foundGid] = numbers;
    if (foundUid === undefined || foundGid === undefined) return undefined;
    return { name: names.stdout.trim(), uid: foundUid, gid: foundGid, isOwn: false };
  } catch {
    return undefined;
  }
}

/** Options to run a child process as the account, without our environment variables. */
export function asAccount(account: Account, libraryPath?: string) {
  return {
    cwd: '/',
    env: {
      LC_ALL: 'C',
      TZ: 'UTC',
      PATH: '/usr/local/bin:/usr/bin:/bin',
      ...(libraryPath === undefined ? {} : { LD_LIBRARY_PATH: libraryPath, DYLD_LIBRARY_PATH: libraryPath }),
    },
    ...(account.isOwn ? {} : { uid: account.uid, gid: account.gid }),
  };
}

/**
 * Whether the account may pass through a directory and all above it, by their modes. Access control lists are ignored:
 * at worst the files are kept elsewhere without need.
 */
export async function canReach(account: Account, directory: string): Promise<boolean> {
  if (account.isOwn) return true;
  const { mode, uid, gid } = await stat(directory);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const parent = dirname(directory);
  return parent === directory || canReach(account, parent);
}
