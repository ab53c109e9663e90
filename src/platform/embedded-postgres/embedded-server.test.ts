import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { packageRoot } from '#platform/base/package-root.ts';
import { buildProgram, runProgram } from '#test/start/program.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { ADMINISTRATOR, SERVICE_DATABASE, SERVICE_ROLE } from './cluster.ts';
import {
  type EmbeddedConnection,
  type EmbeddedServerOptions,
  type EmbeddedUse,
  useEmbeddedServer,
} from './embedded-server.ts';
import { isPostmasterAlive, readPostmaster } from './postmaster.ts';

const isRoot = process.getuid?.() === 0;
let parent: string;
let dataDir: string;
let uses: EmbeddedUse[] = [];

function makeParent(mode = 0o755): void {
  parent = mkdtempSync(join(tmpdir(), 'latchkey-embedded-'));
  chmodSync(parent, mode);
  dataDir = join(parent, 'data');
}

async function releaseAll(): Promise<void> {
  await Promise.all(uses.map((use) => use.release()));
  uses = [];
}

/** Released at the end of the test, unless the test releases it. */
async function use(options: Partial<EmbeddedServerOptions> = {}): Promise<EmbeddedUse> {
  const made = await useEmbeddedServer({ dataDir, log: silentLog, ...options });
  uses.push(made);
  return made;
}

async function query<Row extends pg.QueryResultRow>(target: EmbeddedConnection, text: string): Promise<Row[]> {
  const client = new pg.Client({ ...target, ssl: false });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function serverPid(directory = join(dataDir, 'db')): Promise<number> {
  return (await readPostmaster(directory))?.pid ?? 0;
}

const isServerAlive = (pid: number): Promise<boolean> => isPostmasterAlive(pid, join(dataDir, 'db'));

/** Kills the server and all its child processes. */
function killServer(pid: number): void {
  const children = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parentPid]) => parentPid === pid)
    .flatMap(([child]) => child ?? []);
  for (const each of [pid, ...children]) process.kill(each, 'SIGKILL');
}

async function until(condition: () => Promise<boolean>, milliseconds: number): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not so after ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const mode = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);

