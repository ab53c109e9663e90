/** The program with sockets of a service manager (operations 1.7.2, 10.3), as systemd's own tool passes them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { NODE_FLAGS, stopProcess, untilHealthy } from '../support/program.js';

const TOOL = 'systemd-socket-activate';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-inherited-'));
  // The database server's own account has to get through when the tests run as root.
  chmodSync(folder, 0o711);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function statusAt(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path: '/health', agent: false }, ({ statusCode }) => resolve(statusCode)).on('error', reject);
  });
}

/** Starts the program at the first connection, with a TCP and a Unix socket. */
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

describe.skipIf(spawnSync(TOOL, ['--version']).status !== 0)('sockets of systemd', () => {
  test('TCP by name and Unix by position are served', async () => {
    const { child, base, output, path } = await activate('unix');
    await untilHealthy(child, base, { output, timeoutMs: 40_000 });
    expect(await statusAt(path)).toBe(200);
    expect(await stopProcess(child)).toBe(0);
  });

  test('one of another kind than the configuration says ends the start with exit code 78', async () => {
    const { child, base, output } = await activate('tcp');
    const ended = new Promise((resolve) => child.once('close', resolve));
    const ask = setInterval(() => void fetch(base).catch(() => {}), 200);
    expect(await ended).toBe(78);
    clearInterval(ask);
    expect(output()).toContain('inherited socket 1 is not a tcp socket that listens');
  });
});
