/**
 * Runs `latchkey activity` on the log of a service that received requests in every way its listeners support
 * (operations 3.10). The output matches what was done, whatever happens to the file afterwards.
 */
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runCommand } from '../../src/cli/run-command.test-support.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';
import { selfSigned } from '../support/self-signed.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4V';
const SECRET = 'a-secret-of-at-least-16-characters';
const BASIC = `Basic ${Buffer.from(`${CLIENT}:${SECRET}`).toString('base64')}`;
const FORM = 'application/x-www-form-urlencoded';
const TRACE = 'c8c8fc32288a76693e028ee97a6030a0';
const HOST = 'peer.example';

type Done = readonly [activity: string, outcome: string, requester: string | null, address: string | null];

/** The activities of `talk`, as the contract classifies them. */
const DONE: readonly Done[] = [
  ['token-issuance', 'success', `oauth2-client:${CLIENT}`, '127.0.0.1'],
  ['token-introspection', 'success', `oauth2-client:${CLIENT}`, '127.0.0.1'],
  ['token-issuance', 'failure', null, '127.0.0.1'],
  ['token-revocation', 'success', `oauth2-client:${CLIENT}`, '2001:db8::7'],
  ['authorization-grant', 'failure', null, null],
  ['chat-login', 'failure', null, '::1'],
  ['account:SetDisplayName', 'attempted', null, '127.0.0.1'],
  ['browser-login', 'refused', null, '127.0.0.1'],
  ['browser-logout', 'refused', null, '127.0.0.1'],
];

let folder: string;
/** Ports of the listeners. */
let plain: number;
let inner: number;
let proxied: number;
let secure: number;
let cert: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-activity-'));
  const pair = selfSigned([HOST]);
  cert = pair.cert;
  for (const [name, text] of Object.entries(pair)) writeFileSync(join(folder, `${name}.pem`), text, { mode: 0o600 });
  [plain, inner, proxied, secure] = [await freePort(), await freePort(), await freePort(), await freePort()];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function settings(format: 'text' | 'json') {
  const resources = ['human', 'oauth', 'compat', 'graphql', 'health'];
  return {
    data_dir: join(folder, 'data'),
    http: {
      public_base: `http://127.0.0.1:${plain}`,
      listeners: [
        { resources, binds: [{ address: `127.0.0.1:${plain}` }, { socket: join(folder, 'socket') }] },
        { resources, binds: [{ address: `[::1]:${inner}` }] },
        { resources, binds: [{ address: `127.0.0.1:${proxied}` }], proxy_protocol: true },
        {
          resources,
          binds: [{ address: `127.0.0.1:${secure}` }],
          tls: { certificate_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') },
        },
      ],
    },
    clients: [
      {
        client_id: CLIENT,
        client_auth_method: 'client_secret_basic',
        client_secret: SECRET,
        client_name: 'Harbour',
        grant_types: ['client_credentials'],
      },
    ],
    telemetry: { tracing: { exporter: 'stdout' } },
    logging: { format, output: logFile(format), level: 'debug' },
  };
}

const logFile = (format: string) => join(folder, `${format}.log`);

/** Starts the service, sends the requests and stops it. @returns the log */
async function logOfRun(format: 'text' | 'json'): Promise<string> {
  const base = `http://127.0.0.1:${plain}/`;
  const service = await new Program(folder, settings(format)).serve(base);
  try {
    await talk(format);
  } finally {
    expect(await stopProcess(service)).toBe(0);
  }
  return readFileSync(logFile(format), 'utf8');
}

/** Sends the requests sequentially, so that the log has them in this order. */
async function talk(format: string): Promise<void> {
  const token = await streams();
  await post(plain, '/oauth2/token', 'grant_type=client_credentials', { authorization: 'Basic eDp5' });
  await raw(
    proxied,
    `PROXY TCP6 2001:db8::7 2001:db8::8 4711 443\r\n${textOf('POST', '/oauth2/revoke', `token=${token}`)}`,
  );
  await overSocket('/authorize?client_id=x');
  await post(
    inner,
    '/_chat/client/v3/login',
    '{"type":"m.login.password","identifier":{"type":"m.id.user","user":"nobody"},"password":"x"}',
    {
      host: `[::1]:${inner}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
    },
  );
  const query = 'mutation SetDisplayName { setDisplayName(input: {userId: "x", displayName: "y"}) { status } }';
  await post(plain, '/graphql', JSON.stringify({ query }), { 'content-type': 'application/json' });
  await post(plain, '/login', 'username=a&password=b', {});
  // Not activities: another method, an unknown method, and a similar path.
  await raw(plain, textOf('HEAD', '/authorize', ''));
  await raw(plain, textOf('BREW', '/login', 'x=1'));
  await post(plain, '/login/', 'username=a&password=b', {});
  await leaveEarly('/logout');
  await expectLine(format, '/logout');
}

/** Sends two concurrent requests on one connection, one of which waits for the other. @returns an access token */
async function streams(): Promise<string> {
  const session = connectHttp2(`https://127.0.0.1:${secure}`, { ca: cert, servername: HOST });
  const ask = async (path: string, body: string): Promise<string> => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      ':authority': HOST,
      authorization: BASIC,
      'content-type': FORM,
    });
    stream.setEncoding('utf8').end(body);
    let text = '';
    for await (const chunk of stream) text += chunk;
    return text;
  };
  try {
    const token = String(JSON.parse(await ask('/oauth2/token', 'grant_type=client_credentials')).access_token);
    await ask('/oauth2/introspect', `token=${token}`);
    return token;
  } finally {
    session.close();
  }
}

