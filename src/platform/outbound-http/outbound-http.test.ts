import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeClock } from '#test/support/fake-clock.ts';
import { type HttpsPeer, loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { OutboundHttp, type OutboundOptions } from './outbound-http.ts';

const JSON_TYPE = { accept: 'application/json' };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function peer(response: Parameters<typeof startHttpsPeer>[0]): Promise<HttpsPeer> {
  const started = await startHttpsPeer(response);
  closing.push(() => started.stop());
  return started;
}

/** Accepts connections and passes them to a handler. */
async function tcpServer(onConnection: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const bound = server.address();
  return { server, port: bound !== null && typeof bound === 'object' ? bound.port : 0 };
}

describe('a fetched document', () => {
  test('has its body, its media type without parameters, and its cache lifetime', async () => {
    const server = await peer((request, response) => {
      expect(request.headers).toMatchObject({ accept: 'application/json', host: `peer.example:${server.port}` });
      response.writeHead(200, {
        'Content-Type': 'Application/JSON; charset=utf-8',
        'Cache-Control': 'public, max-age=900',
      });
      response.end('{"keys":[]}');
    });
    const fetched = await loopbackOutbound([server]).get(`${server.origin}/keys`, JSON_TYPE);
    expect(fetched).toEqual({
      ok: true,
      mediaType: 'application/json',
      body: Buffer.from('{"keys":[]}'),
      freshForSeconds: 900,
    });
  });

  test.for([
    ['', '', 300],
    ['no-store', '', 300],
    ['max-age=1', '', 300],
    ['max-age=1200', '300', 900],
    ['max-age="1200"', '', 1200],
    ['max-age=999999999', '', 3600],
    ['s-max-age=1200', '', 300],
    ['max-age=99999999999999999999', '', 300],
  ] as const)('with "%s" and an age of "%s" is cached for %i seconds', async ([control, age, seconds]) => {
    const server = await peer((_, response) => {
      response.writeHead(200, { ...(control && { 'Cache-Control': control }), ...(age && { Age: age }) }).end('{}');
    });
    const fetched = await loopbackOutbound([server]).get(server.origin, JSON_TYPE);
    expect(fetched).toMatchObject({ ok: true, freshForSeconds: seconds });
  });

  test.for([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('decodes a body encoded with %s', async ([name, encode]) => {
    const server = await peer((_, response) => response.writeHead(200, { 'Content-Encoding': name }).end(encode('{}')));
    expect(await loopbackOutbound([server]).get(server.origin, JSON_TYPE)).toMatchObject({ body: Buffer.from('{}') });
  });

  test('concurrent requests for one document are one request to its host', async () => {
    const server = await peer((_, response) => setTimeout(() => response.end('{}'), 50));
    const outbound = loopbackOutbound([server]);
    const all = await Promise.all(Array.from({ length: 20 }, () => outbound.get(server.origin, JSON_TYPE)));
    expect(all.every(({ ok }) => ok)).toBe(true);
    expect(server.connections()).toBe(1);
  });

  test('sends a form and accepts any status except a redirect, whatever the body', async () => {
    let sent = '';
    const server = await peer((request, response) => {
      request.on('data', (chunk: Buffer) => (sent += chunk.toString()));
      request.on('end', () => {
        response.writeHead(request.url === '/moved' ? 308 : 400, { Location: '/elsewhere' });
        response.end('x'.repeat(1_000_000));
      });
    });
    const outbound = loopbackOutbound([server]);
    expect(await outbound.post(server.origin, { logout_token: 'a b&c' })).toEqual({ ok: true, status: 400 });
    expect(sent).toBe('logout_token=a+b%26c');
    expect(await outbound.post(`${server.origin}/moved`, {})).toEqual({ ok: false, reason: 'redirect' });
  });
});

describe('rejected without a connection', () => {
  test.for([
    'http://peer.example:PORT/',
    'ftp://peer.example/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'not a url',
    '',
    'https://user@peer.example:PORT/',
    'https://user:secret@peer.example:PORT/',
    'https://peer.example:PORT/#fragment',
    'https://peer.example:1/',
    'https://peer.example:22/',
    'https://127.0.0.1:PORT/',
    'https://127.1:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f000001:PORT/',
    'https://0177.0.0.1:PORT/',
    'https://0x7f.0x0.0x0.0x1:PORT/',
    'https://127.0.0.1.:PORT/',
    'https://１２７.0.0.1:PORT/',
    'https://[::1]:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[64:ff9b::7f00:1]:PORT/',
  ])('%s (S-52)', async (url) => {
    const server = await peer((_, response) => response.end());
    const requested: string[] = [];
    const outbound = loopbackOutbound([server], {
      resolve: async (name) => {
        requested.push(name);
        return ['127.0.0.1'];
      },
    });
    const target = url.replace('PORT', String(server.port));
    expect(await outbound.get(target, JSON_TYPE)).toEqual({ ok: false, reason: 'url' });
    expect(await outbound.post(target, {})).toEqual({ ok: false, reason: 'url' });
    expect(requested).toEqual([]);
    expect(server.connections()).toBe(0);
  });

  test.for([
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.8.9.10'],
    ['private', '10.0.0.1'],
    ['private', '172.16.5.4'],
    ['private', '192.168.1.1'],
    ['link-local, metadata', '169.254.169.254'],
    ['CGNAT, metadata of Alibaba', '100.100.100.200'],
    ['metadata of Oracle', '192.0.0.192'],
    ['metadata of Azure', '168.63.129.16'],
    ['this network', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['documentation', '192.0.2.1'],
    ['benchmarking', '198.18.0.1'],
    ['loopback', '::1'],
    ['unspecified', '::'],
    ['unique-local', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped, of a public address', '::ffff:8.8.8.8'],
    ['compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::7f00:1'],
    ['6to4', '2002:7f00:1::1'],
    ['Teredo', '2001:0:7f00:1::'],
    ['documentation', '2001:db8::1'],
    ['discard', '100::1'],
    ['not assigned', '4000::1'],
  ] as const)('a name with the address %s: %s (S-52)', async ([, address]) => {
    const server = await peer((_, response) => response.end());
    const outbound = loopbackOutbound([server], { allowedNetworks: [], resolve: async () => [address] });
    expect(await outbound.get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'address' });
    expect(server.connections()).toBe(0);
  });

  test('a name without an address', async () => {
    const outbound = loopbackOutbound([{ port: 443 }], {
      resolve: async () => {
        throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
      },
    });
    expect(await outbound.get('https://peer.example/', JSON_TYPE)).toEqual({ ok: false, reason: 'name' });
  });
});

test('of several addresses connects only to the allowed ones (S-52)', async () => {
  const server = await peer((_, response) => response.end('{}'));
  const outbound = loopbackOutbound([server], {
    allowedNetworks: [{ address: '127.0.0.1', prefixLength: 32, family: 'ipv4' }],
    resolve: async () => ['127.0.0.2', '::1', '127.0.0.1', '10.1.1.1'],
  });
  expect(await outbound.get(server.origin, JSON_TYPE)).toMatchObject({ ok: true });
});

test('looks up a name once per connection and checks the address that it connects to (S-52)', async () => {
  const server = await peer((_, response) => response.end('{}'));
  const requested: string[] = [];
  const outbound = loopbackOutbound([server], {
    allowedNetworks: [{ address: '127.0.0.1', prefixLength: 32, family: 'ipv4' }],
    resolve: async (name) => {
      requested.push(name);
      return [requested.length === 1 ? '127.0.0.1' : '127.0.0.2'];
    },
  });
  expect(await outbound.get(`${server.origin}/first`, JSON_TYPE)).toMatchObject({ ok: true });
  expect(requested).toEqual(['peer.example']);
  expect(await outbound.get(`${server.origin}/second`, JSON_TYPE)).toEqual({ ok: false, reason: 'address' });
  expect(requested).toHaveLength(2);
  expect(server.connections()).toBe(1);
});

test('rejects a certificate of another name', async () => {
  const server = await peer((_, response) => response.end('{}'));
  const outbound = loopbackOutbound([server]);
  const url = `https://other.example:${server.port}/`;
  expect(await outbound.get(url, JSON_TYPE)).toEqual({ ok: false, reason: 'connection' });
});

test('rejects a certificate without a trusted issuer', async () => {
  const server = await peer((_, response) => response.end('{}'));
  const outbound = loopbackOutbound([server], { trustedCertificates: undefined });
  expect(await outbound.get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'connection' });
});

test.for([301, 302, 303, 307, 308])('does not follow a redirect: %i (S-52)', async (status) => {
  const inside = await peer((_, response) => response.end('secret'));
  const server = await peer((_, response) => response.writeHead(status, { Location: inside.origin }).end());
  const outbound = loopbackOutbound([server, inside]);
  expect(await outbound.get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'redirect' });
  expect(inside.connections()).toBe(0);
});

test.for([204, 206, 400, 404, 500, 503])('rejects a document with status %i', async (status) => {
  const server = await peer((_, response) => response.writeHead(status).end());
  expect(await loopbackOutbound([server]).get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'status' });
});

describe('size limits', () => {
  test('reads 256 KiB and not a byte more', async () => {
    const server = await peer((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
    const outbound = loopbackOutbound([server]);
    expect(await outbound.get(`${server.origin}/262144`, JSON_TYPE)).toMatchObject({ ok: true });
    expect(await outbound.get(`${server.origin}/262145`, JSON_TYPE)).toEqual({ ok: false, reason: 'too-large' });
  });

  test('cuts off an endless body', async () => {
    let written = 0;
    const server = await peer((_, response) => {
      const more = (): void => {
        written += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536), more);
      };
      more();
    });
    expect(await loopbackOutbound([server]).get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'too-large' });
    expect(written).toBeLessThan(50_000_000);
  });

  test.for([
    ['gzip', gzipSync],
    ['br', (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const)('does not decode a small %s body that expands without limit', async ([name, encode]) => {
    const bomb = encode(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(60_000);
    const server = await peer((_, response) => response.writeHead(200, { 'Content-Encoding': name }).end(bomb));
    const fetched = await loopbackOutbound([server]).get(server.origin, JSON_TYPE);
    // Compares only the length, since a failure would print fifty megabytes.
    expect(fetched.ok ? fetched.body.length : fetched.reason).toBe('too-large');
  });

  test.for([
    ['gzip', Buffer.from('no gzip')],
    ['gzip', gzipSync('{"keys":[]}').subarray(0, 20)],
    ['gzip, gzip', gzipSync(gzipSync('{}'))],
    ['zstd', Buffer.from('{}')],
    ['constructor', Buffer.from('{}')],
  ] as const)('rejects an unsupported encoding: %s', async ([name, body]) => {
    const server = await peer((_, response) => response.writeHead(200, { 'Content-Encoding': name }).end(body));
    expect(await loopbackOutbound([server]).get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'encoding' });
  });

  test('rejects response headers above 16 KiB', async () => {
    const server = await peer((_, response) => response.writeHead(200, { 'X-Long': 'x'.repeat(20_000) }).end());
    expect(await loopbackOutbound([server]).get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'connection' });
  });
});

describe('incomplete responses', () => {
  test.for([
    ['before the head', ''],
    ['in the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['in a body with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"keys":'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"keys":'],
    ['as no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['by changing the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
  ] as const)('%s', async ([, text]) => {
    const server = await peer(() => {});
    server.server.removeAllListeners('request');
    server.server.on('secureConnection', (socket) => socket.end(text));
    expect(await loopbackOutbound([server]).get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'connection' });
  });

  test('a port without a listener', async () => {
    const { server, port } = await tcpServer(() => {});
    await new Promise((resolve) => server.close(resolve));
    const outbound = loopbackOutbound([{ port }]);
    expect(await outbound.get(`https://peer.example:${port}/`, JSON_TYPE)).toEqual({ ok: false, reason: 'connection' });
  });
});

describe('time limits', () => {
  async function timed(start: () => Promise<unknown>): Promise<{ result: unknown; seconds: number }> {
    const started = performance.now();
    const result = await start();
    return { result, seconds: (performance.now() - started) / 1000 };
  }

  test('a handshake, header, body or lookup that never completes ends after two or five seconds', async () => {
    const silent = await tcpServer(() => {});
    const headless = await peer(() => {});
    const dripping = await peer((_, response) => {
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    });
    const outbound = loopbackOutbound([silent, headless, dripping]);
    const nameless = loopbackOutbound([{ port: 443 }], {
      resolve: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('too late')))),
    });
    const [handshake, head, body, name] = await Promise.all([
      timed(() => outbound.get(`https://peer.example:${silent.port}/`, JSON_TYPE)),
      timed(() => outbound.get(headless.origin, JSON_TYPE)),
      timed(() => outbound.get(dripping.origin, JSON_TYPE)),
      timed(() => nameless.get('https://peer.example/', JSON_TYPE)),
    ]);
    const late = { ok: false, reason: 'timeout' };
    expect([handshake.result, head.result, body.result, name.result]).toEqual([late, late, late, late]);
    // Checks which of the two timeouts applied. The requests start together, so a slow machine delays all of them
    // alike.
    const waits = { handshake, head, body, name };
    expect(
      [handshake.seconds, name.seconds].every((seconds) => seconds < Math.min(head.seconds, body.seconds)),
      JSON.stringify(waits),
    ).toBe(true);
  });

  test('sends four concurrent requests to one host, queues the others, and does not delay other hosts', async () => {
    let active = 0;
    let most = 0;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const server = await peer((request, response) => {
      if (request.headers.host?.startsWith('two.') === true) {
        response.end('{}');
        return;
      }
      active += 1;
      most = Math.max(most, active);
      void opened.then(() =>
        setTimeout(() => {
          active -= 1;
          response.end('{}');
        }, 20),
      );
    });
    const outbound = loopbackOutbound([server]);
    const other = server.origin.replace('peer.example', 'two.peer.example');
    const requests = Array.from({ length: 12 }, async (_, index) => {
      return (await outbound.get(`${server.origin}/${index}`, JSON_TYPE)).ok;
    });
    expect((await outbound.get(`${other}/`, JSON_TYPE)).ok).toBe(true);
    await expect.poll(() => active).toBe(4);
    open();
    expect(await Promise.all(requests)).toEqual(requests.map(() => true));
    expect(most).toBe(4);
  });

  test('a caller waiting for a slow host gives up after five seconds, and more than 256 are rejected immediately', async () => {
    const server = await peer(() => {});
    const outbound = loopbackOutbound([server]);
    const all = await timed(() =>
      Promise.all(Array.from({ length: 260 }, (_, index) => outbound.get(`${server.origin}/${index}`, JSON_TYPE))),
    );
    // Sequential waits would take minutes.
    expect(all.seconds).toBeLessThan(40);
    expect(all.result).toHaveLength(260);
    const reasons = new Set(Array.isArray(all.result) ? all.result.map(({ reason }) => reason) : []);
    expect(reasons).toEqual(new Set(['timeout', 'busy']));
    expect(server.connections()).toBeLessThan(9);
  });
});

