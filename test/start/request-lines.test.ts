/**
 * The log of the built program after more than a thousand concurrent requests (operations 5, 10.4). They cover every
 * route with every method over both versions of HTTP. Each request has exactly one complete, well-formed line with a
 * unique number.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { tableRows } from '../manual/tables.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { REQUEST_LINE } from '../support/log-expression.ts';
import { Program, stopProcess } from '../support/program.js';
import { selfSigned } from '../support/self-signed.ts';

const HOST = 'peer.example';
const PASSWORD = 'correct horse battery staple';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'];
/** Maximum HTTP/2 streams per connection. Half of the methods use HTTP/2, the others HTTP/1.1. */
const MAX_STREAMS = 100;
/** Level and event of lines that are not request lines. */
const OTHER_LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (?:DEBUG|INFO|WARN) [a-z_.0-9]+ \S/;
/** Members of a JSON line, in this order (operations 5.8). */
const MEMBERS = [
  ...['timestamp', 'level', 'event', 'request_id', 'method', 'path', 'protocol', 'status', 'reason', 'user_agent'],
  ...['stats', 'requester', 'client.address'],
];

/** One request and its outcome. */
interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly protocol: string;
  readonly status: number;
}

/** Every path in the manual once, with an unused ID. */
const paths = [...new Set(tableRows('docs/reference/endpoints.md').map(([, cell = '']) => cell.slice(1, -1)))].map(
  (path) => path.replaceAll(/:\w+/g, ABSENT).replace(/\*$/, 'none'),
);

let folder: string;
let plain: number;
let secure: number;
let cert: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-lines-'));
  const pair = selfSigned([HOST]);
  cert = pair.cert;
  for (const [name, text] of Object.entries(pair)) writeFileSync(join(folder, `${name}.pem`), text, { mode: 0o600 });
  [plain, secure] = [await freePort(), await freePort()];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const logFile = (format: string) => join(folder, `${format}.log`);

function programOf(format: 'text' | 'json'): Program {
  const resources = ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets', 'adminapi', 'health'];
  return new Program(folder, {
    data_dir: join(folder, 'data'),
    http: {
      public_base: `http://127.0.0.1:${plain}`,
      listeners: [
        {
          name: 'plain',
          resources: [...resources, 'prometheus', 'connection-info'],
          binds: [{ address: `127.0.0.1:${plain}` }],
        },
        {
          name: 'secure',
          resources: [...resources, 'prometheus', 'connection-info'],
          binds: [{ address: `127.0.0.1:${secure}` }],
          tls: { certificate_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') },
        },
      ],
    },
    // Expensive enough for one hash to be visible in the log.
    passwords: { schemes: [{ version: 1, algorithm: 'argon2id', iterations: 16 }] },
    telemetry: { metrics: { exporter: 'prometheus' } },
    logging: { format, output: logFile(format), level: 'debug' },
  });
}

/** @returns the exchanges and the log lines */
async function run(format: 'text' | 'json'): Promise<{ done: readonly Exchange[]; lines: readonly string[] }> {
  const program = programOf(format);
  await program.run(['manage', 'register-user', `ada-${format}`, '--yes', '--password-file', '-'], PASSWORD);
  const service = await program.serve(`http://127.0.0.1:${plain}/`);
  const done: Exchange[] = [];
  try {
    // First, because the service rejects page requests while it is overloaded.
    const browser = new Browser({ listener: `http://127.0.0.1:${plain}` });
    await browser.get('/login');
    const { status } = await browser.submit({ username: `ada-${format}`, password: PASSWORD });
    done.push({ method: 'GET', path: '/login', protocol: 'HTTP/1.1', status: 200 });
    done.push({ method: 'POST', path: '/login', protocol: 'HTTP/1.1', status });
    const agent = new Agent({ keepAlive: true });
    const sessions = Array.from({ length: Math.ceil((paths.length * METHODS.length) / MAX_STREAMS) }, openSession);
    const requested = paths.flatMap((path) => METHODS.map((method) => ({ method, path })));
    const both = requested.flatMap(({ method, path }, index) => [
      overHttp1(agent, method, path),
      overHttp2(sessions[index % sessions.length] ?? openSession(), method, path),
    ]);
    done.push(...(await Promise.all(both)));
    done.push(await overHttp1(agent, 'GET', '/nowhere'));
    done.push(await overHttp1(agent, 'POST', '/oauth2/token', `token=${'x'.repeat(70_000)}`));
    for (const session of sessions) session.close();
    agent.destroy();
    await leaveEarly('/logout');
    done.push({ method: 'POST', path: '/logout', protocol: 'HTTP/1.1', status: 400 });
    const isLeft = (line: string) => line.includes('/logout') && /" 400 |"status":400,/.test(line);
    const hasLeft = () => expect(linesOf(format).some(isLeft)).toBe(true);
    await vi.waitFor(hasLeft, { timeout: 30_000 });
  } finally {
    expect(await stopProcess(service)).toBe(0);
  }
  // Drops the health checks during startup.
  return { done, lines: linesOf(format).filter((line) => !isHealthCheck(line)) };
}

const linesOf = (format: string): string[] => readFileSync(logFile(format), 'utf8').split('\n').slice(0, -1);
const isRequest = (line: string): boolean => line.includes('http.server.response');
/** Health checks of `Program.serve`, recognizable by the default user agent. */
const isHealthCheck = (line: string): boolean => isRequest(line) && line.includes('/health') && line.includes('node');

function openSession(): ClientHttp2Session {
  return connectHttp2(`https://127.0.0.1:${secure}`, { ca: cert, servername: HOST });
}

async function overHttp1(agent: Agent, method: string, path: string, body = ''): Promise<Exchange> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'lines',
  };
  const status = await new Promise<number>((resolve, reject) => {
    const sent = httpRequest({ agent, host: '127.0.0.1', port: plain, path, method, headers }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject).end(body);
  });
  return { method, path, protocol: 'HTTP/1.1', status };
}