async function post(
  port: number,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const host = port === inner ? '::1' : '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    const sent = httpRequest({ host, port, path, method: 'POST', headers: { 'content-type': FORM, ...headers } });
    sent.once('response', (response) => response.resume().once('end', resolve));
    sent.once('error', reject);
    sent.end(body);
  });
}

async function overSocket(path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const sent = httpRequest({ socketPath: join(folder, 'socket'), path });
    sent.once('response', (response) => response.resume().once('end', resolve));
    sent.once('error', reject);
    sent.end();
  });
}

function textOf(method: string, path: string, body: string): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: ${BASIC}`, `Content-Type: ${FORM}`];
  return [...head, `Content-Length: ${body.length}`, 'Connection: close', '', body].join('\r\n');
}

async function raw(port: number, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.resume().once('close', () => resolve());
    socket.once('error', reject);
  });
}

/** Disconnects while sending the body. */
async function leaveEarly(path: string): Promise<void> {
  const head = textOf('POST', path, 'x'.repeat(500)).slice(0, -400);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(plain, '127.0.0.1', () => socket.end(head, () => socket.destroy()));
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
}

async function expectLine(format: string, path: string): Promise<void> {
  const lines = () => readFileSync(logFile(format), 'utf8').split('\n');
  const isRequest = (line: string) => line.includes('http.server.response') && line.includes(path);
  await vi.waitFor(() => expect(lines().some(isRequest)).toBe(true), { timeout: 30_000 });
}

interface ToldActivity {
  readonly time: string;
  readonly activity: string;
  readonly outcome: string;
  readonly requester: string | null;
  readonly client_address: string | null;
  readonly trace_id: string;
}

async function activityOf(files: readonly string[], options: readonly string[] = []): Promise<ToldActivity[]> {
  const { exitCode, out } = await runCommand(['activity', '--format', 'json', ...options, ...files]);
  expect(exitCode).toBe(0);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const shown = (records: readonly ToldActivity[]): Done[] =>
  records.map(({ activity, outcome, requester, client_address }) => [activity, outcome, requester, client_address]);

describe.each(['text', 'json'] as const)('the log as %s', (format) => {
  let log: string;
  let whole: ToldActivity[];

  beforeAll(async () => {
    log = await logOfRun(format);
    whole = await activityOf([logFile(format)], ['--strict']);
  });

  test('reports activity over HTTP/2, TLS, PROXY, Unix sockets, IPv6, with traces and early disconnects, and nothing else', () => {
    expect(shown(whole)).toEqual(DONE);
    expect(whole.map(({ trace_id }) => trace_id)).toEqual(whole.map(() => expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(whole.find(({ activity }) => activity === 'chat-login')?.trace_id).toBe(TRACE);
    expect(log).toMatch(/HTTP\/2\.0|"http_version":"2\.0"/);
  });

  test('gives the same result from rotated, compressed files with lines of other programs', async () => {
    const lines = log.split('\n').slice(0, -1);
    const half = lines.findIndex((line) => line.includes('/oauth2/revoke'));
    const others = ['nginx: 127.0.0.1 - "POST /login HTTP/1.1" 303', '{"msg":"other"}', 'Nov 24 sshd[1]: x', '{', ''];
    const older = join(folder, `${format}.log.1.gz`);
    writeFileSync(
      older,
      gzipSync(
        lines
          .slice(0, half)
          .flatMap((line) => [line, ...others])
          .join('\n'),
      ),
    );
    const newer = join(folder, `${format}.log.2`);
    writeFileSync(newer, `${others.join('\n')}\n${lines.slice(half).join('\r\n')}\r\n`);
    expect(await activityOf([older, newer], ['--strict'])).toEqual(whole);
    expect(shown(await activityOf([older, newer], ['--client-address', '2001:db8::/32']))).toEqual([DONE[3]]);
  });

  test('with a line cut in its middle lacks only that record', async () => {
    const lines = log.split('\n').slice(0, -1);
    const at = lines.findIndex((line) => line.includes('http.server.response') && line.includes('/oauth2/introspect'));
    const line = lines[at] ?? expect.fail('no line');
    const rest = DONE.filter(([activity]) => activity !== 'token-introspection');
    const file = join(folder, `${format}.cut.log`);
    for (const cut of [line.slice(0, 20), line.slice(0, -20), line.slice(40), line.slice(0, line.indexOf('HTTP'))]) {
      writeFileSync(file, [...lines.slice(0, at), cut, ...lines.slice(at + 1)].join('\n'));
      expect([cut, shown(await activityOf([file]))]).toEqual([cut, rest]);
    }
    expect(await runCommand(['activity', '--strict', '--format', 'json', file])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('could not be parsed: 1'),
    });
  });

  test('truncated under a program that kept its offset has the records after the hole', async () => {
    const file = join(folder, `${format}.hole.log`);
    renameSync(logFile(format), file);
    writeFileSync(file, Buffer.alloc(200_000));
    appendFileSync(file, log);
    expect(shown(await activityOf([file]))).toEqual(DONE);
  });
});
