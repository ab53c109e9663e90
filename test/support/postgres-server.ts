import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asAccount, findServerAccount } from '#platform/embedded-postgres/account.ts';
import { findBinaries } from '#platform/embedded-postgres/binaries.ts';

const run = promisify(execFile);

/** A PostgreSQL server of the tests' own: real, thrown away afterwards, without fsync. */
export interface PostgresServer {
  /** Connects as a superuser to the database `postgres` through a private socket. */
  readonly uri: string;
  start(): Promise<void>;
  /** Ends the sessions and shuts down cleanly. */
  stop(): Promise<void>;
  /** Ends it as a crash would: SIGKILL to the server and its children. */
  kill(): Promise<void>;
  /** Stops all of its processes where they are, as a cut network would: no answer, no end of the connection. */
  freeze(): void;
  thaw(): void;
  /** Stops it and deletes its files. */
  remove(): Promise<void>;
}

export interface ServerOptions {
  /** Lines added to postgresql.conf. */
  readonly settings?: readonly string[];
}

const PORT = 5432;
const USER = 'tests';

/** Makes and starts a server: the bundled one, else one on the `PATH`. */
export async function startPostgresServer(options: ServerOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-pg-'));
  const account = await findServerAccount(undefined, undefined);
  if (!account.isOwn) chownSync(directory, account.uid, account.gid);
  const programs = join(directory, 'programs');
  // The ones that users get, found as the program finds them.
  const { binaries } = await findBinaries({
    binDir: undefined,
    account,
    ownDirectory: async () => {
      await mkdir(programs, { recursive: true });
      return programs;
    },
  });
  const files = join(directory, 'data');
  const identity = { ...asAccount(account, binaries.libraryPath), cwd: directory };
  await run(
    binaries.initdb,
    ['-D', files, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    identity,
  );
  const settings = ['listen_addresses=', `unix_socket_directories=${directory}`, `port=${PORT}`, 'fsync=off']
    .concat('max_connections=200', 'shared_buffers=64MB', 'logging_collector=off', options.settings ?? [])
    .flatMap((setting) => ['-c', setting]);
  let ended: Promise<unknown> = Promise.resolve();
  let signal: (name: NodeJS.Signals) => void = () => {};
  let signalAll = signal;

  async function start(): Promise<void> {
    const child = spawn(binaries.postgres, ['-D', files, ...settings], {
      ...identity,
      detached: true,
      stdio: 'ignore',
    });
    child.unref();
    ended = new Promise((resolve) => child.once('exit', resolve));
    const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
    signal = (name) => {
      // Whoever ends it waits for its end.
      child.ref();
      if (isRunning()) child.kill(name);
    };
    signalAll = (name) => {
      // Each child leads a group of its own; children that outlive the server forbid a new start.
      if (isRunning() && child.pid !== undefined) for (const pid of withChildren(child.pid)) signalOne(pid, name);
    };
    await waitUntil(() => isReady(files), 'the server to accept connections');
  }

  const cleanUp = (): void => {
    signalAll('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', cleanUp);
  await start();
  return {
    uri: `postgresql://${USER}@${encodeURIComponent(directory)}:${PORT}/postgres`,
    start,
    stop: async () => {
      signal('SIGINT');
      await ended;
    },
    kill: async () => {
      signalAll('SIGKILL');
      signal('SIGKILL');
      await ended;
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    remove: async () => {
      signal('SIGQUIT');
      await ended;
      process.removeListener('exit', cleanUp);
      cleanUp();
    },
  };
}

function withChildren(pid: number): number[] {
  try {
    const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    return [pid, ...children.trim().split('\n').map(Number)];
  } catch {
    return [pid];
  }
}

function signalOne(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

function isReady(files: string): boolean {
  try {
    return readFileSync(join(files, 'postmaster.pid'), 'utf8').split('\n')[7]?.startsWith('ready') === true;
  } catch {
    return false;
  }
}

/** Waits for a condition of the outside world; throws after ten seconds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
