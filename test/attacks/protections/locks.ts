/** Row locks that keep concurrent requests from undoing each other. */
import type { Protection } from './protection.ts';

export const LOCKS: readonly Protection[] = [
  {
    name: 'exchange-locks-user',
    what: 'redeeming a code locks the user',
    attack: 102,
    removals: [
      {
        text: "       for share\n  ), ${sessionRoomCtes(':userId::uuid', ':deviceId",
        instead: "  ), ${sessionRoomCtes(':userId::uuid', ':deviceId",
      },
    ],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the redemption of a code',
  },
  {
    name: 'exchange-locks-session',
    what: 'redeeming a code locks the browser session',
    attack: 102,
    removals: [{ text: '       for share\n  ), ${giveBackLeaseCtes(', instead: '  ), ${giveBackLeaseCtes(' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the redemption of a code',
  },
  {
    name: 'refresh-locks-session',
    what: 'a refresh locks the session',
    attack: 102,
    removals: [{ text: "SESSION_LOCK = 'for share of s';", instead: "SESSION_LOCK = '';" }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of a refresh',
  },
  {
    name: 'fulfilment-locks-user',
    what: 'creating a code locks the user',
    attack: 102,
    removals: [
      {
        text: '       for share\n  ), sign_in as materialized (\n    select id, authenticated_at',
        instead: '  ), sign_in as materialized (\n    select id, authenticated_at',
      },
    ],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the creation of a code',
  },
  {
    name: 'fulfilment-locks-session',
    what: 'creating a code locks the browser session',
    attack: 102,
    removals: [{ text: '       for share\n  ), fulfilled as (', instead: '  ), fulfilled as (' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the creation of a code',
  },
  {
    name: 'sign-in-locks-user',
    what: 'a sign-in locks the user',
    attack: 102,
    removals: [{ text: '    for share of u for no key update of p\n', instead: '    for no key update of p\n' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of a sign-in',
  },
  {
    name: 'sign-in-locks-password',
    what: 'a sign-in locks the password',
    attack: 102,
    removals: [{ text: '    for share of u for no key update of p\n', instead: '    for share of u\n' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of a sign-in',
  },
];
