import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { exchange } from './exchange.ts';
import { keepConnections } from './kept-connections.ts';

test('F-20: a busy connection is reused for half a minute, and the next one looks up its name', async () => {
  let opened = 0;
  const server = createServer((_, response) => response.end('{}')).on('connection', () => {
    opened += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const port = bound === null || typeof bound === 'string' ? 0 : bound.port;
  const lookedUp: string[] = [];
  let seconds = 0;
  const connections = keepConnections(() => seconds * 1000);
  const call = () =>
    exchange(new URL(`http://chat.example:${port}/`), {
      ...{ method: 'GET', headers: {}, needsBody: true, signal: AbortSignal.timeout(10_000) },
      ...{ connections, trustedCertificates: undefined },
      lookup: (hostname, _options, callback) => {
        lookedUp.push(hostname);
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
  const counts: number[] = [];
  for (; seconds <= 50; seconds += 10) {
    await call();
    counts.push(opened);
  }
  expect(counts).toEqual([1, 1, 1, 1, 2, 2]);
  expect(lookedUp).toEqual(['chat.example', 'chat.example']);
  server.closeAllConnections();
  server.close();
});
