/** Devices of chat clients that sign in through OAuth. */
import type { Protection } from './protection.ts';

export const CHAT_DEVICES: readonly Protection[] = [
  {
    name: 'device-with-client-api',
    what: 'a client without access to the client API gets no device, even if it is registered for one',
    attack: 103,
    removals: [{ text: "this.classify(scope) === 'chat-device' ? this.#stableApi : scope", instead: 'scope' }],
    test: 'test/journeys/client-scopes.test.ts',
    testName: 'dropped together with a client API',
  },
  {
    name: 'narrowed-scopes-fit-together',
    what: 'a refresh does not create an access token for a device scope alone',
    attack: 27,
    removals: [{ text: ' || rules.setProblem(scopes, client.sector !== undefined) !== undefined' }],
    test: 'test/journeys/client-scopes.test.ts',
    testName: 'never grants a device alone',
  },
  {
    name: 'code-state-with-lease',
    what: 'a request that waited for the lease makes no call if its code was used in the meantime',
    attack: 17,
    removals: [{ text: ' || !claimed.is_redeemable) return', instead: ') return' }],
    test: 'test/homeserver/oauth-devices.test.ts',
    testName: 'by one call; the others are answered',
  },
  {
    name: 'code-fenced-by-lease',
    what: 'a request that lost the lease during the homeserver call does not redeem the code',
    attack: 103,
    removals: [
      {
        text: 'and exists (select from fenced)\n       and',
        instead: 'and exists (select from sign_in)\n       and',
      },
    ],
    test: 'test/homeserver/oauth-devices.test.ts',
    testName: 'a request that loses the lease',
  },
  {
    name: 'device-of-chat-session-replaced',
    what: 'an OAuth sign-in ends the session of a chat client on the same device',
    attack: 103,
    removals: [
      {
        text: "compatSessionIsLive('compat_sessions')}\n           and exists (select from consumed)",
        instead: "compatSessionIsLive('compat_sessions')} and false",
      },
    ],
    test: 'test/homeserver/oauth-devices.test.ts',
    testName: '(I-17)',
  },
  {
    name: 'code-device-before-session',
    what: 'a session with a device is stored after the homeserver knows the device',
    attack: 'F-17',
    removals: [
      {
        text: 'if (device.id === undefined) return (await write(null)).outcome;',
        instead: 'if (device.id !== "") return (await write(null)).outcome;',
      },
    ],
    test: 'test/homeserver/oauth-devices.test.ts',
    testName: '(I-22)',
  },
];