async function overHttp2(session: ClientHttp2Session, method: string, path: string): Promise<Exchange> {
  const stream = session.request({ ':method': method, ':path': path, ':authority': HOST, 'user-agent': 'lines' });
  const status = await new Promise<number>((resolve, reject) => {
    stream.once('response', (headers) => {
      const responded = Number(headers[':status']);
      stream.resume().once('close', () => resolve(responded));
    });
    stream.once('error', reject).end();
  });
  return { method, path, protocol: 'HTTP/2.0', status };
}

/** Disconnects while sending the body. */
async function leaveEarly(path: string): Promise<void> {
  const type = 'Content-Type: application/x-www-form-urlencoded';
  const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', type, 'Content-Length: 500', '', 'x'].join('\r\n');
  await new Promise<void>((resolve, reject) => {
    const socket = connect(plain, '127.0.0.1', () => socket.end(head, () => socket.destroy()));
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
}

interface Line extends Exchange {
  readonly id: string;
  readonly requester: string | undefined;
  readonly cpuMs: number;
  readonly queries: number;
  readonly isFree: boolean;
}

function readText(line: string): Line {
  const parts = REQUEST_LINE.exec(line)?.groups ?? expect.fail(`not a request line: ${line}`);
  const { method = '', path = '', protocol = '', id = '', requester, cpu, db, queries, fetched } = parts;
  const isFree = db === '0.0' && queries === '0' && fetched === '0';
  const numbers = { status: Number(parts['status']), cpuMs: Number(cpu), queries: Number(queries) };
  return { method, path, protocol, id, requester, isFree, ...numbers };
}

function readJson(line: string): Line {
  const read: Readonly<Record<string, unknown>> = JSON.parse(line);
  expect(Object.keys(read)).toEqual(MEMBERS.filter((name) => name in read));
  const { method, path, protocol, request_id: id, requester, status, stats } = JSON.parse(line);
  expect(Object.keys(stats)).toEqual(['polls', 'cpu_ms', 'db_ms', 'elapsed_ms', 'queries', 'fetched']);
  const isFree = stats.db_ms === 0 && stats.queries === 0 && stats.fetched === 0;
  return { method, path, protocol, id, requester, status, cpuMs: stats.cpu_ms, queries: stats.queries, isFree };
}

const nameOf = ({ method, path, protocol, status }: Exchange): string => `${method} ${path} ${protocol} ${status}`;

describe.each(['text', 'json'] as const)('the log as %s', (format) => {
  let done: readonly Exchange[];
  let lines: readonly string[];
  let requests: readonly Line[];

  beforeAll(async () => {
    ({ done, lines } = await run(format));
    requests = lines.filter(isRequest).map(format === 'text' ? readText : readJson);
  });

  test('has one line per request, with its method, path, protocol and status', () => {
    expect(done.length).toBeGreaterThan(1_000);
    expect(requests.map(nameOf).toSorted()).toEqual(done.map(nameOf).toSorted());
    expect(new Set(requests.map(({ status }) => status))).toContain(413);
  });

  test('has complete lines with unique numbers', () => {
    const others = lines.filter((line) => !isRequest(line));
    if (format === 'text') expect(others.filter((line) => !OTHER_LINE.test(line))).toEqual([]);
    else for (const line of others) expect(Object.keys(JSON.parse(line)).slice(0, 2)).toEqual(['timestamp', 'level']);
    const numbers = requests.map(({ id, method }) => {
      expect(id).toMatch(new RegExp(`^${method}-\\d+$`));
      return id.slice(method.length + 1);
    });
    expect(new Set(numbers).size).toBe(requests.length);
  });

  test('attributes its hash to a sign-in, and nothing to requests without database access', () => {
    const signIn = requests.find(({ method, path }) => method === 'POST' && path === '/login');
    expect(signIn).toMatchObject({ status: 303, requester: expect.stringMatching(/^user:[0-9A-Z]{26}\(ada-/) });
    expect(signIn?.cpuMs).toBeGreaterThan(50);
    expect(signIn?.queries).toBeGreaterThanOrEqual(2);
    const free = requests.filter(({ path, status }) => path === '/robots.txt' && status === 200);
    expect(free.length).toBeGreaterThan(3);
    expect(free.filter(({ isFree }) => !isFree)).toEqual([]);
  });
});
