import { describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { delay } from '#platform/base/tasks.ts';
import { REQUEST_LINE } from '#test/support/log-expression.ts';
import { leastOf } from '#test/support/measuring.ts';
import { startRouteServer, until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { json } from './response.ts';
import type { Route } from './route.ts';

const userId: UserId = newId(0);

function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

const routes: Route[] = [
  page('GET', '/', () => ({ status: 200, headers: {}, body: 'index' })),
  page('GET', '/changes', () => ({ status: 303, headers: { location: '/' } }), { headRefused: true }),
  page('GET', '/throws', () => {
    throw new Error('broken "thing"\nsecond line');
  }),
  page('GET', '/spins', () => {
    spin(50);
    return json(200, {});
  }),
  page('GET', '/waits', async () => {
    await delay(50);
    return json(200, {});
  }),
  page('GET', '/item/:id', (context) => json(200, context.params)),
  page('GET', '/user', (context) => {
    context.setRequester({ kind: 'user', id: userId, username: 'al ice(x)ü' });
    context.setRequester({ kind: 'homeserver' });
    return json(200, {});
  }),
  page('GET', '/bad-header', () => ({ status: 303, headers: { location: '/\n' } })),
  {
    method: 'POST',
    path: '/oauth2/token',
    resource: 'oauth',
    errorFormat: 'oauth-json',
    cors: 'get-post',
    handle: async (context) => json(200, { value: (await context.readForm()).get('a') ?? null }),
  },
];

function page(method: 'GET', path: string, handle: Route['handle'], more: Partial<Route> = {}): Route {
  return { method, path, resource: 'human', errorFormat: 'page', handle, ...more };
}
const service = await sharedByTests(startRouteServer(routes));

interface Line {
  readonly [name: string]: string | undefined;
}

/** Sends a request. @returns the reply and the log lines */
async function observe(send: () => Promise<string>): Promise<{ reply: string; lines: string[]; line: Line }> {
  service.lines.length = 0;
  const reply = await send();
  const lines = await service.requestLines(1);
  return { reply, lines, line: parse(lines[0]) };
}

function parse(line: string | undefined): Line {
  const groups = REQUEST_LINE.exec(line ?? '')?.groups;
  if (groups === undefined) throw new Error(`no request line: ${line}`);
  return groups;
}

function request(head: string, headers = '', body = ''): string {
  return `${head}\r\nHost: x\r\nConnection: close\r\n${headers}\r\n${body}`;
}

const LOOPBACK = [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }] as const;
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';

describe('one line per request (operations 5.1)', () => {
  test.each([
    ['200', 'GET', '/', '200', 'INFO', request('GET / HTTP/1.1')],
    ['HEAD as GET', 'HEAD', '/', '200', 'INFO', request('HEAD / HTTP/1.1')],
    ['HEAD of a GET that changes state', 'HEAD', '/changes', '405', 'WARN', request('HEAD /changes HTTP/1.1')],
    ['HTTP/1.0 without Host', 'GET', '/', '200', 'INFO', 'GET / HTTP/1.0\r\n\r\n'],
    ['query string', 'GET', '/', '200', 'INFO', request('GET /?code=s3cret HTTP/1.1')],
    ['absolute target', 'GET', '/item/x', '200', 'INFO', request('GET http://evil.example/item/x?q HTTP/1.1')],
    ['unknown path', 'GET', '/nowhere', '404', 'WARN', request('GET /nowhere HTTP/1.1')],
    ['trailing slash', 'GET', '/user/', '404', 'WARN', request('GET /user/ HTTP/1.1')],
    ['doubled slash', 'GET', '//user', '404', 'WARN', request('GET //user HTTP/1.1')],
    ['other case', 'GET', '/USER', '404', 'WARN', request('GET /USER HTTP/1.1')],
    ['path parameter', 'GET', '/user;x=1', '404', 'WARN', request('GET /user;x=1 HTTP/1.1')],
    ['bad percent-encoding', 'GET', '/item/%zz', '404', 'WARN', request('GET /item/%zz HTTP/1.1')],
    ['wrong method', 'POST', '/user', '405', 'WARN', request('POST /user HTTP/1.1', 'Content-Length: 0\r\n')],
    ['OPTIONS', 'OPTIONS', '/user', '204', 'INFO', request('OPTIONS /user HTTP/1.1')],
    ['OPTIONS *', 'OPTIONS', '*', '204', 'INFO', request('OPTIONS * HTTP/1.1')],
    ['TRACE', 'TRACE', '/', '405', 'WARN', request('TRACE / HTTP/1.1')],
    ['CONNECT', 'CONNECT', '*', '405', 'WARN', request('CONNECT x:443 HTTP/1.1')],
    ['a registered method of WebDAV', 'PROPFIND', '/', '405', 'WARN', request('PROPFIND / HTTP/1.1')],
    ['an unregistered method', 'FROB', '/user', '405', 'WARN', request('FROB /user?x HTTP/1.1')],
    [
      'a method with every kind of character',
      "a!#$%&'*+-.^_`|~1",
      '/',
      '405',
      'WARN',
      request("a!#$%&'*+-.^_`|~1 / HTTP/1.1"),
    ],
    ['a method of 32 characters', 'X'.repeat(32), '/', '405', 'WARN', request(`${'X'.repeat(32)} / HTTP/1.1`)],
    ['a method of 1,000 characters', 'X'.repeat(32), '/', '405', 'WARN', request(`${'X'.repeat(1000)} / HTTP/1.1`)],
    ['a lower-case method', 'get', '/', '405', 'WARN', request('get / HTTP/1.1')],
    ['Upgrade is ignored', 'GET', '/', '200', 'INFO', request('GET / HTTP/1.1', 'Upgrade: websocket\r\n')],
    ['no Host', 'GET', '/', '400', 'WARN', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET', '/', '400', 'WARN', request('GET / HTTP/1.1', 'Host: y\r\n')],
    ['a fragment', 'GET', '/#x', '400', 'WARN', request('GET /#x HTTP/1.1')],
    ['chunked in HTTP/1.0', 'GET', '/', '400', 'WARN', 'GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['101 fields', 'GET', '/', '431', 'WARN', request('GET / HTTP/1.1', 'A: b\r\n'.repeat(99))],
    ['over 16 KiB of fields', 'GET', '/', '431', 'WARN', request('GET / HTTP/1.1', `A: ${'b'.repeat(16_384)}\r\n`)],
    ['handler throws', 'GET', '/throws', '500', 'ERROR', request('GET /throws HTTP/1.1')],
    ['answer that cannot be sent', 'GET', '/bad-header', '500', 'ERROR', request('GET /bad-header HTTP/1.1')],
    [
      'JSON to a form route',
      'POST',
      '/oauth2/token',
      '400',
      'WARN',
      postToken('Content-Type: application/json\r\n', '{}'),
    ],
    ['compressed body', 'POST', '/oauth2/token', '415', 'WARN', postToken(`${FORM}Content-Encoding: gzip\r\n`, 'x')],
    ['body too large', 'POST', '/oauth2/token', '413', 'WARN', postToken(FORM, 'a='.padEnd(65_537, 'x'))],
    ['NUL in the body', 'POST', '/oauth2/token', '400', 'WARN', postToken(FORM, 'a=%00')],
    ['body that is not UTF-8', 'POST', '/oauth2/token', '400', 'WARN', postToken(FORM, 'a=%ff%fe')],
    ['form', 'POST', '/oauth2/token', '200', 'INFO', postToken(FORM, 'a=b')],
  ])('%s', async (_case, method, path, status, level, bytes) => {
    const { lines, line, reply } = await observe(() => service.exchange(bytes));
    expect(lines).toHaveLength(1);
    expect(line).toMatchObject({ method, path, status, level });
    expect(line['id']?.replace(/\d+$/, '')).toBe(`${method}-`);
    expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(Number(line['polls'])).toBeGreaterThanOrEqual(1);
    expect(service.lines.join()).not.toContain('s3cret');
  });

  test('a request line over 8 KiB: 414, with the full path in the log', async () => {
    const { line } = await observe(() => service.exchange(request(`GET /${'p'.repeat(9000)} HTTP/1.1`)));
    expect(line['status']).toBe('414');
    expect(line['path']).toBe(`/${'p'.repeat(9000)}`);
  });

  test('a client that disconnects while sending the body leaves one line with 400', async () => {
    const { lines, line } = await observe(async () => {
      const socket = await service.connect();
      socket.write(`POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 10\r\n\r\na=`);
      await until(() => service.server.served === 1);
      socket.destroy();
      return '';
    });
    expect(lines).toHaveLength(1);
    expect(line).toMatchObject({ status: '400', path: '/oauth2/token' });
  });

  test('a body with malformed chunks leaves one line with 400 and gets a response', async () => {
    const { lines, line, reply } = await observe(() =>
      service.exchange(`POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
    );
    expect(lines).toHaveLength(1);
    expect(line['status']).toBe('400');
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('a later disconnect leaves the produced status and a DEBUG line with the same id', async () => {
    const { lines, line } = await observe(async () => {
      const socket = await service.connect();
      socket.write('GET /waits HTTP/1.1\r\nHost: x\r\n\r\n');
      await until(() => service.server.served === 1);
      socket.destroy();
      return '';
    });
    expect(lines).toHaveLength(1);
    expect(line).toMatchObject({ status: '200', path: '/waits' });
    await until(() => service.lines.length === 2);
    expect(service.lines[1]).toMatch(new RegExp(` DEBUG http\\.server\\.aborted ${line['id']} - `));
  });

  test('an exception in a handler is one ERROR line before the request line, with the same id', async () => {
    const { reply, line } = await observe(() => service.exchange(request('GET /throws HTTP/1.1')));
    expect(service.lines).toHaveLength(2);
    expect(service.lines[0]).toMatch(
      new RegExp(
        ` ERROR error ${line['id']} - broken "thing"\\\\nsecond line stack="Error: broken \\\\"thing\\\\"\\\\n`,
      ),
    );
    expect(reply).not.toContain('broken');
    expect(reply).toContain(line['id']);
  });

  test.each([
    ['a header that is not finished', '408', 'header_timeout', 'GET / HTTP/1.1\r\nHost: x\r\nA: '],
    ['a head of 64 KiB', '431', 'header_overflow', request('GET / HTTP/1.1', `A: ${'b'.repeat(65_536)}\r\n`)],
  ])('%s is a rejected connection: %s', async (_case, status, reason, bytes) => {
    const impatient = await startRouteServer(routes, { limits: { headersTimeoutSeconds: 0.1 } });
    try {
      expect(await impatient.exchange(bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(impatient.lines[0]).toContain(
        ` WARN http.connection.rejected connection rejected reason=${reason} status=${status} `,
      );
    } finally {
      await impatient.close();
    }
  });

  test("a connection closed without a byte, such as a browser's preconnect, is logged at DEBUG", async () => {
    const impatient = await startRouteServer(routes, { limits: { headersTimeoutSeconds: 0.1 } });
    try {
      expect(await impatient.exchange('')).toMatch(/^HTTP\/1\.1 408 /);
      expect(impatient.lines).toEqual([
        expect.stringMatching(
          / DEBUG http\.connection\.rejected connection closed: the client sent nothing client\.address=/,
        ),
      ]);
    } finally {
      await impatient.close();
    }
  });

  test('bytes that are not a request have a request line with only the status', async () => {
    const { line, lines, reply } = await observe(() => service.exchange('\x16\x03\x01\x00\xa5\r\n\r\n'));
    expect(reply).toMatch(/^HTTP\/1\.1 400 .*Connection: close/is);
    expect(lines).toHaveLength(1);
    expect(line).toMatchObject({ method: '-', path: '-', protocol: '-', status: '400', ua: '-', address: '127.0.0.1' });
    expect(line['id']).toMatch(/^--\d+$/);
    expect(service.lines.join('\n')).toMatch(
      / WARN http\.connection\.rejected connection rejected reason=malformed status=400 client\.address=127\.0\.0\.1$/m,
    );
  });

  test('counters are unique and gapless under 1,000 concurrent requests', async () => {
    service.lines.length = 0;
    await Promise.all(
      Array.from({ length: 100 }, () =>
        service.exchange(`${'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(9)}${request('GET / HTTP/1.1')}`),
      ),
    );
    const ids = (await service.requestLines(1000)).map((line) => Number(parse(line)['id']?.slice('GET-'.length)));
    const sorted = ids.toSorted((one, other) => one - other);
    expect(new Set(ids).size).toBe(1000);
    expect((sorted[999] ?? 0) - (sorted[0] ?? 0)).toBe(999);
  });
});

function postToken(headers: string, body: string): string {
  return request('POST /oauth2/token HTTP/1.1', `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`, body);
}

describe('statistics (operations 5.4)', () => {
  test('a handler that spins for 50 ms shows at least 45 ms of cpu', async () => {
    const { line } = await observe(() => service.exchange(request('GET /spins HTTP/1.1')));
    expect(Number(line['cpu'])).toBeGreaterThanOrEqual(45);
    expect(Number(line['elapsed'])).toBeGreaterThanOrEqual(45);
    expect(line).toMatchObject({ db: '0.0', queries: '0', fetched: '0' });
  });

  test('a handler that waits for 50 ms shows less than 10 ms of cpu and at least two polls', async () => {
    const charged = await leastOf(async () => {
      const { line } = await observe(() => service.exchange(request('GET /waits HTTP/1.1')));
      expect(Number(line['elapsed'])).toBeGreaterThanOrEqual(45);
      expect(Number(line['polls'])).toBeGreaterThanOrEqual(2);
      return Number(line['cpu']);
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  test('a waiting request is not charged the cpu time of a concurrent spinning one', async () => {
    const charged = await leastOf(async () => {
      service.lines.length = 0;
      const waiting = service.exchange(request('GET /waits HTTP/1.1'));
      await until(() => service.server.served === 1);
      await Promise.all([waiting, service.exchange(request('GET /spins HTTP/1.1'))]);
      const lines = (await service.requestLines(2)).map(parse);
      expect(Number(lines.find((line) => line['path'] === '/spins')?.['cpu'])).toBeGreaterThanOrEqual(45);
      return Number(lines.find((line) => line['path'] === '/waits')?.['cpu']);
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  test('each awaited part of a body is a poll', async () => {
    const { line } = await observe(async () => {
      const socket = await service.connect();
      socket.write(`POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 4\r\n\r\na=`);
      await until(() => service.server.served === 1);
      socket.end('bc');
      await service.requestLines(1);
      return '';
    });
    expect(line).toMatchObject({ status: '200' });
    expect(Number(line['polls'])).toBeGreaterThanOrEqual(2);
  });
});

describe('fields of the request line', () => {
  test('client.address is the peer, which is not a trusted proxy here', async () => {
    const { line } = await observe(() => service.exchange(request('GET / HTTP/1.1', 'X-Forwarded-For: 6.6.6.6\r\n')));
    expect(line['address']).toBe('127.0.0.1');
  });

  test('a rejection logs its code at DEBUG with the id of its request (operations 5.11)', async () => {
    const { lines } = await observe(async () => await (await fetch(`${service.origin}/no-such-page`)).text());
    const id = / http\.server\.response (\S+) /.exec(lines[0] ?? '')?.[1];
    expect(service.lines.join('')).toContain(` DEBUG http.refused ${id} - request rejected code=not_found`);
  });

  test('keeps the first requester and percent-encodes a username that could end the field', async () => {
    const { line } = await observe(() => service.exchange(request('GET /user HTTP/1.1')));
    expect(line['requester']).toBe(`user:${userId}(al%20ice%28x%29%C3%BC)`);
  });

  test.each([
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '4bf92f3577b34da6a3ce929d0e0e4736'],
    ['00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', undefined],
    ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', undefined],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', undefined],
    ['01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', undefined],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 x', undefined],
  ])('trace.id of traceparent %s', async (traceparent, traceId) => {
    const behindProxy = await startRouteServer(routes, { http: { trustedProxies: LOOPBACK } });
    try {
      await behindProxy.exchange(request('GET / HTTP/1.1', `traceparent: ${traceparent}\r\n`));
      expect(parse((await behindProxy.requestLines(1))[0])['trace']).toBe(traceId);
    } finally {
      await behindProxy.close();
    }
  });

  test('ignores traceparent from a client that is not a trusted proxy', async () => {
    const sent = 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n';
    const { line } = await observe(() => service.exchange(request('GET / HTTP/1.1', sent)));
    expect(line['trace']).toBeUndefined();
  });
});

describe('external text cannot leave its field in a line (security S-75)', () => {
  const forged = `2026-01-01T00:00:00.000000Z INFO http.server.response GET-1 - "GET / HTTP/1.1" 200 OK "-"`;

  test.each([
    ['quotes and backslashes', 'a"b\\c', 'a\\"b\\\\c'],
    ['tab', 'a\tb', 'a\\tb'],
    ['raw 0x85', 'a\x85b', 'a\\u{85}b'],
    ['C1 control', 'a\xc2\x85b', 'a\\u{85}b'],
    ['U+2028', 'a\xe2\x80\xa8b', 'a\\u{2028}b'],
    ['bidirectional control', 'a\xe2\x80\xaeb', 'a\\u{202e}b'],
    ['UTF-8', 'Gr\xc3\xbc\xc3\x9fe', 'Grüße'],
    ['a surrogate in UTF-8', 'a\xed\xa0\x80b', 'a\\u{ed}\\u{a0}\\u{80}b'],
    ['over-long UTF-8', 'a\xc0\xafb', 'a\\u{c0}\\u{af}b'],
    ['a forged line', forged, forged.replaceAll('"', '\\"')],
    ['8,000 characters', 'x'.repeat(8000), 'x'.repeat(8000)],
    ['4,000 characters of two bytes', '\xc3\xbc'.repeat(4000), 'ü'.repeat(4000)],
    ['empty', '', '-'],
  ])('user agent: %s', async (_case, sent, logged) => {
    const bytes = Buffer.from(request('GET / HTTP/1.1', `User-Agent: ${sent}\r\nX-Request-Id: GET-1\r\n`), 'latin1');
    const { lines, line } = await observe(() => service.exchange(bytes));
    expect(lines).toHaveLength(1);
    expect(line['ua']).toBe(logged);
  });

  test('path: quotes and backslashes', async () => {
    const { lines, line } = await observe(() => service.exchange(request('GET /a"b\\c%0ad HTTP/1.1')));
    expect(lines).toHaveLength(1);
    expect(line['path']).toBe('/a\\"b\\\\c%0ad');
  });

  const BAD_FIELD = 'X: a\0b\r\n';

  test.each([
    ['escape in a header', request('GET / HTTP/1.1', 'User-Agent: \x1b[31m\r\n'), 'GET / HTTP/1.1', '\\u{1b}[31m'],
    ['NUL in a header', request('GET /a?b HTTP/1.1', `User-Agent: x\r\n${BAD_FIELD}`), 'GET /a HTTP/1.1', 'x'],
    ['folded header', request('GET / HTTP/1.1', 'User-Agent: a\r\n b\r\n'), 'GET / HTTP/1.1', 'a'],
    ['space before the colon', request('GET / HTTP/1.1', 'Transfer-Encoding : chunked\r\n'), 'GET / HTTP/1.1', '-'],
    ['CONNECT', request('CONNECT a:443 HTTP/1.1', BAD_FIELD), 'CONNECT * HTTP/1.1', '-'],
    ['raw 0x85 in the path', request('GET /a\x85b HTTP/1.1'), 'GET /a\\u{85}b HTTP/1.1', '-'],
    ['UTF-8 in the path', request('GET /\xc3\xbc?s3cret HTTP/1.1'), 'GET /ü HTTP/1.1', '-'],
    ['a control byte in the path', request('GET /a\x01b HTTP/1.1'), 'GET /a\\u{1}b HTTP/1.1', '-'],
    ['a space in the path', request('GET /a b?s3cret HTTP/1.1'), 'GET /a -', '-'],
    [
      'two lengths',
      request('POST / HTTP/1.1', 'Content-Length: 1\r\nContent-Length: 2\r\n', 'a'),
      'POST / HTTP/1.1',
      '-',
    ],
    [
      'length and chunked',
      request('POST / HTTP/1.1', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
      'POST / HTTP/1.1',
      '-',
    ],
    ['a signed length', request('POST / HTTP/1.1', 'Content-Length: +5\r\n', 'abcde'), 'POST / HTTP/1.1', '-'],
    [
      'chunked not last',
      request('POST /a HTTP/1.1', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'),
      'POST /a HTTP/1.1',
      '-',
    ],
    ['line feeds without carriage return', 'GET /a HTTP/1.1\nHost: x\n\n', 'GET /a HTTP/1.1', '-'],
    ['a version that is not served', 'GET / HTTP/3.0\r\nHost: x\r\n\r\n', 'GET / HTTP/3.0', '-'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'PRI * HTTP/2.0', '-'],
    ['a word', 's3cret/\r\n\r\n', '- - -', '-'],
    ['a method alone', 'HELLO\r\n\r\n', 'HELLO - -', '-'],
  ])('the parser rejects invalid request input: %s (security S-150)', async (_case, bytes, logged, agent) => {
    const { line, lines, reply } = await observe(() => service.exchange(Buffer.from(bytes, 'latin1')));
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(lines).toHaveLength(1);
    expect(`${line['method']} ${line['path']} ${line['protocol']}`).toBe(logged);
    expect(line).toMatchObject({ status: '400', ua: agent });
    expect(line['id']?.replace(/\d+$/, '')).toBe(`${line['method']}-`);
    expect(service.lines.join()).not.toContain('s3cret');
  });

  test('header fields over the limit of the parser: 431 with a request line', async () => {
    const head = request('GET /a HTTP/1.1', `User-Agent: x\r\nA: ${'b'.repeat(30_000)}\r\n`);
    const { line, reply } = await observe(() => service.exchange(head));
    expect(reply).toMatch(/^HTTP\/1\.1 431 /);
    expect(line).toMatchObject({ method: 'GET', path: '/a', status: '431', ua: 'x' });
  });

  test('a rejected request behind another one in the same packet is parsed on its own', async () => {
    service.lines.length = 0;
    const first = 'GET /first HTTP/1.1\r\nHost: x\r\n\r\n';
    await service.exchange(Buffer.from(first + request('GET /\xff HTTP/1.1'), 'latin1'));
    const lines = (await service.requestLines(2)).map((line) => parse(line));
    expect(lines.map(({ path, status }) => `${path} ${status}`)).toEqual(['/first 404', '/\\u{ff} 400']);
  });

  test('no part of a body or of a split header is mistaken for a request line', async () => {
    service.lines.length = 0;
    const form = `POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 3\r\n\r\na=b`;
    await service.exchange(Buffer.from(`${form}s3cret /x HTTP/1.1\r\nX: \0\r\n\r\n`, 'latin1'));
    const socket = await service.connect();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ');
    await delay(20);
    socket.write(Buffer.from('s3cret /y HTTP/1.1\0\r\n\r\n', 'latin1'));
    const lines = (await service.requestLines(3)).map((line) => parse(line));
    expect(lines.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'POST /oauth2/token 200',
      '- - 400',
      '- - 400',
    ]);
    expect(service.lines.join()).not.toContain('s3cret');
    socket.destroy();
  });
});
