/** Starts the server process: socket directory, settings, log file, and waiting until it responds. */
import { spawn } from 'node:child_process';
import { chown, type FileHandle, mkdir, mkdtemp, open, readlink, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { type Account, asAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { type ControlConnection, connectControl } from './control-connection.ts';
import { lstatIfThere, symlinkUnlessThere } from './file-system.ts';
import { readPostmaster } from './postmaster.ts';

const POLL_MS = 5;
/** Recovering the largest write-ahead log that the settings allow takes seconds. */
export const START_TIMEOUT_MS = 120_000;
const MAX_LOG_BYTES = 1024 * 1024;
const PROBLEM = /\b(FATAL|PANIC|ERROR|HINT|DETAIL|error while loading|No space left on device)\b/;
/** Some systems limit socket paths to 104 bytes, including `/.s.PGSQL.5432` and a terminating zero byte. */
const MAX_SOCKET_DIRECTORY_BYTES = 104 - '/.s.PGSQL.5432'.length - 1;

export interface LaunchOptions {
  readonly cluster: string;
  readonly socketDirectory: string;
  readonly serverLog: string;
  readonly binaries: Binaries;
  readonly account: Account;
}

/**
 * Starts a server and waits until it responds. The server runs in a separate session, so that an interrupt from a
 * terminal does not reach it. Its output goes to a file, since the reader of a pipe could exit first.
 * @returns the connection, or the server's messages if it exited
 * @throws ExitError 75 if it neither responds nor exits
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
    failure ??= `exited with ${signal ?? `code ${code}`}`;
  });
  child.unref();
  await file.close();
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (failure !== undefined) return `${failure}\n  ${await readServerLog(serverLog, position)}`;
    // Connecting before the server is ready would add a FATAL line to its log.
    const postmaster = await readPostmaster(cluster);
    if (postmaster?.isReady === true && postmaster.pid === child.pid) {
      const control = await connectControl(socketDirectory, onLost);
      if (typeof control === 'object') return control;
    }
    if (performance.now() > deadline) {
      throw new ExitError(
        ExitCode.tempFail,
        `the embedded PostgreSQL (process ${child.pid}) is not ready yet; see ${serverLog}`,
      );
    }
    await delay(POLL_MS);
  }
}

/**
 * Creates the private directory of the server's socket, with mode 0700 and owned by the server's account. By default it
 * is `run`. If that path is too long for a socket, a directory with a short path is used, and `run` is a link to it.
 */
export async function makeSocketDirectory(run: string, account: Account): Promise<string> {
  const entry = await lstatIfThere(run);
  if (entry?.isSymbolicLink() === true) {
    const recorded = await readlink(run);
    if (await isPrivate(recorded, account)) return recorded;
    // A reboot deletes such directories, and another account may have created one with the same name since.
    await rm(run);
  } else if (Buffer.byteLength(run) <= MAX_SOCKET_DIRECTORY_BYTES) {
    if (entry === undefined) {
      await mkdir(run, { mode: 0o700 });
      if (!account.isOwn) await chown(run, account.uid, account.gid);
    }
    return run;
  }
  const base =
    Buffer.byteLength(tmpdir()) <= MAX_SOCKET_DIRECTORY_BYTES - '/latchkey-XXXXXX'.length ? tmpdir() : '/tmp';
  const short = await mkdtemp(join(base, 'latchkey-'));
  try {
    if (!account.isOwn) await chown(short, account.uid, account.gid);
    await symlinkUnlessThere(short, run);
  } catch (error) {
    await rm(short, { recursive: true, force: true });
    throw error;
  }
  return short;
}

async function isPrivate(directory: string, account: Account): Promise<boolean> {
  const entry = await lstatIfThere(directory);
  return entry?.isDirectory() === true && entry.uid === account.uid && (entry.mode & 0o077) === 0;
}

/**
 * The server's settings: durable, small, no user data in the log, and reachable only through its socket. They are
 * passed on the command line, so that each start uses the settings of the program that starts it.
 */
function serverSettings(major: number, socketDirectory: string): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '200',
    // Durability is not configurable (operations 1.8).
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // Without replicas and archiving, the write-ahead log is as small as possible.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    min_wal_size: '32MB',
    max_wal_size: '256MB',
    shared_buffers: '64MB',
    huge_pages: 'off',
    work_mem: '4MB',
    maintenance_work_mem: '32MB',
    effective_cache_size: '256MB',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and their values must not reach the log. ERROR lines are off, since callers report those errors, and
    // errors that end a session are logged without details.
    logging_collector: 'off',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length_on_error: '0',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    // Saves three processes. The tables fit into memory.
    ...(major >= 18 ? { io_method: 'sync' } : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Opens the file for the server's output. A large file is first renamed to `server.log.1`. */
async function openServerLog(path: string): Promise<{ file: FileHandle; position: number }> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  const isTooLarge = size > MAX_LOG_BYTES;
  if (isTooLarge) await rename(path, `${path}.1`);
  return { file: await open(path, 'a', 0o600), position: isTooLarge ? 0 : size };
}

/** Returns the server's output since `position`: its error messages if there are any, else its last lines. */
async function readServerLog(path: string, position: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16 * 1024), 0, 16 * 1024, position);
    const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
    const problems = lines.filter((line) => PROBLEM.test(line));
    return (problems.length > 0 ? problems : lines).slice(-5).join('\n  ');
  } finally {
    await file.close();
  }
}