describe('embedded server: lifecycle of a data directory (operations 2.3)', () => {
  beforeAll(() => makeParent());
  afterEach(releaseAll);
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  test('the first start creates a durable UTF-8 cluster that listens on no network', async () => {
    const { administrator } = await use();
    const settings = await query<{ name: string; setting: string }>(
      administrator,
      `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes',
         'data_checksums', 'listen_addresses', 'wal_level', 'server_encoding') order by name`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
      wal_level: 'minimal',
    });
  });

  test('the service role is not a superuser and owns its database, with locale C', async () => {
    const { connection } = await use();
    const rows = await query(
      connection,
      `select current_user as role, rolsuper or rolcreaterole or rolcreatedb or rolreplication as is_powerful,
              pg_get_userbyid(datdba) as owner, datcollate
       from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
    );
    expect(rows).toEqual([{ role: 'latchkey', is_powerful: false, owner: 'latchkey', datcollate: 'C' }]);
  });

  test('other accounts cannot access files, socket directory and log', async () => {
    await use();
    expect(mode(join(dataDir, 'db'))).toBe('700');
    expect(mode(join(dataDir, 'run'))).toBe('700');
    expect(mode(join(dataDir, 'server.log'))).toBe('600');
    expect(mode(dataDir)).toBe(isRoot ? '711' : '700');
  });

  test.skipIf(!isRoot)('rejects another account that can reach the socket', async () => {
    const { administrator } = await use();
    chmodSync(join(dataDir, 'run'), 0o755);
    chmodSync(join(dataDir, 'run/.s.PGSQL.5432'), 0o777);
    const script = `
      const { createConnection } = require('node:net');
      const user = 'user\\0${administrator.user}\\0database\\0postgres\\0\\0';
      const head = Buffer.alloc(8); head.writeInt32BE(8 + user.length, 0); head.writeInt32BE(196608, 4);
      const socket = createConnection('${administrator.host}/.s.PGSQL.5432', () => socket.write(Buffer.concat([head, Buffer.from(user)])));
      socket.on('data', (data) => { process.stdout.write(data.toString('latin1')); socket.destroy(); });`;
    const response = execFileSync(process.execPath, ['-e', script], {
      uid: 12345,
      gid: 12345,
      cwd: '/',
      encoding: 'utf8',
    });
    chmodSync(join(dataDir, 'run'), 0o700);
    expect(response).toContain('Peer authentication failed');
  });

  test('the next start finds the existing data and creates no new cluster', async () => {
    const first = await use();
    await query(first.connection, 'create table kept as select 42 as answer');
    await first.release();
    // initdb would write a new file in a new directory.
    const made = statSync(join(dataDir, 'db/PG_VERSION')).ino;
    const second = await use();
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(statSync(join(dataDir, 'db/PG_VERSION')).ino).toBe(made);
  });

  test('two uses share one server; only the last one to leave stops it', async () => {
    const [first, second] = [await use(), await use()];
    const pid = await serverPid();
    await first.release();
    expect(await isServerAlive(pid)).toBe(true);
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.release();
    expect(await isServerAlive(pid)).toBe(false);
    expect(existsSync(join(dataDir, 'db/postmaster.pid'))).toBe(false);
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  });

  test('a server killed under a running service restarts automatically with all committed data', async () => {
    const { connection } = await use();
    await use();
    await query(connection, 'create table survived as select 1 as one');
    process.kill(await serverPid(), 'SIGKILL');
    await until(
      () =>
        query(connection, 'select one from survived').then(
          (rows) => rows.length === 1,
          () => false,
        ),
      30_000,
    );
    const pid = await serverPid();
    await releaseAll();
    expect(await isServerAlive(pid)).toBe(false);
  }, 60_000);

  test('a process id of a dead server that was reused by another program does not prevent the start', async () => {
    const first = await use();
    killServer(await serverPid());
    await first.release();
    const owner = statSync(join(dataDir, 'db'));
    const stranger = spawn('sleep', ['60'], { uid: owner.uid, gid: owner.gid, cwd: '/' });
    const file = join(dataDir, 'db/postmaster.pid');
    if (!existsSync(file)) throw new Error('the test expects the file of the killed server');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(stranger.pid)));
    try {
      const again = await use();
      expect(await query(again.connection, 'select one from survived')).toEqual([{ one: 1 }]);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test('empty files, as new files can be after a power loss, do not prevent the start (F-04)', async () => {
    const first = await use();
    killServer(await serverPid());
    await first.release();
    for (const file of ['db/postmaster.pid', 'run/.s.PGSQL.5432.lock']) {
      if (!existsSync(join(dataDir, file))) throw new Error(`the test expects ${file} of the killed server`);
      writeFileSync(join(dataDir, file), '');
    }
    const again = await use();
    expect(await query(again.connection, 'select one from survived')).toEqual([{ one: 1 }]);
  });

  test('files of another major version: exit 78 naming both versions, and nothing changed', async () => {
    const file = join(dataDir, 'db/PG_VERSION');
    const written = readFileSync(file, 'utf8');
    writeFileSync(file, '14\n');
    await expect(use()).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(new RegExp(`PostgreSQL 14, .*PostgreSQL ${written.trim()}:`)),
    });
    writeFileSync(file, written);
    await use();
  });

  test('unrecoverable files: exit 70 with the server’s messages, and nothing changed', async () => {
    const file = join(dataDir, 'db/global/pg_control');
    const written = readFileSync(file);
    writeFileSync(file, Buffer.alloc(written.length, 1));
    await expect(use()).rejects.toMatchObject({
      exitCode: 70,
      message: expect.stringMatching(/FATAL.*\n.*restore a backup/s),
    });
    expect(readFileSync(file).equals(Buffer.alloc(written.length, 1))).toBe(true);
    writeFileSync(file, written);
    await use();
  });
});

describe('embedded server: first starts', () => {
  beforeEach(() => makeParent());
  afterEach(async () => {
    await releaseAll();
    rmSync(parent, { recursive: true, force: true });
  });

  test('two simultaneous starts in a fresh directory: one creates the files, both get the same server', async () => {
    const [first, second] = await Promise.all([use(), use()]);
    expect(first.connection).toEqual(second.connection);
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readdirSync(dataDir).sort()).toEqual(['db', 'lock', 'run', 'server.log'].filter((name) => name !== 'lock'));
  });

  test('removes the remains of a killed first start', async () => {
    const left = join(dataDir, 'db.0123456789ab.tmp');
    mkdirSync(left, { recursive: true });
    await use();
    expect(existsSync(left)).toBe(false);
  });

  test('a path too long for a socket name: the socket is in a short private directory that the next start finds', async () => {
    dataDir = join(parent, 'long-'.repeat(24), 'data');
    const first = await use();
    expect(first.connection.host.length).toBeLessThan(90);
    expect(mode(first.connection.host)).toBe('700');
    expect(readlinkSync(join(dataDir, 'run'))).toBe(first.connection.host);
    await first.release();
    const second = await use();
    expect(second.connection.host).toBe(first.connection.host);
    await second.release();
    rmSync(second.connection.host, { recursive: true });
  });

  test('no programs in bin_dir: exit 69', async () => {
    await expect(use({ binDir: parent })).rejects.toMatchObject({ exitCode: 69 });
  });

  test('a directory with other files: exit 78, files untouched', async () => {
    mkdirSync(join(dataDir, 'db'), { recursive: true });
    writeFileSync(join(dataDir, 'db/thesis.txt'), 'mine');
    await expect(use()).rejects.toMatchObject({ exitCode: 78 });
    expect(readdirSync(join(dataDir, 'db'))).toEqual(['thesis.txt']);
  });
});

describe.skipIf(!isRoot)('embedded server: run as root', () => {
  beforeEach(() => makeParent(0o700));
  afterEach(async () => {
    await releaseAll();
    rmSync(parent, { recursive: true, force: true });
  });

  test('below a directory closed to the server’s account: stores the files outside and informs the operator', async () => {
    const state = mkdtempSync(join(tmpdir(), 'latchkey-state-'));
    const stateDirectory = join(state, 'latchkey');
    chmodSync(state, 0o755);
    try {
      const first = await use({ stateDirectory });
      const apart = readlinkSync(join(dataDir, 'db'));
      expect(apart.startsWith(`${stateDirectory}/`)).toBe(true);
      expect(first.note).toContain(apart);
      await query(first.connection, 'create table kept as select 42 as answer');
      await first.release();
      expect(await isPostmasterAlive(await serverPid(apart), apart)).toBe(false);
      const second = await use({ stateDirectory });
      expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
      await second.release();
      // After its deletion, a data directory must not return with the rows of the old one.
      rmSync(dataDir, { recursive: true });
      const fresh = await use({ stateDirectory });
      await expect(query(fresh.connection, 'select answer from kept')).rejects.toThrow('does not exist');
      await releaseAll();
    } finally {
      rmSync(state, { recursive: true, force: true });
    }
  });

  test('a nonexistent account or root: exit 78', async () => {
    await expect(use({ serverUser: 'no-such-account' })).rejects.toMatchObject({ exitCode: 78 });
    await expect(use({ serverUser: 'root' })).rejects.toMatchObject({ exitCode: 78 });
  });
});

describe('embedded server: killed processes (security F-03)', () => {
  let program: Awaited<ReturnType<typeof buildProgram>>;

  beforeAll(async () => {
    makeParent();
    program = await buildProgram(join(packageRoot, 'test/start/server-user.ts'));
  });
  afterEach(releaseAll);
  afterAll(() => {
    program.remove();
    rmSync(parent, { recursive: true, force: true });
  });

  const start = () => runProgram(process.execPath, [program.file, dataDir]);

  async function missingRows(connection: EmbeddedConnection, output: string): Promise<string[]> {
    const acknowledged = [...output.matchAll(/acknowledged (\d+)\./g)].map((match) => match[1] ?? '');
    expect(acknowledged.length).toBeGreaterThan(0);
    const rows = await query<{ number: string }>(connection, 'select number from acknowledged');
    const stored = new Set(rows.map((row) => row.number));
    return acknowledged.filter((number) => !stored.has(number));
  }

  test('two processes start at once in a fresh directory, and the last one to end stops the server', async () => {
    const [first, second] = [start(), start()];
    await Promise.all([first.says('ready'), second.says('ready')]);
    const pid = await serverPid();
    first.process.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(await isServerAlive(pid)).toBe(true);
    second.process.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    expect(await isServerAlive(pid)).toBe(false);
  });

  test('the service alone is killed: the next start joins its server and stops it', async () => {
    const killed = start();
    await killed.says(/acknowledged \d+\./);
    const pid = await serverPid();
    killed.process.kill('SIGKILL');
    await killed.ended;
    expect(await isServerAlive(pid)).toBe(true);
    const adopted = await use();
    expect(await serverPid()).toBe(pid);
    expect(await missingRows(adopted.connection, killed.output())).toEqual([]);
    await adopted.release();
    expect(await isServerAlive(pid)).toBe(false);
  });

  test('service and server killed together, five times: every acknowledged row exists after each start', async () => {
    for (let round = 0; round < 5; round += 1) {
      const killed = start();
      await killed.says(/acknowledged \d+\./);
      killServer(await serverPid());
      killed.process.kill('SIGKILL');
      await killed.ended;
      const next = await use();
      expect(await missingRows(next.connection, killed.output())).toEqual([]);
      await next.release();
    }
  });

  test('the service is killed before creating its role and database: the process that joins creates them', async () => {
    const { connection } = await use();
    const administrator = { ...connection, user: ADMINISTRATOR, database: 'postgres' };
    await query(administrator, `drop database ${SERVICE_DATABASE}`);
    await query(administrator, `drop role ${SERVICE_ROLE}`);
    const next = await use();
    expect(await query(next.connection, 'select current_user as role')).toEqual([{ role: SERVICE_ROLE }]);
  });

  test('after a first start killed at any moment the next one succeeds', async () => {
    for (const milliseconds of [40, 120, 250, 400, 600]) {
      rmSync(dataDir, { recursive: true, force: true });
      const killed = start();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      killed.process.kill('SIGKILL');
      await killed.ended;
      const next = await use();
      expect(await query(next.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
      await next.release();
    }
  }, 60_000);
});
