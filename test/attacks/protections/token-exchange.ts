/** Token exchange. */
import type { Protection } from './protection.ts';

const TEST = 'test/attacks/token-exchange.test.ts';

export const TOKEN_EXCHANGE: readonly Protection[] = [
  {
    name: 'exchange-listed-clients',
    what: 'only tokens of listed clients can be exchanged',
    attack: 42,
    removals: [
      {
        text: ": owner !== undefined && (subjects.includes('*') || subjects.includes(owner));",
        instead: ': owner !== undefined && subjects.length > 0;',
      },
    ],
    test: TEST,
    testName: 'of an unlisted client',
  },
  {
    name: 'exchange-id-token-audience',
    what: 'an ID token can only be exchanged by the client that it was issued to',
    attack: 36,
    removals: [
      { text: '    claims.audience !== client.identifier ||\n' },
      { text: '? owner === client.id', instead: '? true' },
    ],
    test: TEST,
    testName: 'of an ID token',
  },
  {
    name: 'exchange-scope',
    what: 'the scope of an exchanged token stays within that of the subject token',
    attack: 27,
    removals: [{ text: 'granted.includes(scope) && scopes.includes(scope)', instead: 'scopes.includes(scope)' }],
    test: TEST,
    testName: 'never exceed the subject token',
  },
  {
    name: 'exchange-target',
    what: 'a token for some resource servers does not become one for all',
    attack: 43,
    removals: [{ text: 'known.length === 0 && subject.resources.length > 0', instead: 'known.length < 0' }],
    test: TEST,
    testName: 'foreign audiences are refused',
  },
  {
    name: 'exchange-lifetime',
    what: 'an exchanged token ends with its subject token',
    attack: 45,
    removals: [{ text: '    subject.expires_at ?? Number.POSITIVE_INFINITY,\n' }],
    test: TEST,
    testName: 'expires no later',
  },
  {
    name: 'exchange-ancestors',
    what: 'a token is invalid once any session in its exchange chain has ended',
    attack: 102,
    removals: [
      {
        text: "${oauthSessionIsLive('s')} and ${clientIsEnabled('c')} and ${ancestorsAreLive('s')}",
        instead: "${oauthSessionIsLive('s')} and ${clientIsEnabled('c')}",
      },
    ],
    test: TEST,
    testName: 'at the moment it starts',
  },
  {
    name: 'exchange-key',
    what: 'a key-bound token is exchanged only with a proof of its key',
    attack: 48,
    removals: [
      {
        text: 'subject.dpop_jkt !== null && subject.dpop_jkt !== proofKey?.thumbprint',
        instead: 'subject.dpop_jkt === proofKey?.thumbprint && proofKey === undefined && now < 0',
      },
    ],
    test: TEST,
    testName: 'bound to a key',
  },
  {
    name: 'exchange-actor',
    what: 'an actor token must belong to the calling client',
    attack: 42,
    removals: [
      {
        text: "|| !isVerified || fromUuid<'client'>(found.client_id) !== client.id",
        instead: '|| !isVerified',
      },
    ],
    test: TEST,
    testName: 'rejects one of another client',
  },
];
