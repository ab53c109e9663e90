import type { Protection } from './protection.ts';

const TEST = 'src/platform/http/http2.test.ts';

/** What an HTTP/2 peer may do on one connection. */
export const HTTP2: readonly Protection[] = [
  {
    name: 'http2-resets',
    what: 'a connection with repeatedly reset requests is closed',
    attack: 142,
    removals: [{ text: 'if (stream.rstCode !== NGHTTP2_NO_ERROR) this.#count(this.#resets);' }],
    test: TEST,
    testName: 'reset one after another',
  },
  {
    name: 'http2-reset-at-once',
    what: 'a request that is reset in the packet it came with is not started',
    attack: 142,
    removals: [{ text: 'if (!response.closed && !this.#connection.isOver) this.#options', instead: 'this.#options' }],
    test: TEST,
    testName: 'rapid reset',
  },
  {
    name: 'http2-pings',
    what: 'a PING flood closes the connection',
    attack: 142,
    removals: [{ text: "session.on('ping', () => this.#count(this.#acknowledged));" }],
    test: TEST,
    testName: 'frames in ten seconds end the connection',
  },
  {
    name: 'http2-settings',
    what: 'a SETTINGS flood closes the connection',
    attack: 142,
    removals: [{ text: 'this.#isGreeted = true;\n      this.#count(this.#acknowledged);' }],
    test: TEST,
    testName: 'frames in ten seconds end the connection',
  },
  {
    name: 'http2-streams',
    what: 'the number of concurrent requests on a connection is limited',
    attack: 142,
    removals: [{ text: 'const settings = { maxConcurrentStreams,', instead: 'const settings = {' }],
    test: TEST,
    testName: 'serves 100 of 1,000 concurrent streams and refuses the others',
  },
  {
    name: 'http2-slow-reader',
    what: 'a connection whose peer does not read responses is closed',
    attack: 139,
    removals: [{ text: 'if (now > deadline) this.#giveUp(stream, now);', instead: '{}' }],
    test: TEST,
    testName: 'ends the connection of a peer that does not even read the reset',
  },
  {
    name: 'http2-two-hosts',
    what: 'an HTTP/2 request must name one host',
    attack: 149,
    removals: [
      {
        text: 'host === undefined || host.toLowerCase() === authority.toLowerCase()',
        instead: 'true',
      },
    ],
    test: TEST,
    testName: 'another host',
  },
];

const PROXY_TEST = 'src/platform/http/proxy-protocol.test.ts';

/** What precedes the first request on a connection. */
export const OPENING: readonly Protection[] = [
  {
    name: 'opening-time-limit',
    what: 'a connection with an incomplete header, or without a handshake, is closed',
    attack: 139,
    removals: [
      {
        text: 'const timer = setTimeout(() => this.#reject(connection, awaited()), timeoutMs());',
        instead: 'const timer = setTimeout(() => {}, timeoutMs() + awaited().length);',
      },
    ],
    test: PROXY_TEST,
    testName: 'when it stays silent or stops in the middle, after limits.handshake_timeout (S-139)',
  },
  {
    name: 'first-bytes-time-limit',
    what: 'a connection whose first bytes do not show its protocol is closed',
    attack: 139,
    removals: [
      {
        text: 'const timer = setTimeout(() => void giveUp(), this.#options.headersTimeoutMs());',
        instead: 'const timer = setTimeout(() => {}, this.#options.headersTimeoutMs() + giveUp.length);',
      },
    ],
    test: 'src/platform/http/http2-cleartext.test.ts',
    testName: 'one that stops in the preface',
  },
  {
    name: 'proxy-header-bound',
    what: 'the size of a PROXY header is limited',
    attack: 139,
    removals: [{ text: 'bytes.length >= MAX_V1_BYTES ? INVALID : INCOMPLETE', instead: 'INCOMPLETE' }],
    test: PROXY_TEST,
    testName: 'at the byte that exceeds a limit, whatever time is left (S-139)',
  },
  {
    name: 'proxy-header-counted',
    what: 'the connection limit counts the client in the PROXY header, not the load balancer',
    attack: 180,
    removals: [
      { text: 'if (!this.#countPeer(connection)) {\n        connection.cut();\n        return false;\n      }' },
    ],
    test: PROXY_TEST,
    testName: 'limits.max_connections_per_address counts the source, not the load balancer',
  },
];
