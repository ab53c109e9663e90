import { execFile, spawn } from 'node:child_process';
import { chown, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ExitError } from '#platform/base/errors.ts';
import { randomBytes } from '#platform/base/random.ts';
import { type Account, asAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { isErrno, readIfThere, replaceFile, syncDirectory } from './file-system.ts';

const run = promisify(execFile);

/** Superuser of the cluster: makes the service's role and database, and counts who uses the server. */
export const ADMINISTRATOR = 'latchkey_admin';
/** Role of the service, without superuser rights, and the database it owns. */
export const SERVICE_ROLE = 'latchkey';
export const SERVICE_DATABASE = 'latchkey';

const UNFINISHED = /^\.[0-9a-f]{12}\.tmp$/;

/** Makes a cluster in a directory of another name that is renamed when complete: a kill leaves nothing half-made. */
export async function createCluster(directory: string, binaries: Binaries, account: Account): Promise<void> {
  const parent = dirname(directory);
  await removeUnfinished(directory, account);
  const unfinished = `${directory}.${randomBytes(6).toString('hex')}.tmp`;
  await mkdir(unfinished, { mode: 0o700 });
  if (!account.isOwn) await chown(unfinished, account.uid, account.gid);
  const options = ['--encoding=UTF8', '--locale=C', '--data-checksums', '--auth-local=peer', '--auth-host=reject'];
  try {
    await initialise([`--pgdata=${unfinished}`, `--username=${ADMINISTRATOR}`, ...options], binaries, account);
    await rename(unfinished, directory);
  } catch (cause) {
    await removeTree(unfinished, account);
    // Another process was faster, on a system where the lock did not hold: its cluster is as good.
    if (isErrno(cause, 'ENOTEMPTY', 'EEXIST')) return;
    if (isErrno(cause, 'EBUSY')) throw new ExitError(78, `${directory} is a mount point; mount its parent`, { cause });
    throw cause;
  }
  await syncDirectory(parent);
}

/** @throws ExitError 78 naming both versions when the files were written by another major version */
export async function checkMajorVersion(directory: string, binaries: Binaries): Promise<void> {
  const written = Number(await readIfThere(join(directory, 'PG_VERSION')));
  if (written === binaries.major) return;
  throw new ExitError(
    78,
    `${directory} was written by PostgreSQL ${written}, and the programs here are PostgreSQL ${binaries.major}: ` +
      `make a dump with PostgreSQL ${written} and restore it here, or set database.embedded.bin_dir to its programs`,
  );
}

/**
 * Lets the account of this process and the server's own connect, and no other: the kernel tells the server who is at
 * the other end of its socket. Written before each start, since the account of the service may have changed.
 */
export async function writeAccess(directory: string, account: Account, service: Account): Promise<void> {
  const systemNames = [...new Set([account.name, service.name])].map((name) => `"${name.replaceAll('"', '""')}"`);
  const roles = [ADMINISTRATOR, SERVICE_ROLE];
  const map = systemNames.flatMap((name) => roles.map((role) => `latchkey ${name} ${role}\n`)).join('');
  await replaceFile(join(directory, 'pg_hba.conf'), 'local all all peer map=latchkey\n', account);
  await replaceFile(join(directory, 'pg_ident.conf'), map, account);
}

async function removeUnfinished(directory: string, account: Account): Promise<void> {
  const name = basename(directory);
  for (const entry of await readdir(dirname(directory))) {
    const isUnfinished = entry.startsWith(name) && UNFINISHED.test(entry.slice(name.length));
    if (isUnfinished) await removeTree(join(dirname(directory), entry), account);
  }
}

/**
 * With the rights of the account that owns the files; only the emptied directory itself stands in one of ours. What an
 * initdb that was left alone still adds at this moment stays until the next time.
 */
async function removeTree(directory: string, account: Account): Promise<void> {
  if (account.isOwn) {
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
    return;
  }
  await run('/bin/rm', ['-rf', '--', directory], asAccount(account)).catch(() => undefined);
  await rmdir(directory).catch(() => undefined);
}

/** In a session of its own, as the server: a terminal's interrupt is for the service to answer. */
function initialise(args: readonly string[], binaries: Binaries, account: Account): Promise<void> {
  const child = spawn(binaries.initdb, [...args, '--no-instructions'], {
    ...asAccount(account, binaries.libraryPath),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new ExitError(70, `initdb ended with ${signal ?? `code ${code}`}: ${complaints.trim()}`));
    });
  });
}
