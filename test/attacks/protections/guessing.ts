/** Guessing usernames and passwords. */
import type { Protection } from './protection.ts';

export const GUESSING: readonly Protection[] = [
  {
    name: 'dummy-hash',
    what: 'a nonexistent username also costs a hash',
    attack: 79,
    removals: [
      { text: '      await this.#queue.run(() => findForm(this.#newest, this.#newest.dummy, password), caller);\n' },
    ],
    test: 'test/attacks/enumeration.test.ts',
    testName: '(S-79)',
  },
  {
    name: 'fifth-confirmation',
    what: 'the fifth wrong confirmation in a row ends the session',
    attack: 87,
    removals: [{ text: 'const MAX_FAILURES = 5;', instead: 'const MAX_FAILURES = 5_000;' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: 'at the fifth wrong password',
  },
  {
    name: 'neighbors-are-no-proxies',
    what: 'a neighbor in a private network cannot choose the address that its requests are counted for',
    attack: 87,
    removals: [
      {
        text: "return protocolName === 'matrix' ? PRIVATE_NETWORKS : LOOPBACK_NETWORKS;",
        instead: 'return protocolName === undefined ? LOOPBACK_NETWORKS : PRIVATE_NETWORKS;',
      },
    ],
    test: 'src/config/load.test.ts',
    testName: 'trusts only local proxies; with "private", or for Matrix, also those of private networks',
  },
  {
    name: 'ipv6-network',
    what: 'IPv6 addresses are counted per /64',
    attack: 87,
    removals: [{ text: 'parsed.parts.slice(0, 4)', instead: 'parsed.parts' }],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-87)',
  },
  {
    name: 'known-browser',
    what: 'attempts from a browser known to the account are counted separately',
    attack: 88,
    removals: [
      { text: '        where known.user_id = account.user_id limit 1', instead: '        where false limit 1' },
    ],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-88)',
  },
  {
    name: 'known-browser-nonce',
    what: 'each browser known to the account is counted separately',
    attack: 88,
    removals: [
      {
        text: "select 'login:known:' || subject.key || ':' || subject.nonce,",
        instead: "select 'login:known:' || subject.key,",
      },
    ],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-88)',
  },
];
