import { describe, expect, test } from 'vitest';
import { isReservedScope, parseScope, ScopeRules } from './scopes.ts';

const rules = new ScopeRules('chat', ['events.read', 'openid']);
const API = 'urn:chat:client:api:*';
const UNSTABLE_API = 'urn:chat:org.chat.msc2967.client:api:*';
const DEVICE = 'urn:chat:client:device:ABCDEFGHIJ';
const UNSTABLE_DEVICE = 'urn:chat:org.chat.msc2967.client:device:ABCDEFGHIJ';

describe('scope parameter', () => {
  test('is split at single or repeated spaces, and duplicates are removed', () => {
    expect(parseScope(' openid  email openid ')).toEqual(['openid', 'email']);
  });

  test.each(['', '   ', 'a"b', 'a\\b', 'é', 'a\tb', 'a\nb', 'a\u007f'])(
    '%j is not a valid scope (RFC 6749 3.3)',
    (text) => {
      expect(parseScope(text)).toBeUndefined();
    },
  );

  test('has at most 2,048 characters and 50 tokens', () => {
    expect(parseScope('a'.repeat(2048))).toHaveLength(1);
    expect(parseScope('a'.repeat(2049))).toBeUndefined();
    const fifty = Array.from({ length: 50 }, (_, index) => `s${index}`);
    expect(parseScope(fifty.join(' '))).toHaveLength(50);
    expect(parseScope([...fifty, 'more'].join(' '))).toBeUndefined();
  });
});

describe('scopes by name', () => {
  test.each([
    ['openid', 'openid'],
    ['email', 'claims'],
    ['profile', 'claims'],
    ['offline_access', 'offline-access'],
    [API, 'chat-api'],
    [UNSTABLE_API, 'chat-api'],
    [DEVICE, 'chat-device'],
    [UNSTABLE_DEVICE, 'chat-device'],
    ['urn:synapse:admin:*', 'homeserver-admin'],
    ['urn:latchkey:admin', 'admin'],
    ['urn:mas:admin', 'admin'],
    ['events.read', 'resource'],
    ['OpenID', undefined],
    ['urn:matrix:client:api:*', undefined],
    ['anything', undefined],
  ])('%s is %s', (scope, kind) => {
    expect(rules.classify(scope)).toBe(kind);
  });

  test.each([API, UNSTABLE_DEVICE, 'openid', 'urn:matrix:client:device:X', 'urn:latchkey:graphql:*', 'urn:mas:new'])(
    '%s cannot be a scope of a resource server',
    (scope) => {
      expect(isReservedScope(scope)).toBe(true);
    },
  );

  test.each(['events.read', 'https://files.example/read', 'urn:example:client', 'urn:chat:clients:api'])(
    '%s can be a scope of a resource server',
    (scope) => {
      expect(isReservedScope(scope)).toBe(false);
    },
  );

  test('follow the protocol name', () => {
    const matrix = new ScopeRules('matrix');
    expect(matrix.classify('urn:matrix:org.matrix.msc2967.client:api:*')).toBe('chat-api');
    expect(matrix.classify('urn:mas:admin')).toBe('admin');
    expect(matrix.classify(API)).toBeUndefined();
  });

  test('both spellings of a scope are equivalent', () => {
    expect(rules.isCovered([UNSTABLE_API, UNSTABLE_DEVICE, 'urn:mas:admin'], [API, DEVICE, 'urn:latchkey:admin'])).toBe(
      true,
    );
    expect(rules.isCovered(['openid', 'email'], ['openid'])).toBe(false);
  });

  test('admin scopes are those of the service and of the homeserver', () => {
    expect(
      ['urn:latchkey:admin', 'urn:mas:admin', 'urn:synapse:admin:*', API, 'openid'].map((s) => rules.isAdmin(s)),
    ).toEqual([true, true, true, false, false]);
  });
});

