import { spawn } from 'node:child_process';
import { ExitError } from '#platform/base/errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { type Account, asAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { type ControlConnection, connectControl } from './control-connection.ts';
import { readPostmaster } from './postmaster.ts';
import { openServerLog, readServerLog } from './server-log.ts';
import { serverSettings } from './settings.ts';

const POLL_MS = 5;
/** Recovery of the largest write-ahead log the settings allow takes seconds. */
export const START_TIMEOUT_MS = 120_000;

export interface LaunchOptions {
  readonly cluster: string;
  readonly socketDirectory: string;
  readonly serverLog: string;
  readonly binaries: Binaries;
  readonly account: Account;
}

/**
 * Starts a server and waits until it answers. It gets a session of its own, so that a terminal's interrupt does not
 * reach it, and writes to a file, since a pipe's reader may die before it.
 * @returns the connection, or what the server said before it ended
 * @throws ExitError 75 when it neither answers nor ends
 */
export async function launchServer(options: LaunchOptions, onLost: () => void): Promise<ControlConnection | string> {
  const { binaries, cluster, serverLog, socketDirectory } = options;
  const { file, position } = await openServerLog(serverLog);
  const child = spawn(binaries.postgres, ['-D', cluster, ...serverSettings(binaries.major, socketDirectory)], {
    ...asAccount(options.account, binaries.libraryPath),
    detached: true,
    stdio: ['ignore', file.fd, file.fd],
  });
  let failure: string | undefined;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', (code, signal) => {
    failure ??= `ended with ${signal ?? `code ${code}`}`;
  });
  child.unref();
  await file.close();
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (failure !== undefined) return `${failure}\n  ${await readServerLog(serverLog, position)}`;
    // Attempts before it says that it is ready would each be a FATAL line of its log.
    const postmaster = await readPostmaster(cluster);
    if (postmaster?.isReady === true && postmaster.pid === child.pid) {
      const control = await connectControl(socketDirectory, onLost);
      if (typeof control === 'object') return control;
    }
    if (performance.now() > deadline) {
      throw new ExitError(75, `the embedded PostgreSQL (process ${child.pid}) is not ready yet; see ${serverLog}`);
    }
    await delay(POLL_MS);
  }
}
