import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LogFields } from '#platform/base/log.ts';
import { resumeTask, Task } from '#platform/base/tasks.ts';
import { Rejections } from '#platform/http/connection-warnings.ts';
import { leastOf } from '#test/support/measuring.ts';
import { until } from '#test/support/route-server.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import { DescriptorSink } from './descriptor-sink.ts';
import { LogWriter, type LogWriterOptions, openLog, Timestamps } from './log-writer.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-log-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

function writer(options: Partial<LogWriterOptions> = {}): { log: LogWriter; lines: string[] } {
  const lines: string[] = [];
  const log = new LogWriter({
    sink: { write: (line) => lines.push(line) },
    clock: { now: () => Date.parse('2026-06-17T10:49:22.419Z') },
    level: 'info',
    targetLevels: {},
    format: 'text',
    padLevel: false,
    hasColor: false,
    ...options,
  });
  return { log, lines };
}

/** Runs `run` like a request's code. Resolves outside the task. */
function asTask(task: Task, run: () => void): Promise<void> {
  resumeTask(task, run);
  return new Promise((resolve) => setImmediate(resolve));
}

const TIME = '2026-06-17T10:49:22.';

describe('lines other than request lines (operations 5.3, 5.8)', () => {
  test('outside a request: time, level, event, message, fields', () => {
    const { log, lines } = writer();
    log.info('startup', 'listening', { address: '[::]:8080', count: 2, ok: true, none: undefined });
    expect(lines[0]).toMatch(
      new RegExp(`^${TIME}\\d{6}Z INFO startup listening address=\\[::\\]:8080 count=2 ok=true\n$`),
    );
  });

  test('on behalf of a request: its id and its trace', async () => {
    const { log, lines } = writer();
    const task = new Task('POST-71');
    task.traceId = 'c8c8fc32288a76693e028ee97a6030a0';
    await asTask(task, () => log.warn('db.slow', 'a statement was slow'));
    expect(lines[0]?.slice(28)).toBe(
      'WARN db.slow POST-71 - a statement was slow trace.id=c8c8fc32288a76693e028ee97a6030a0\n',
    );
  });

  test('nothing in a message or value can end the line or forge another field', () => {
    const { log, lines } = writer();
    log.error('error', 'a\nb\u2028c', {
      stack: 'x\n y "z" \\',
      path: 'a=b',
      empty: '',
      bidi: '\u202e',
      lone: '\ud800',
    });
    expect(lines[0]?.slice(28)).toBe(
      'ERROR error a\\nb\\u{2028}c stack="x\\n y \\"z\\" \\\\" path="a=b" empty="" bidi="\\u{202e}" lone="\\u{d800}"\n',
    );
  });

  test('JSON: one object on one line, in the order of operations 5.8', async () => {
    const { log, lines } = writer({ format: 'json' });
    await asTask(new Task('GET-1'), () => log.error('error', 'a\n\u2028\u202e"', { count: 2, text: '\ud800' }));
    expect(lines[0]).toMatch(/^[\x20-\x7e]*\n$/);
    const parsed = JSON.parse(lines[0] ?? '');
    expect(Object.keys(parsed)).toEqual(['timestamp', 'level', 'event', 'request_id', 'message', 'count', 'text']);
    expect(parsed).toMatchObject({
      level: 'ERROR',
      request_id: 'GET-1',
      message: 'a\n\u2028\u202e"',
      text: '\\u{d800}',
    });
  });

  test('a request line as JSON', async () => {
    const { log, lines } = writer({ format: 'json' });
    const task = new Task('GET-1');
    const record = {
      task,
      method: 'GET',
      path: '/a"b',
      httpVersion: '1.1',
      status: 404,
      userAgent: undefined,
      requester: { kind: 'homeserver' },
      clientAddress: '2001:db8::7',
      graphqlOperation: undefined,
    } as const;
    await asTask(task, () => log.request(record));
    const parsed = JSON.parse(lines[0] ?? '');
    expect(parsed).toMatchObject({
      level: 'WARN',
      event: 'http.server.response',
      request_id: 'GET-1',
      method: 'GET',
      path: '/a"b',
      protocol: 'HTTP/1.1',
      status: 404,
      reason: 'Not Found',
      user_agent: null,
      stats: { polls: 1, db_ms: 0, queries: 0, fetched: 0 },
      requester: 'homeserver',
      'client.address': '2001:db8::7',
    });
    expect(Object.keys(parsed).slice(0, 10)).toEqual(
      'timestamp level event request_id method path protocol status reason user_agent'.split(' '),
    );
  });

  test.each<[LogWriterOptions['level'], LogWriterOptions['targetLevels'], string[]]>([
    ['info', {}, ['db.lost', 'http.server.aborted', 'startup']],
    ['error', {}, ['db.lost']],
    ['debug', {}, ['db.lost', 'http.server.aborted', 'startup', 'detail']],
    ['error', { http: 'debug', 'http.server': 'warn' }, ['db.lost', 'http.server.aborted']],
    ['info', { db: 'error', detail: 'debug' }, ['db.lost', 'http.server.aborted', 'startup', 'detail']],
  ])('level %s with %o logs %o', (level, targetLevels, events) => {
    const { log, lines } = writer({ level, targetLevels });
    log.error('db.lost', 'x');
    log.warn('http.server.aborted', 'x');
    log.info('startup', 'x');
    log.debug('detail', 'x');
    expect(lines.map((line) => line.split(' ')[2])).toEqual(events);
  });

  test('levels are padded and colored only on request', () => {
    const padded = writer({ padLevel: true });
    padded.log.info('startup', 'x');
    expect(padded.lines[0]?.slice(27)).toBe('  INFO startup x\n');
    const colored = writer({ hasColor: true });
    colored.log.error('error', 'x');
    expect(colored.lines[0]?.slice(28)).toBe('\x1b[31mERROR\x1b[0m error x\n');
  });
});

