/** Security S-175 and S-187: what connections can consume of the whole process. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';
import { until } from '../support/route-server.ts';

const OPEN_FILES = 200;
/** The program alone opens more files. */
const TOO_FEW_FILES = 64;
/** Connections that the program keeps accepting, however low the limit. */
const FEWEST_CONNECTIONS = 8;
const GET = 'GET /.well-known/openid-configuration HTTP/1.1\r\nHost: x\r\n\r\n';
/** Bytes that each connection of S-175 writes, unless the server closes it earlier. */
const WRITTEN_BYTES = 8_000_000;
/** Maximum duration of the attack: the writer blocks once the service stops reading. */
const ATTACK_MS = 5000;

let folder: string;
let logFile: string;
let port: number;
let service: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-limits-'));
  // The database server's account must be able to enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  logFile = join(folder, 'latchkey.log');
  port = await freePort();
  const listener = { resources: ['discovery', 'human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] };
  const program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: { public_base: `http://127.0.0.1:${port}`, listeners: [listener] },
    logging: { output: logFile },
  });
  service = await program.serve(`http://127.0.0.1:${port}/`, { openFiles: OPEN_FILES });
});

afterAll(async () => {
  const code = await stopProcess(service);
  rmSync(folder, { recursive: true, force: true });
  expect(code).toBe(0);
});

async function statusOf(path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).status;
}

/** Returns the resident memory of the service in bytes. */
function residentMemory(): number {
  const [, kib = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

function openFiles(): number {
  return readdirSync(`/proc/${service.pid}/fd`).length;
}

function open(): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}

/**
 * Writes requests without reading responses, until `WRITTEN_BYTES` are sent. Reconnects whenever the server closes the
 * connection.
 */
async function pipelineWithoutReading(): Promise<void> {
  const batch = GET.repeat(1000);
  const giveUp = new Promise<'over'>((resolve) => setTimeout(() => resolve('over'), ATTACK_MS));
  let written = 0;
  while (written < WRITTEN_BYTES) {
    const socket = open();
    socket.pause();
    const cut = new Promise<'cut'>((resolve) => socket.once('close', () => resolve('cut')));
    let outcome: 'cut' | 'over' | 'written' = 'written';
    while (outcome === 'written' && written < WRITTEN_BYTES) {
      written += batch.length;
      const sent = new Promise<'written'>((resolve) => socket.write(batch, () => resolve('written')));
      outcome = await Promise.race([cut, giveUp, sent]);
    }
    socket.destroy();
    if (outcome === 'over') return;
  }
}

describe('pipelined requests whose responses are not read (S-175)', () => {
  test.each([1, 3, 10])(
    'on %i connections: memory stays within 1.5 times its start, and other clients are served',
    async (count) => {
      // Warms the service up, so that the baseline includes the memory needed to serve requests.
      for (let round = 0; round < 200; round += 1) await statusOf('/.well-known/openid-configuration');
      const before = residentMemory();
      let isOver = false;
      const attack = Promise.all(Array.from({ length: count }, pipelineWithoutReading)).finally(() => {
        isOver = true;
      });
      let most = 0;
      while (!isOver) {
        expect(await statusOf('/health')).toBe(200);
        most = Math.max(most, residentMemory());
      }
      await attack;
      expect(most / before).toBeLessThan(1.5);
    },
    60_000,
  );
});

describe('exhausted file descriptors (S-187)', () => {
  test('400 idle connections at a limit of 200: logged, and honest requests are answered', async () => {
    const sockets = Array.from({ length: 400 }, (_, index) => {
      const socket = open();
      // Half of them have sent a request, half nothing.
      if (index % 2 === 0) socket.write(GET);
      socket.resume();
      return socket;
    });
    let closed = 0;
    for (const socket of sockets) {
      socket.once('close', () => {
        closed += 1;
      });
    }
    for (let round = 0; round < 20; round += 1) {
      expect(await statusOf('/health')).toBe(200);
      expect(await statusOf('/login')).toBe(200);
    }
    await until(() => closed >= 200);
    const [, limit, text = ''] =
      / WARN http\.descriptors\.exhausted .*raise the limit of open files.* limit=(\d+) connections=(\d+)/.exec(
        readFileSync(logFile, 'utf8'),
      ) ?? [];
    expect(limit).toBe(String(OPEN_FILES));
    expect(Number(text)).toBeGreaterThan(50);
    expect(sockets.length - closed).toBeGreaterThan(50);
    for (const socket of sockets) socket.destroy();
  }, 60_000);

  test('F-13: a limit lowered below the open count: idle connections are closed, honest requests answered', async () => {
    // The files of the languages stay open.
    const lowered = 60 + BUNDLED_LANGUAGES.length;
    let isOver = false;
    const sockets = new Set<Socket>();
    // Takes every freed connection immediately, so that none is left for measuring. Connections that have sent a
    // request may stay open longer.
    const hold = (): void => {
      const socket = open().resume();
      socket.write(GET);
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        if (!isOver) setTimeout(hold, 1);
      });
    };
    for (let count = 0; count < OPEN_FILES / 2; count += 1) hold();
    await until(() => openFiles() > OPEN_FILES / 2);
    execFileSync('prlimit', ['--pid', String(service.pid), `--nofile=${lowered}`]);
    await until(() => openFiles() < lowered);
    isOver = true;
    await until(() => sockets.size <= FEWEST_CONNECTIONS);
    for (let round = 0; round < 20; round += 1) expect(await statusOf('/login')).toBe(200);
    for (const socket of sockets) socket.destroy();
  }, 60_000);
});

test('F-13: a start with a file limit that is too low exits with 71 and says what to change', async () => {
  const refused = new Program(folder, { data_dir: join(folder, 'refused') }, { name: 'refused.json' }).launch(
    ['serve'],
    {
      openFiles: TOO_FEW_FILES,
    },
  );
  let said = '';
  refused.stderr?.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const code = await new Promise((resolve) => refused.once('close', resolve));
  expect(said).toMatch(/^latchkey: too many open files: .*ulimit -n/m);
  expect(code).toBe(71);
});