describe('failures', () => {
  test('are cached for a minute, for that document only', async () => {
    const clock = new FakeClock();
    let status = 500;
    const server = await peer((_, response) => response.writeHead(status).end('{}'));
    const outbound = loopbackOutbound([server], { clock });
    expect(await outbound.get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'status' });
    status = 200;
    expect(await outbound.get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'status' });
    expect(server.connections()).toBe(1);
    expect(await outbound.get(`${server.origin}/other`, JSON_TYPE)).toMatchObject({ ok: true });
    clock.advanceSeconds(61);
    expect(await outbound.get(server.origin, JSON_TYPE)).toMatchObject({ ok: true });
  });

  test('of many documents do not fill the memory', async () => {
    const requested: string[] = [];
    const outbound = loopbackOutbound([{ port: 443 }], {
      allowedNetworks: [],
      resolve: async (name) => {
        requested.push(name);
        return ['127.0.0.1'];
      },
    });
    const fill = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) await outbound.get(`http://${count}.example/${index}`, JSON_TYPE);
    };
    await outbound.get('https://first.example/', JSON_TYPE);
    await fill(999);
    await outbound.get('https://first.example/', JSON_TYPE);
    expect(requested).toHaveLength(1);
    await fill(1);
    await outbound.get('https://first.example/', JSON_TYPE);
    expect(requested).toHaveLength(2);
  });

  test('caused by too many requests in flight are not cached (S-52)', async () => {
    const server = await peer((_, response) => response.end('{}'));
    const held: (() => void)[] = [];
    const outbound = loopbackOutbound([server], {
      allowedPorts: [1, server.port],
      resolve: async (name) => {
        if (name !== 'peer.example') await new Promise<void>((resolve) => held.push(resolve));
        return ['127.0.0.1'];
      },
    });
    // Four requests per host, so that none of them is queued.
    const all = Array.from({ length: 256 }, (_, index) =>
      outbound.get(`https://n${Math.floor(index / 4)}.peer.example:1/${index}`, JSON_TYPE),
    );
    expect(await outbound.get(server.origin, JSON_TYPE)).toEqual({ ok: false, reason: 'busy' });
    const configured = { ...JSON_TYPE, isConfigured: true };
    expect(await outbound.get(`https://localhost:${server.port}/`, configured)).toMatchObject({ ok: true });
    for (const release of held) release();
    await Promise.all(all);
    expect(await outbound.get(server.origin, JSON_TYPE)).toMatchObject({ ok: true });
  });

  test('are logged with host and reason, without path, body or address', async () => {
    const log = new RecordingLog();
    const server = await peer((_, response) => response.writeHead(500).end('inner secret'));
    await loopbackOutbound([server], { log }).get(`${server.origin}/path?q=hush`, JSON_TYPE);
    expect(log.lines).toMatchObject([
      { level: 'info', event: 'outbound.failed', fields: { host: `peer.example:${server.port}`, reason: 'status' } },
    ]);
    expect(log.written.join()).not.toMatch(/path|hush|secret|127\.0/);
  });
});

