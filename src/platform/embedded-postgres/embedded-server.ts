/**
 * The PostgreSQL server that the service runs itself. All processes of one data directory share it. It is created and
 * started on demand, restarted if it dies, and stopped by its last user (operations 1.8, 2.3). Starting and stopping
 * require the lock file of the data directory. Each process keeps a connection open, so that the others can see it.
 */
import { join } from 'node:path';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { ADMINISTRATOR, SERVICE_DATABASE, SERVICE_ROLE } from './cluster.ts';
import { PORT } from './control-connection.ts';
import { type JoinedServer, joinServer, makeDirectories } from './join-server.ts';
import { withLock } from './lock.ts';
import { stopPostmaster } from './postmaster.ts';
import { processIdentity } from './processes.ts';
import type { ServerDirectories } from './server-directories.ts';

const STATE_DIRECTORY = '/var/lib/latchkey';
/** Longer than a start with crash recovery, which another process may be performing. */
const LOCK_WAIT_MS = 150_000;
const STOP_WAIT_MS = 30_000;
const MAX_PAUSE_MS = 5_000;
const ENDED_USER_WAIT_MS = 1_000;
const ENDED_USER_POLL_MS = 20;

export interface EmbeddedServerOptions {
  /** Absolute path. Created if necessary. */
  readonly dataDir: string;
  /** Absolute directory of the cluster. Defaults to `db` in the data directory. */
  readonly clusterDir?: string | undefined;
  /** Account that runs the server if this process is root. Defaults to `postgres` or `nobody`. */
  readonly serverUser?: string | undefined;
  /** Directory of `initdb` and `postgres` to use instead of the bundled ones. */
  readonly binDir?: string | undefined;
  /** Location for files that the server's account cannot reach in the data directory. */
  readonly stateDirectory?: string | undefined;
  readonly log: Log;
}

export interface EmbeddedConnection {
  /** Directory of the server's socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export interface EmbeddedUse {
  /**
   * Connection of the service: a role without superuser rights that owns its database. No password (peer
   * authentication).
   */
  readonly connection: EmbeddedConnection;
  /** Connection for administration: superuser, on the database `postgres`. */
  readonly administrator: EmbeddedConnection;
  /** Tells the operator where the files are if they are not in the data directory. */
  readonly note?: string;
  /** Stops the server if this was its last user. Close all connections first. Can be called more than once. */
  release(): Promise<void>;
}

/**
 * Joins the server of a data directory, or starts it. If the server dies while in use, it is restarted.
 * @throws ExitError 69 (no programs), 70 (does not start), 71, 75 (lock held), 77 (permissions), 78 (files of another
 * major version or another program)
 */
export async function useEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedUse> {
  const directories = directoriesOf(options);
  const use = new ServerUse(directories);
  try {
    await makeDirectories(directories);
    return await use.begin();
  } catch (cause) {
    if (isErrno(cause, 'EACCES', 'EPERM', 'EROFS')) {
      throw new ExitError(ExitCode.noPermission, `embedded database: ${cause.message}`, { cause });
    }
    throw cause;
  }
}

export function directoriesOf(options: EmbeddedServerOptions): ServerDirectories {
  const { binDir, clusterDir, dataDir, log, serverUser, stateDirectory } = options;
  return {
    dataDir,
    db: clusterDir ?? join(dataDir, 'db'),
    serverUser,
    binDir,
    stateDirectory: stateDirectory ?? STATE_DIRECTORY,
    log,
  };
}

class ServerUse {
  readonly #directories: ServerDirectories;
  readonly #lock: string;
  #server: JoinedServer | undefined;
  #releasing: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;

  constructor(directories: ServerDirectories) {
    this.#directories = directories;
    this.#lock = join(directories.dataDir, 'lock');
  }

  async begin(): Promise<EmbeddedUse> {
    const { account, cluster, isOutside, socketDirectory } = await this.#join();
    const where = { host: socketDirectory, port: PORT };
    return {
      connection: { ...where, user: SERVICE_ROLE, database: SERVICE_DATABASE },
      administrator: { ...where, user: ADMINISTRATOR, database: 'postgres' },
      ...(isOutside ? { note: noteOf(this.#directories, account.name, cluster) } : {}),
      release: () => {
        this.#releasing ??= this.#release();
        return this.#releasing;
      },
    };
  }

  async #join(): Promise<JoinedServer> {
    let isLost = false;
    const server = await withLock(this.#lock, LOCK_WAIT_MS, () =>
      joinServer(this.#directories, () => {
        isLost = true;
        this.#onLoss();
      }),
    );
    this.#server = isLost ? undefined : server;
    return server;
  }

  #onLoss(): void {
    this.#server = undefined;
    if (this.#releasing !== undefined) return;
    this.#restarting ??= this.#restart().finally(() => {
      this.#restarting = undefined;
    });
  }

  /** Other processes of the data directory do the same. The lock lets one start the server, and the others join it. */
  async #restart(): Promise<void> {
    const { log } = this.#directories;
    log.warn('database.embedded.lost', 'embedded database server exited; restarting it');
    for (let pauseMs = 100; this.#server === undefined && this.#releasing === undefined; pauseMs *= 2) {
      try {
        await this.#join();
        log.info('database.embedded.revived', 'embedded database server restarted');
      } catch (error) {
        log.error('database.embedded.lost', 'embedded database server failed to start', describeError(error));
        await delay(Math.min(pauseMs, MAX_PAUSE_MS));
      }
    }
  }

  async #release(): Promise<void> {
    await this.#restarting;
    try {
      await withLock(this.#lock, LOCK_WAIT_MS, () => this.#leave());
    } catch (error) {
      // No data is lost if the server keeps running. The next start joins it.
      this.#directories.log.warn(
        'database.embedded.left',
        'embedded database server was not stopped',
        describeError(error),
      );
      await this.#server?.control.close();
    }
  }

  async #leave(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const isShared = await hasOtherUsers(server.control);
    await server.control.close();
    if (isShared) return;
    const isStopped = await stopPostmaster(server.cluster, server.account, STOP_WAIT_MS);
    if (!isStopped) this.#directories.log.warn('database.embedded.left', 'embedded database server is slow to stop');
  }
}

/**
 * Returns whether another process uses the server. The server lists a killed process for a short time. If none of the
 * listed processes is running, this waits for the server to notice.
 */
async function hasOtherUsers(control: JoinedServer['control']): Promise<boolean> {
  const deadline = performance.now() + ENDED_USER_WAIT_MS;
  for (;;) {
    const others = await control.listOthers();
    if (others.length === 0) return false;
    if (performance.now() > deadline || others.some((pid) => processIdentity(pid) !== undefined)) return true;
    await delay(ENDED_USER_POLL_MS);
  }
}

function noteOf(directories: ServerDirectories, account: string, cluster: string): string {
  return `system user "${account}" of the database server has no access to ${directories.dataDir}, so the database is stored in ${cluster}`;
}
