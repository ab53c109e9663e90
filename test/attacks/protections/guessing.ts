/** Guessing usernames and passwords. */
import type { Protection } from './protection.ts';

export const GUESSING: readonly Protection[] = [
  {
    name: 'dummy-hash',
    what: 'a name that no account has costs a hash as well',
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
    testName: 'at the fifth wrong one',
  },
  {
    name: 'neighbors-are-no-proxies',
    what: 'a neighbor in a private network does not choose the address that it is counted by',
    attack: 87,
    removals: [
      {
        text: "return protocolName === 'matrix' ? PRIVATE_NETWORKS : LOOPBACK_NETWORKS;",
        instead: 'return protocolName === undefined ? LOOPBACK_NETWORKS : PRIVATE_NETWORKS;',
      },
    ],
    test: 'src/config/load.test.ts',
    testName: 'only proxies on this machine are trusted',
  },
  {
    name: 'ipv6-network',
    what: 'an IPv6 address is counted by its /64',
    attack: 87,
    removals: [{ text: 'parsed.parts.slice(0, 4)', instead: 'parsed.parts' }],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-87)',
  },
  {
    name: 'known-browser',
    what: 'tries from a browser that the account knows are counted apart',
    attack: 88,
    removals: [
      { text: '        where known.user_id = account.user_id limit 1', instead: '        where false limit 1' },
    ],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-88)',
  },
  {
    name: 'known-browser-nonce',
    what: 'each browser that the account knows is counted by itself',
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