describe('a host that is slow to take a form', () => {
  test('gets no other form for ten times as long, and delays no other host (S-52)', async () => {
    const clock = new FakeClock();
    const server = await peer((request, response) => {
      setTimeout(() => response.end(), request.headers.host?.startsWith('slow.') === true ? 1_100 : 0);
    });
    const outbound = loopbackOutbound([server], { clock });
    const slow = server.origin.replace('peer.example', 'slow.peer.example');
    const sent = { ok: true, status: 200 };
    expect(await outbound.post(`${slow}/one`, {})).toEqual(sent);
    expect(await outbound.post(`${slow}/two`, {})).toEqual({ ok: false, reason: 'busy' });
    expect(await outbound.post(`${server.origin}/one`, {})).toEqual(sent);
    expect(await outbound.post(`${server.origin}/two`, {})).toEqual(sent);
    clock.advanceSeconds(10);
    expect(await outbound.post(`${slow}/two`, {})).toEqual({ ok: false, reason: 'busy' });
    clock.advanceSeconds(50);
    expect(await outbound.post(`${slow}/two`, {})).toEqual(sent);
  });
});

describe("URLs in the operator's configuration", () => {
  const strict: Partial<OutboundOptions> = { allowedNetworks: [], allowedPorts: [443] };

  test('may be private, use plain http and any port', async () => {
    const { port } = await tcpServer((socket) => {
      socket.on('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    const outbound = loopbackOutbound([], strict);
    const url = `http://localhost:${port}/logout`;
    expect(await outbound.post(url, {}, { isConfigured: true })).toEqual({ ok: true, status: 204 });
    expect(await outbound.post(url, {})).toEqual({ ok: false, reason: 'url' });
  });

  test('do not allow the same URL from another source', async () => {
    const server = await peer((_, response) => response.end('{}'));
    const outbound = loopbackOutbound([], { ...strict, allowedPorts: [server.port] });
    const url = `https://localhost:${server.port}/`;
    expect(await outbound.get(url, { ...JSON_TYPE, isConfigured: true })).toMatchObject({ ok: true });
    expect(await outbound.get(url, JSON_TYPE)).toEqual({ ok: false, reason: 'address' });
    expect(server.connections()).toBe(1);
  });
});

test('names that no resolver accepts fail like any other', async () => {
  const outbound = new OutboundHttp({
    clock: new FakeClock(),
    log: new RecordingLog(),
    allowedNetworks: [],
    allowedPorts: [443],
  });
  for (const name of ['a'.repeat(64), `${'a.'.repeat(300)}b`, 'xn--a', '-', '_', 'a..b', '%41']) {
    const fetched = await outbound.get(`https://${name}.invalid/`, JSON_TYPE);
    expect(fetched).toMatchObject({ ok: false });
  }
});