describe('timestamps (operations 5.2)', () => {
  test('have six decimals and increase, within a millisecond of the wall clock', () => {
    const timestamps = new Timestamps({ now: () => Date.now() });
    const before = Date.now();
    const [first, second] = [timestamps.now(), timestamps.now()];
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(first <= second).toBe(true);
    expect(Date.parse(second)).toBeGreaterThan(before - 10);
    expect(Date.parse(second)).toBeLessThan(Date.now() + 10);
  });

  test('follow an adjusted wall clock, forwards and backwards', () => {
    const clock = { time: Date.parse('2026-12-31T23:59:59.999Z'), now: () => clock.time };
    const timestamps = new Timestamps(clock);
    expect(timestamps.now()).toMatch(/^2026-12-31T23:59:59\.999/);
    clock.time += 3_600_000;
    expect(timestamps.now()).toMatch(/^2027-01-01T00:59:59\.999/);
    clock.time -= 7_200_000;
    expect(timestamps.now()).toMatch(/^2026-12-31T22:59:59\.999/);
  });
});

describe('the sink (operations 5.9)', () => {
  const config = { level: 'info', targetLevels: {}, format: 'text', color: 'always', padLevel: false } as const;

  test('creates a file for its owner alone, appends to it, never in color, and writes within 20 ms', async () => {
    const path = join(directory, 'log');
    const { log } = openLog({ ...config, output: { path } });
    log.info('startup', 'one');
    expect(readFileSync(path, 'utf8')).toBe('');
    await until(() => readFileSync(path, 'utf8').endsWith('INFO startup one\n'));
    const waited = await leastOf(async () => {
      const { size } = statSync(path);
      const started = performance.now();
      log.info('startup', 'one');
      await until(() => statSync(path).size > size);
      return performance.now() - started;
    }, 30);
    expect(waited).toBeLessThanOrEqual(30);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('reopens a rotated file and loses no line', async () => {
    const path = join(directory, 'log');
    const opened = openLog({ ...config, output: { path } });
    opened.log.info('startup', 'one');
    renameSync(path, `${path}.1`);
    opened.reopen();
    opened.log.info('startup', 'two');
    await opened.sink.flush();
    expect(readFileSync(`${path}.1`, 'utf8')).toMatch(/one\n$/);
    expect(readFileSync(path, 'utf8')).toMatch(/^\S+ INFO startup two\n$/);
  });

  test('a new configuration changes level, format and file together, or nothing if the file cannot be opened', async () => {
    const [first, second] = [join(directory, 'log'), join(directory, 'other')];
    const opened = openLog({ ...config, output: { path: first } });
    opened.log.debug('startup', 'unwritten');
    expect(() =>
      opened.prepare({ ...config, level: 'debug', output: { path: join(directory, 'none', 'log') } }),
    ).toThrow();
    opened.log.debug('startup', 'unwritten');
    opened.log.info('startup', 'one');
    opened.prepare({ ...config, level: 'debug', format: 'json', output: { path: second } }).use();
    opened.log.debug('startup', 'two');
    await opened.sink.flush();
    expect(readFileSync(first, 'utf8')).toMatch(/^\S+ INFO startup one\n$/);
    expect(JSON.parse(readFileSync(second, 'utf8'))).toMatchObject({ level: 'DEBUG', message: 'two' });
  });

  test('lines written at process exit are not lost', () => {
    const path = join(directory, 'log');
    const { log, sink } = openLog({ ...config, output: { path } });
    log.info('startup', 'last');
    sink.flushSync();
    expect(readFileSync(path, 'utf8')).toMatch(/last\n$/);
  });

  test('a blocked pipe blocks no caller: 8 MiB wait, further lines are dropped and their count is logged', async () => {
    const { descriptor, read } = openPipe(join(directory, 'pipe'));
    const sink = new DescriptorSink(descriptor);
    let reported = 0;
    sink.onDropped = (count) => {
      reported += count;
    };
    const line = `${'x'.repeat(999)}\n`;
    // The pipe has no reader yet, so a blocking write would never return.
    for (let index = 0; index < 20_000; index += 1) sink.write(line);
    expect(sink.dropped).toBeGreaterThan(10_000);
    // The pipe is full after 16 writes, one per turn of the event loop. The next write is considered blocked after 50
    // ms.
    let turns = 0;
    await until(() => {
      turns += 1;
      return turns > 60;
    });
    sink.flushSync();
    const received = read();
    await sink.flush();
    closeSync(descriptor);
    const lines = (await received).split('\n').slice(0, -1);
    expect(reported).toBe(sink.dropped);
    expect(lines.length + sink.dropped).toBe(20_000);
    expect(lines.every((text) => text.length === 999)).toBe(true);
  });

  test.skipIf(!existsSync('/dev/full'))(
    'lines lost to a full disk are counted, and the count is logged once there is space',
    async () => {
      const descriptor = openSync('/dev/full', 'a');
      const sink = new DescriptorSink(descriptor);
      const reported: number[] = [];
      sink.onDropped = (count) => reported.push(count);
      for (const text of ['one', 'two', 'three']) sink.write(`${text}\n`);
      await sink.flush();
      sink.write('four\n');
      await sink.flush();
      closeSync(descriptor);
      expect([sink.dropped, reported]).toEqual([4, []]);
    },
  );

  test.each([
    ['with lines not yet written', 0],
    ['with a write that waits for the reader', 300],
  ])('a full pipe without a reader does not keep the process from exiting, %s', async (_name, exitAfterMs) => {
    const entry = await bundleWorker(new URL('descriptor-sink.ts', import.meta.url));
    const { descriptor, leave } = openPipe(join(directory, 'pipe'));
    const program = `
      import { openSink } from ${JSON.stringify(entry.href)};
      const sink = openSink('stdout');
      process.once('exit', () => sink.flushSync());
      for (let index = 0; index < 2000; index += 1) sink.write('x'.repeat(999) + String.fromCharCode(10));
      ${exitAfterMs === 0 ? '' : `await new Promise((resolve) => setTimeout(resolve, ${exitAfterMs}));`}
      process.exit(70);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', descriptor, 'inherit'],
      timeout: 30_000,
      killSignal: 'SIGKILL',
    });
    const [code] = await once(child, 'exit');
    closeSync(descriptor);
    await leave();
    expect(code).toBe(70);
  });

  test('lines for a pipe with a slow reader are written completely', async () => {
    const entry = await bundleWorker(new URL('descriptor-sink.ts', import.meta.url));
    const program = `
      import { openSink } from ${JSON.stringify(entry.href)};
      const sink = openSink('stdout');
      process.once('exit', () => sink.flushSync());
      for (let index = 0; index < 500; index += 1) sink.write('x'.repeat(999) + String.fromCharCode(10));
      process.exit(70);`;
    const { descriptor, read } = openPipe(join(directory, 'pipe'));
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', descriptor, 'inherit'],
    });
    closeSync(descriptor);
    const text = read();
    expect(await once(child, 'exit')).toEqual([70, null]);
    expect(await text).toHaveLength(500_000);
  });

  test('a reader that closes the pipe does not end the process', async () => {
    const { descriptor, leave } = openPipe(join(directory, 'pipe'));
    const sink = new DescriptorSink(descriptor);
    await leave();
    sink.write('lost\n');
    await sink.flush();
    sink.write('lost too\n');
    sink.flushSync();
    closeSync(descriptor);
  });
});

/** Opens a named pipe whose reader reads only on request. */
function openPipe(path: string): { descriptor: number; read(): Promise<string>; leave(): Promise<void> } {
  execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
  // Starts reading at the first byte on stdin, and holds the pipe open from the start.
  const reader = spawn('sh', ['-c', `exec 3<>"$0"; read go; exec 4<"$0" 3>&-; cat <&4`, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const descriptor = openSync(path, 'w');
  const ended = new Promise<void>((resolve) => reader.on('close', () => resolve()));
  return {
    descriptor,
    read: async () => {
      let text = '';
      reader.stdout.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      reader.stdin.end('go\n');
      await ended;
      return text;
    },
    leave: async () => {
      reader.kill();
      await ended;
    },
  };
}

describe('rejected connections (operations 5.1)', () => {
  test('logs ten lines a second, then one with the count of the others', () => {
    vi.useFakeTimers();
    const lines: [string, LogFields | undefined][] = [];
    const rejections = new Rejections({
      error() {},
      info() {},
      debug() {},
      warn: (_event, message, fields) => lines.push([message, fields]),
    });
    for (let index = 0; index < 25; index += 1) rejections.report('malformed', 400, '192.0.2.1');
    expect(lines).toHaveLength(10);
    vi.advanceTimersByTime(1000);
    expect(lines[10]).toEqual(['more connections rejected', { count: 15 }]);
    rejections.report('limit', undefined, undefined);
    vi.advanceTimersByTime(1000);
    expect(lines).toHaveLength(12);
  });
});
