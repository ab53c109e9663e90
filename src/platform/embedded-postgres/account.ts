/** Operating system accounts: which one the server runs under, and which directories it can reach. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, ExitError } from '#platform/base/errors.ts';

const run = promisify(execFile);

/** The account that runs the server and owns its files. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Whether it is the account of this process. */
  readonly isOwn: boolean;
}

const CANDIDATES = ['postgres', 'nobody'];

/**
 * Selects the server's account. PostgreSQL refuses to run as root. In that case the server runs as the owner of its
 * existing files, else as the requested account, else as `postgres` or `nobody`. Otherwise it runs as the account of
 * this process.
 * @param owner user id of the owner of existing files, if there are any
 * @throws ExitError 71 without an entry in the account database, 78 if the requested account is unsuitable
 */
export async function findServerAccount(requested: string | undefined, owner: number | undefined): Promise<Account> {
  if (process.getuid?.() !== 0) return ownAccount();
  if (owner !== undefined && owner !== 0) return ownerAccount(requested, owner);
  if (requested !== undefined) {
    const account = await findAccount(requested);
    if (account !== undefined && account.uid !== 0) return account;
    throw new ExitError(
      ExitCode.config,
      `database.embedded.user: system user "${requested}" does not exist or has root privileges`,
    );
  }
  for (const name of CANDIDATES) {
    const account = await findAccount(name);
    if (account !== undefined) return account;
  }
  throw new ExitError(
    ExitCode.osError,
    'PostgreSQL does not run as root; create a system user and set database.embedded.user to its name',
  );
}

/** Returns the account of this process, which must have a name: PostgreSQL refuses to run without one. */
export function ownAccount(): Account {
  try {
    const { username, uid, gid } = userInfo();
    return { name: username, uid, gid, isOwn: true };
  } catch (cause) {
    const message = `user id ${process.getuid?.()} has no entry in the user database (/etc/passwd), which PostgreSQL requires`;
    throw new ExitError(ExitCode.osError, message, { cause });
  }
}

async function ownerAccount(requested: string | undefined, owner: number): Promise<Account> {
  const account = await findAccount(String(owner));
  if (account === undefined)
    throw new ExitError(
      ExitCode.osError,
      `the embedded database belongs to user id ${owner}, which is unknown on this system`,
    );
  if (requested !== undefined && requested !== account.name) {
    const message = `database.embedded.user: the database belongs to "${account.name}", not to "${requested}"`;
    throw new ExitError(ExitCode.config, message);
  }
  return account;
}

/**
 * Finds an account by name or user id. The `id` program also knows accounts from directory services, which are not in
 * `/etc/passwd`.
 */
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

/** Returns options for a child process that runs as the account, without the environment of this process. */
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
 * Returns whether the account can traverse a directory and all its parents, based on their modes. Ignores access
 * control lists, so the files may be placed elsewhere unnecessarily.
 */
export async function canReach(account: Account, directory: string): Promise<boolean> {
  if (account.isOwn) return true;
  const { mode, uid, gid } = await stat(directory);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const parent = dirname(directory);
  return parent === directory || canReach(account, parent);
}
