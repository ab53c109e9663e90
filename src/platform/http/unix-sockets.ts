import { chmod, lstat, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { ExitError } from '#platform/base/errors.ts';
import type { SocketBind } from './http-options.ts';

const EXIT_OSERR = 71;

/**
 * Listens on a Unix socket. It is made under a name of its own, gets its permissions, and then takes the place of
 * whatever socket was there: clients never meet wrong permissions or a gap, and a stale socket is no obstacle. When
 * the server closes, the path is removed only if it is still this socket: a successor may have taken it over.
 * @throws ExitError 71 with the path and the system's error
 */
export async function listenOnSocket(server: Server, bind: SocketBind): Promise<void> {
  const { socket: path, mode } = bind;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await refuseOtherFiles(path);
    await listen(server, temporary);
    if (mode !== undefined) await chmod(temporary, mode);
    const { ino } = await lstat(temporary);
    await rename(temporary, path);
    server.once('close', () => void removeIfOurs(path, ino));
  } catch (error) {
    if (error instanceof ExitError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_OSERR, `cannot listen on ${path}: ${reason}`, { cause: error });
  }
}

async function refuseOtherFiles(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isSocket()) {
    throw new ExitError(EXIT_OSERR, `cannot listen on ${path}: there is a file that is no socket`);
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function removeIfOurs(path: string, ino: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.ino === ino) await rm(path, { force: true });
}
