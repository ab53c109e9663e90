/** Device codes and the page where users enter them. */
import type { Protection } from './protection.ts';

export const DEVICE_GRANT: readonly Protection[] = [
  {
    name: 'device-host',
    what: 'the device page shows the owner of the client',
    attack: 116,
    removals: [{ text: 'host: shown.host ?? commonHost(client.redirectUris)', instead: 'host: shown.host' }],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'without a home page',
  },
  {
    name: 'device-code-single-use',
    what: 'the update that redeems a device code checks that it is unused',
    attack: 115,
    removals: [{ text: '.exchanged_at is null\n', instead: '.fulfilled_at is not null\n' }],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'one token response',
  },
  {
    name: 'device-code-own-client',
    what: 'a device code can only be redeemed by the client that it was issued to',
    attack: 115,
    removals: [
      {
        text: "if (!row.is_own_client) return refuse('other-client');\n  const { is_exchanged",
        instead: 'const { is_exchanged',
      },
    ],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'do not affect the code',
  },
  {
    name: 'device-page-bound',
    what: 'the device page only works in the browser in which the code was entered',
    attack: 117,
    removals: [
      { text: ' || id === undefined || !isGrantBound(context, id, now)) {', instead: ' || id === undefined) {' },
    ],
    test: 'test/attacks/device-grant.test.ts',
    testName: '(S-117)',
  },
  {
    name: 'user-code-charged-first',
    what: 'an attempt at a user code is counted before the code is looked up',
    attack: 114,
    removals: [
      {
        text: "if (!taken.ok) {\n      log.warn('device.user_code'",
        instead: "if (!taken.ok && false) {\n      log.warn('device.user_code'",
      },
    ],
    test: 'test/attacks/device-grant.test.ts',
    testName: '(S-114)',
  },
  {
    name: 'device-polls-in-turn',
    what: 'concurrent polls are each checked against the time of the previous one',
    attack: 115,
    removals: [
      {
        text: 'where device_code_hash = :deviceCodeHash::bytea\n       for no key update',
        instead: 'where device_code_hash = :deviceCodeHash::bytea',
      },
    ],
    test: 'test/attacks/device-grant.test.ts',
    testName: '(S-115)',
  },
  {
    name: 'device-grants-of-address',
    what: 'an address may have at most a hundred unredeemed device codes',
    attack: 179,
    removals: [{ text: 'const MAX_WAITING = 100;', instead: 'const MAX_WAITING = 1000;' }],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'a hundred in total',
  },
];
