/** The program with sockets from a service manager (operations 1.7.2, 10.3), passed by systemd's own tool. */
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { NODE_FLAGS, Program, stopProcess, untilHealthy } from '../support/program.js';
import { servingProcesses } from '../support/serving-processes.ts';

const TOOL = 'systemd-socket-activate';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-inherited-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function statusAt(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path: '/health', agent: false }, ({ statusCode }) => resolve(statusCode)).on('error', reject);
  });
}

/** Starts the program on the first connection, with a TCP and a Unix socket. */
async function activate(kind: 'tcp' | 'unix') {
  const [port, path] = [await freePort(), join(folder, `${kind}.sock`)];
  const listeners = [
    { name: 'web', resources: ['discovery', 'human', 'health'], binds: [{ fd_name: 'web' }] },
    { name: 'local', resources: ['health'], binds: [{ fd: 1, kind }] },
  ];
  const http = { public_base: `http://127.0.0.1:${port}/`, listeners };
  const file = join(folder, 'latchkey.json');
  writeFileSync(file, JSON.stringify({ data_dir: join(folder, 'data'), http }), { mode: 0o600 });
  const sockets = ['-l', `127.0.0.1:${port}`, '-l', path, '--fdname=web:local'];
  const program = [process.execPath, ...NODE_FLAGS, resolve('dist/main.js'), '--config', file, 'serve'];
  const child: ChildProcess = spawn(TOOL, [...sockets, ...program], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (text) => {
    output += String(text);
  });
  return { child, path, base: http.public_base, output: () => output };
}

describe.skipIf(spawnSync(TOOL, ['--version']).status !== 0)('systemd sockets', () => {
  test('TCP by name and Unix by position are served', async () => {
    const { child, base, output, path } = await activate('unix');
    await untilHealthy(child, base, { output, timeoutMs: 40_000 });
    expect(await statusAt(path)).toBe(200);
    expect(await stopProcess(child)).toBe(0);
  });

  test('a socket of another kind than configured ends the start with exit code 78', async () => {
    const { child, base, output } = await activate('tcp');
    const ended = new Promise((resolve) => child.once('close', resolve));
    const ask = setInterval(() => void fetch(base).catch(() => {}), 200);
    expect(await ended).toBe(78);
    clearInterval(ask);
    expect(output()).toContain('inherited socket 1 is not a listening tcp socket');
  });
});

/** Opens a listening socket. @returns the server and the descriptor to pass to another process */
async function listening(place: ListenOptions): Promise<{ server: Server; descriptor: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(place, resolve));
  const handle: unknown = Reflect.get(server, '_handle');
  const descriptor = typeof handle === 'object' && handle !== null && 'fd' in handle ? Number(handle.fd) : -1;
  return { server, descriptor };
}

describe('service manager sockets with several serving processes (http.workers)', () => {
  let service: ChildProcess;
  let base: string;
  let path: string;
  let output = '';
  const log = (): string => readFileSync(join(folder, 'log'), 'utf8');
  const members = (): readonly number[] => servingProcesses(service.pid);
  const ask = async (): Promise<void> => {
    const page = await fetch(`${base}login`, { headers: { connection: 'close' } });
    expect([page.status, await statusAt(path)]).toEqual([200, 200]);
  };

  beforeAll(async () => {
    path = join(folder, 'several.sock');
    const port = await freePort();
    base = `http://127.0.0.1:${port}/`;
    const web = await listening({ port, host: '127.0.0.1' });
    const local = await listening({ path: `${path}.tmp` });
    // Renamed, because closing the server here removes the original path.
    renameSync(`${path}.tmp`, path);
    const program = new Program(folder, {
      data_dir: join(folder, 'data'),
      http: {
        ...{ public_base: base, workers: 2 },
        listeners: [
          { name: 'web', resources: ['human', 'health'], binds: [{ fd_name: 'web' }] },
          { name: 'local', resources: ['health'], binds: [{ fd: 2, kind: 'unix' }] },
        ],
      },
      logging: { output: join(folder, 'log') },
    });
    // The second socket is not used.
    service = program.launch(['serve'], {
      environment: { LISTEN_FDS: '3', LISTEN_FDNAMES: 'web:other:local' },
      stdio: ['ignore', 'ignore', 'pipe', web.descriptor, 'ignore', local.descriptor],
    });
    service.stderr?.on('data', (text) => {
      output += String(text);
    });
    for (const { server } of [web, local]) server.close();
    await untilHealthy(service, base, { output: () => output });
  });

  afterAll(() => service.kill('SIGKILL'));

  test('all of them accept connections from each socket', async () => {
    await expect.poll(log, { timeout: 60_000 }).toContain('ready at');
    expect(members()).toHaveLength(2);
    expect(log()).toMatch(/listener web on 127\.0\.0\.1:\d+ /);
    const served = (): number | undefined => log().match(/ GET-1 - /g)?.length;
    const seen = async (): Promise<number | undefined> => {
      await Promise.all(Array.from({ length: 30 }, ask));
      return served();
    };
    await expect.poll(seen, { timeout: 30_000 }).toBe(2);
  });

  test('pending connections are served after all processes died at once, by their replacements', async () => {
    const killed = members();
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    // New processes may already have started.
    await expect.poll(() => members().filter((pid) => killed.includes(pid))).toEqual([]);
    await ask();
    await expect.poll(() => log().match(/ process\.started /g)?.length, { timeout: 30_000 }).toBe(2);
    await Promise.all(Array.from({ length: 30 }, ask));
  });

  test('a signal ends all of them with exit 0', async () => {
    expect(await stopProcess(service)).toBe(0);
    expect(members()).toEqual([]);
    expect(output).toBe('');
  });
});

test.each([
  ['one that is not open', 900, 71, 'cannot listen on inherited socket 900: EBADF'],
  ['one that is not a socket', 0, 78, 'inherited socket 0 is not a listening tcp socket'],
])('%s is refused before any process starts', async (_what, fd, exitCode, reason) => {
  const program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: { workers: 2, listeners: [{ resources: ['human'], binds: [{ fd }] }] },
  });
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ignore'];
  const run = program.launch(['serve'], { environment: { LISTEN_FDS: '1000' }, stdio });
  let said = '';
  run.stderr?.on('data', (text) => {
    said += String(text);
  });
  expect(await new Promise((resolve) => run.once('close', resolve))).toBe(exitCode);
  expect(said).toContain(reason);
});
