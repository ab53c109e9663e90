import { chown, mkdir, mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from './account.ts';
import { lstatIfThere, symlinkUnlessThere } from './file-system.ts';

/** `/.s.PGSQL.5432` and a final zero byte have to fit as well; 104 bytes is the smallest limit among systems. */
const MAX_BYTES = 104 - '/.s.PGSQL.5432'.length - 1;

/**
 * The private directory of the server's socket, mode 0700 and owned by the server's account: `run` itself, or, where
 * its path is too long for a socket name, a short one to which `run` is a link.
 */
export async function makeSocketDirectory(run: string, account: Account): Promise<string> {
  const entry = await lstatIfThere(run);
  if (entry?.isSymbolicLink() === true) {
    const recorded = await readlink(run);
    if (await isPrivate(recorded, account)) return recorded;
    // A restart of the machine empties such directories; whoever made one of that name since must not get our socket.
    await rm(run);
  } else if (Buffer.byteLength(run) <= MAX_BYTES) {
    if (entry === undefined) {
      await mkdir(run, { mode: 0o700 });
      if (!account.isOwn) await chown(run, account.uid, account.gid);
    }
    return run;
  }
  const base = Buffer.byteLength(tmpdir()) <= MAX_BYTES - '/latchkey-XXXXXX'.length ? tmpdir() : '/tmp';
  const short = await mkdtemp(join(base, 'latchkey-'));
  if (!account.isOwn) await chown(short, account.uid, account.gid);
  await symlinkUnlessThere(short, run);
  return short;
}

async function isPrivate(directory: string, account: Account): Promise<boolean> {
  const entry = await lstatIfThere(directory);
  return entry?.isDirectory() === true && entry.uid === account.uid && (entry.mode & 0o077) === 0;
}
