/** Connections, parsers and load. */
import type { Protection } from './protection.ts';

export const REQUESTS: readonly Protection[] = [
  {
    name: 'idle-connections',
    what: 'an idle connection is closed',
    attack: 139,
    removals: [{ text: 'keepAliveTimeout: limits.keepAliveTimeoutSeconds * 1000,', instead: 'keepAliveTimeout: 0,' }],
    test: 'test/attacks/slow-connections.test.ts',
    testName: '(S-139)',
  },
  {
    name: 'slow-handshakes',
    what: 'a PROXY header or a TLS handshake has a timeout',
    attack: 139,
    removals: [
      { text: 'setTimeout(() => this.#reject(connection, awaited()), timeoutMs())', instead: 'setTimeout(() => {})' },
    ],
    test: 'src/platform/http/proxy-protocol.test.ts',
    testName: '(S-139)',
  },
  {
    name: 'proxy-source',
    what: 'only listed load balancers may use the PROXY protocol',
    attack: 147,
    removals: [
      { text: 'peer.address !== undefined && !this.#from.has(peer.address)', instead: 'peer.address === undefined' },
    ],
    test: 'src/platform/http/proxy-protocol.test.ts',
    testName: 'outside of `from`',
  },
  {
    name: 'two-hashes',
    what: 'two hashes are computed at a time',
    attack: 143,
    removals: [
      {
        text: 'if (this.#running < this.#limits.concurrency) this.#running += 1;',
        instead: 'if (this.#running < 4 * this.#limits.concurrency) this.#running += 1;',
      },
    ],
    test: 'test/attacks/exhaustion.test.ts',
    testName: '(S-143)',
  },
  {
    name: 'linear-expressions',
    what: 'regular expressions run in linear time (a quadratic one is planted)',
    attack: 144,
    removals: [{ text: 'const PLAIN = /^[A-Za-z0-9', instead: 'const PLAIN = /^(?!.*\\.+-$)[A-Za-z0-9' }],
    test: 'test/attacks/exhaustion.test.ts',
    testName: '(S-144)',
  },
  {
    name: 'last-request',
    what: 'data after the last request of a connection is not processed',
    attack: 150,
    removals: [
      {
        text: '    if (connection === undefined || connection.isOver) return;\n    if (connection.admit',
        instead: '    if (connection === undefined) return;\n    if (connection.admit',
      },
    ],
    test: 'test/attacks/proxies-and-framing.test.ts',
    testName: '(S-150)',
  },
  {
    name: 'nul',
    what: 'a NUL in a field is rejected',
    attack: 159,
    removals: [
      {
        text: "if (PLAIN.test(text)) return text;\n  try {\n    const decoded = decodeURIComponent(text.replaceAll('+', ' '));\n    return decoded.includes('\\0') ? undefined : decoded;",
        instead:
          "if (PLAIN.test(text)) return text;\n  try {\n    return decodeURIComponent(text.replaceAll('+', ' '));",
      },
    ],
    test: 'test/attacks/parsers.test.ts',
    testName: '(S-159)',
  },
  {
    name: 'pipelined-requests',
    what: 'at most 16 requests are queued on a connection',
    attack: 175,
    removals: [
      {
        text: 'if (this.#waiting.length === MAX_PIPELINED) {',
        instead: 'if (this.#waiting.length === 1000 * MAX_PIPELINED) {',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-175)',
  },
  {
    name: 'turns-of-connections',
    what: 'pipelined requests take turns with other connections',
    attack: 175,
    removals: [
      {
        text: 'if (this.socket.bytesRead === this.#bytesReadWhenIdle) setImmediate(() => this.#goOn());',
        instead: 'if (this.isOver) return false;',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-175)',
  },
  {
    name: 'unread-answers',
    what: 'the next request is processed once the previous response was read',
    attack: 175,
    removals: [{ text: 'if (this.#previous?.isSent === false) {', instead: 'if (this.#previous === undefined) {' }],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-175)',
  },
  {
    name: 'order-of-refusals',
    what: 'malformed data is answered in order',
    attack: 185,
    removals: [
      {
        text: 'connection.admit(this.#exchange({ listener, request, response, connection, expectsContinue: false, prepare }));',
        instead:
          'this.#exchange({ listener, request, response, connection, expectsContinue: false, prepare }).start();',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-185)',
  },
  {
    name: 'bodies-take-no-place',
    what: 'a request takes an in-flight slot once its body has arrived',
    attack: 176,
    removals: [
      {
        text: '    this.#settings.inFlight.leave(this);\n    const bytes = await reading;',
        instead: '    const bytes = await reading;',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-176)',
  },
  {
    name: 'kept-capacity',
    what: 'health, discovery, introspection and sign-in have reserved slots',
    attack: 176,
    removals: [
      {
        text: "if (this.isFull && !isKept) throw overloaded('overloaded');",
        instead: "if (this.isFull) throw overloaded('overloaded');",
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-176)',
  },
  {
    name: 'connections-of-network',
    what: 'connections are counted per /64 of an IPv6 address',
    attack: 180,
    removals: [
      {
        text: 'const key = addressKey(peer.address);\n    const count',
        instead: "const key = peer.address ?? '';\n    const count",
      },
    ],
    test: 'test/attacks/connections.test.ts',
    testName: '(S-180)',
  },
  {
    name: 'descriptors',
    what: 'idle connections are closed when file descriptors run out',
    attack: 187,
    removals: [
      {
        text: 'return this.#bySocket.size < this.#descriptors.connections || this.#closeOne();',
        instead: 'return true;',
      },
      { text: '      if (!this.#closeOne()) return;\n' },
    ],
    test: 'test/attacks/process-limits.test.ts',
    testName: '(S-187)',
    isBuilt: true,
  },
  {
    name: 'stop-pending-connections',
    what: 'connections made before a stop are served',
    attack: 'F-05',
    removals: [{ text: '      await afterPendingEvents();\n      quietChecks', instead: '      quietChecks' }],
    test: 'src/platform/http/shutdown.test.ts',
    testName: 'serves connections that were established but not yet accepted',
  },
  {
    name: 'stop-unread-requests',
    what: 'a connection with an unread request is not treated as idle',
    attack: 'F-05',
    removals: [
      { text: '    await afterPendingEvents();\n    this.#connections', instead: '    this.#connections' },
      { text: 'IDLE_WHEN_CLOSING_MS + IDLE_PER_DELAY * delayMs', instead: 'IDLE_WHEN_CLOSING_MS + 0 * delayMs' },
    ],
    test: 'src/platform/http/shutdown.test.ts',
    testName: 'answers requests sent on an idle connection but not yet read',
  },
  {
    name: 'descriptors-all-used',
    what: 'connections are closed if no descriptor is left to measure with',
    attack: 'F-13',
    removals: [
      {
        text: "    if (!isErrno(error, 'EMFILE', 'ENFILE')) return UNLIMITED;\n",
        instead: '    if (error !== undefined) return UNLIMITED;\n',
      },
    ],
    test: 'test/attacks/process-limits.test.ts',
    testName: 'F-13: a limit lowered',
    isBuilt: true,
  },
  {
    name: 'paths-as-received',
    what: 'fixed path segments are compared as received',
    attack: 152,
    removals: [{ text: 'if (!isSpelledAs(route.path, path)) return undefined;' }],
    test: 'src/platform/http/responses-over-http.test.ts',
    testName: '(security S-152)',
  },
  {
    name: 'work-of-address',
    what: 'an address that has used up its processor time is rejected before any work',
    attack: 145,
    removals: [{ text: 'if (seconds > 0 && !this.#isProven(credentials)) throw', instead: 'if (seconds > 1e9) throw' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'rejects an address that exhausted its budget on every route, in its error format, and serves others',
  },
  {
    name: 'work-at-once',
    what: 'few requests per address are processed concurrently',
    attack: 145,
    removals: [{ text: 'if (count >= MAX_AT_ONCE) return false;' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'beyond three at once',
  },
  {
    name: 'work-in-turn',
    what: 'the event loop stays available before an expensive request of an address with high usage',
    attack: 145,
    removals: [
      {
        text: 'Math.max(this.#mayBeginAt, now) + pauseAfter(this.#share() * (loopMs(taker.task) - before))',
        instead: 'now - before',
      },
    ],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'yields the event loop after each expensive request of an address that used much',
  },
  {
    name: 'work-refusals-wait',
    what: 'a caller that continues after a rejection waits for the next one',
    attack: 145,
    removals: [{ text: 'if (thrown instanceof WorkUsedUp && thrown.isRepeated) await this.#hold(exchange);' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'delays further rejections of a client that continues after the first one',
  },
  {
    name: 'work-of-former-credentials',
    what: 'having authenticated once does not exempt from the limit of the address permanently',
    attack: 145,
    removals: [{ text: 'if (uses < MAX_UNVERIFIED_USES) this.#proven', instead: 'if (uses < 1e9) this.#proven' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'soon forgets credentials that are no longer valid',
  },
  {
    name: 'work-is-charged',
    what: 'requests are charged with their actual cost',
    attack: 145,
    removals: [{ text: '      exchange.charge();\n' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'rejects an address that exhausted its budget on every route, in its error format, and serves others',
  },
  {
    name: 'work-of-claimed-clients',
    what: 'a client that only names itself is charged to its address',
    attack: 145,
    removals: [{ text: 'if (options.isClaimed !== true) this.#payer', instead: 'this.#payer' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'a client has a limit where one is set, and an unauthenticated one is charged to its address',
  },
  {
    name: 'work-of-account',
    what: 'an account that has used up its processor time is rejected from any address',
    attack: 145,
    removals: [{ text: 'this.#settings.work.requirePayer(this.#payer, id);', instead: 'id.trim();' }],
    test: 'src/platform/http/work-budget.test.ts',
    testName: 'an account has its own budget across addresses; clients and homeservers are not limited',
  },
  {
    name: 'work-of-pages',
    what: 'every page with a session rejects an account that has used up its processor time',
    attack: 145,
    removals: [{ text: '    context.requireWork();\n    activity.record', instead: '    activity.record' }],
    test: 'test/attacks/work-of-accounts.test.ts',
    testName: 'on every route that checks who is signed in',
  },
];