describe('scopes requested on behalf of a user', () => {
  test('unknown ones are dropped, and the requested spelling is kept', () => {
    expect(rules.filterForUser(['openid', 'unknown', 'urn:mas:admin', UNSTABLE_API], undefined)).toEqual([
      'openid',
      'urn:mas:admin',
      UNSTABLE_API,
    ]);
  });

  test('unregistered ones are dropped; either spelling counts as registered', () => {
    expect(rules.filterForUser(['openid', 'email', UNSTABLE_API], ['openid', API])).toEqual(['openid', UNSTABLE_API]);
  });

  test('a device scope requires the client API to be registered, not itself', () => {
    expect(rules.filterForUser([API, DEVICE], ['openid', UNSTABLE_API])).toEqual([API, DEVICE]);
    expect(rules.filterForUser([API, DEVICE, 'openid'], ['openid'])).toEqual(['openid']);
    expect(rules.filterForUser([API, DEVICE, 'openid'], ['openid', DEVICE])).toEqual(['openid']);
  });

  test.each([
    [['openid']],
    [[API, DEVICE]],
    [[UNSTABLE_API, UNSTABLE_DEVICE, 'openid']],
    [[API, "urn:chat:client:device:aZ0._~!$&'()*+,;=:@/-"]],
  ])('%j is valid', (scopes) => {
    expect(rules.setProblem(scopes, false)).toBeUndefined();
  });

  test.each([
    ['two devices', [API, DEVICE, 'urn:chat:client:device:KLMNOPQRST']],
    ['a device in both spellings', [API, DEVICE, UNSTABLE_DEVICE]],
    ['stable and unstable names', [API, UNSTABLE_DEVICE]],
    ['both spellings of the API', [API, UNSTABLE_API]],
    ['a device without the API', [DEVICE, 'openid']],
    ['a short device id', [API, 'urn:chat:client:device:ABCDEFGHI']],
    ['a long device id', [API, `urn:chat:client:device:${'A'.repeat(256)}`]],
    ['no device id', [API, 'urn:chat:client:device:']],
    ['a device id with other characters', [API, 'urn:chat:client:device:ABCDEFGHIJ%20']],
  ])('%s is rejected (oauth 14.2)', (_, scopes) => {
    expect(rules.setProblem(scopes, false)).toEqual(expect.any(String));
  });

  test.each([
    ['openid', undefined],
    ['openid profile email offline_access', undefined],
    [API, API],
    [`openid ${UNSTABLE_API} ${UNSTABLE_DEVICE}`, UNSTABLE_API],
    ['urn:synapse:admin:*', 'urn:synapse:admin:*'],
    ['openid urn:mas:admin', 'urn:mas:admin'],
  ])(
    'with %s a client with pairwise subjects is rejected for what reveals the account (oauth 15.5)',
    (text, refused) => {
      const problem = rules.setProblem(text.split(' '), true);
      expect(problem).toEqual(refused === undefined ? undefined : expect.stringContaining(refused));
    },
  );

  test('the device is found in either spelling', () => {
    expect(rules.deviceIdOf([API, DEVICE])).toBe('ABCDEFGHIJ');
    expect(rules.deviceIdOf([UNSTABLE_DEVICE])).toBe('ABCDEFGHIJ');
    expect(rules.deviceIdOf([API, 'openid'])).toBeUndefined();
  });
});

describe('scopes that a client requests for itself', () => {
  const options = { registered: undefined, mayAdminister: false, isVouchedFor: true };

  test('offline_access is dropped, the others are granted', () => {
    expect(rules.filterForClient(['openid', 'offline_access', 'email'], options)).toEqual(['openid', 'email']);
  });

  test.each(['unknown', API, DEVICE, 'urn:synapse:admin:*', 'urn:mas:admin'])('with %s nothing is granted', (scope) => {
    expect(rules.filterForClient(['openid', scope], options)).toBeUndefined();
  });

  test('admin scopes are for clients named by the operator, in either spelling', () => {
    expect(rules.filterForClient(['urn:mas:admin'], { ...options, mayAdminister: true })).toEqual(['urn:mas:admin']);
    expect(rules.filterForClient(['urn:synapse:admin:*'], { ...options, mayAdminister: true })).toBeUndefined();
  });

  test('nothing is granted beyond the registered scopes', () => {
    expect(rules.filterForClient(['openid', 'email'], { ...options, registered: ['openid'] })).toBeUndefined();
  });

  test('scopes of a resource server are for configured clients whose scope contains them', () => {
    const registered = ['events.read'];
    expect(rules.filterForClient(registered, { ...options, registered })).toEqual(registered);
    expect(rules.filterForClient(registered, { ...options, registered, isVouchedFor: false })).toBeUndefined();
    expect(rules.filterForClient(registered, options)).toBeUndefined();
  });
});

test('introspection shows client API and device scopes in both spellings, without duplicates', () => {
  expect(rules.normalizeForIntrospection(['openid', UNSTABLE_API, DEVICE])).toEqual([
    'openid',
    UNSTABLE_API,
    API,
    DEVICE,
    UNSTABLE_DEVICE,
  ]);
  expect(rules.normalizeForIntrospection(['urn:mas:admin'])).toEqual(['urn:mas:admin']);
});
