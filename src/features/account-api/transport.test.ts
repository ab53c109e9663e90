import { getIntrospectionQuery } from 'graphql';
import { auditServer } from 'graphql-http';
import { beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '#test/support/fake-clock.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const WHO = 'query Who { viewer { ... on User { username } } }';
let nobody: GraphqlClient;
let gita: GraphqlClient;
let origin: string;

const service = await sharedByTests(
  startService(
    { rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT } } },
    { clock: new FakeClock() },
  ),
);

beforeAll(async () => {
  await service.registerUser('gita', PASSWORD);
  nobody = new GraphqlClient(service);
  gita = await GraphqlClient.signedIn(service, 'gita', PASSWORD);
  origin = new URL(service.publicBase).origin;
});

function times(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(' ');
}

/** Returns what the last log line says about the operation. */
function logged(): string | undefined {
  const line = service.logLines().findLast((text) => text.includes(' http.server.response ')) ?? '';
  return / (graphql\.operation\.\S+(?: graphql\.operation\.\S+)?)$/
    .exec(line)?.[1]
    ?.replaceAll('graphql.operation.', '');
}

test('passes the GraphQL over HTTP audit', async () => {
  const results = await auditServer({ url: `${service.address}/graphql`, fetchFn: fetch });
  expect(results.length).toBeGreaterThan(50);
  expect(results.filter(({ status }) => status !== 'ok').map(({ name }) => name)).toEqual([]);
});

describe('a request body (account-graphql 1.2, S-135)', () => {
  const valid = JSON.stringify({ query: '{ __typename }' });

  test.each([
    ['another type', valid, { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'a form',
      'query={__typename}',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['an upload', valid, { 'content-type': 'multipart/form-data; boundary=x' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a bare document', '{ __typename }', { 'content-type': 'application/graphql' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'another character set',
      valid,
      { 'content-type': 'application/json; charset=latin1' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['compressed', valid, { 'content-encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['no JSON', '{', {}, 400, 'BAD_REQUEST'],
    ['no object', '"x"', {}, 400, 'BAD_REQUEST'],
    ['a list of one', `[${valid}]`, {}, 400, 'BATCHING_NOT_SUPPORTED'],
    ['without a document', '{}', {}, 400, 'BAD_REQUEST'],
    ['with an empty document', '{"query":""}', {}, 400, 'BAD_REQUEST'],
    ['with only the hash of one', '{"extensions":{"persistedQuery":{"version":1}}}', {}, 400, 'BAD_REQUEST'],
    ['with a number as name', '{"query":"{__typename}","operationName":1}', {}, 400, 'BAD_REQUEST'],
    ['with a list of variables', '{"query":"{__typename}","variables":[]}', {}, 400, 'BAD_REQUEST'],
    ['with extensions of text', '{"query":"{__typename}","extensions":"x"}', {}, 400, 'BAD_REQUEST'],
    ['with NUL', '{"query":"{__typename}","variables":{"a":"\\u0000"}}', {}, 400, 'BAD_REQUEST'],
    ['with an unpaired surrogate', '{"query":"{__typename}","variables":{"a":"\\ud800"}}', {}, 400, 'BAD_REQUEST'],
    [
      'with variables 11 deep',
      `{"query":"{__typename}","variables":${'{"a":'.repeat(11)}1${'}'.repeat(11)}}`,
      {},
      400,
      'BAD_REQUEST',
    ],
    [
      'above 256 KiB',
      JSON.stringify({ query: '{ __typename }', x: 'x'.repeat(262_144) }),
      {},
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ])('rejects %s', async (_, body, headers, status, code) => {
    const response = await nobody.post(body, headers);
    expect([response.status, codesOf(response), response.data]).toEqual([status, [code], undefined]);
    expect(response.errors[0]?.extensions['requestId']).toMatch(/^POST-\d+$/);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(logged()).toBeUndefined();
  });

  test.each([
    ['a type in capitals with its character set', valid, { 'content-type': 'Application/JSON; charset="UTF-8"' }],
    [
      'null for optional members',
      '{"query":"{__typename}","variables":null,"operationName":null,"extensions":null}',
      {},
    ],
    ['unknown members', '{"query":"{__typename}","__proto__":{"query":"x"},"id":1}', {}],
    ['the last of two documents', '{"query":"{nothing}","query":"{__typename}"}', {}],
    ['variables 10 deep', `{"query":"{__typename}","variables":${'{"a":'.repeat(10)}1${'}'.repeat(10)}}`, {}],
  ])('accepts %s', async (_, body, headers) => {
    expect((await nobody.post(body, headers)).data).toEqual({ __typename: 'Query' });
  });
});

describe('a query in the URL (account-graphql 1.3, S-138)', () => {
  test('is answered like one in a body', async () => {
    const response = await nobody.get({
      query: 'query A($x: Boolean!) { __typename @include(if: $x) }',
      variables: '{"x":true}',
    });
    expect([response.status, response.data]).toEqual([200, { __typename: 'Query' }]);
    expect(logged()).toBe('type=query name=A');
  });

  test.each([
    ['/graphql', 400],
    ['/graphql?query=', 400],
    ['/graphql?query={__typename}&query={__typename}', 400],
    ['/graphql?query={__typename}&variables={', 400],
    ['/graphql?query={__typename}&access_token=x', 400],
    [`/graphql?query={__typename}&x=${'x'.repeat(8200)}`, 414],
    ['/graphql/', 404],
  ])('%.60s returns %i', async (path, status) => {
    expect((await fetch(service.address + path)).status).toBe(status);
  });

  test.each([
    ['an image on another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
    ['a link on another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }],
    ['a page of another host of this site', { 'sec-fetch-site': 'same-site' }],
    ['a script of another site', { origin: 'https://evil.example' }],
  ])('from %s is rejected before anything is parsed or counted', async (_, headers) => {
    const response = await nobody.with(headers).get({ query: '{ __typename' });
    expect([response.status, codesOf(response)]).toEqual([403, ['CSRF_REJECTED']]);
    expect(service.requestLines().at(-1)?.queries).toBe(0);
  });

  test('rejects a mutation before running it', async () => {
    const response = await gita.get({ query: 'mutation M { __typename }' });
    expect([response.status, response.headers.get('allow'), codesOf(response)]).toEqual([
      405,
      'POST',
      ['METHOD_NOT_ALLOWED'],
    ]);
    expect(logged()).toBe('type=mutation name=M');
  });

  test.each(['PUT', 'DELETE'])('%s returns 405 with the allowed methods', async (method) => {
    const response = await fetch(`${service.address}/graphql`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });
});

describe('the response (account-graphql 1.4)', () => {
  test.each([
    ['{', 'GRAPHQL_PARSE_FAILED'],
    ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['fragment A on User { id }', 'GRAPHQL_VALIDATION_FAILED'],
    ['query A { __typename } query B { __typename }', 'OPERATION_RESOLUTION_FAILURE'],
    ['subscription { x }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'query A($x: Int!) { __typename @skip(if: false) viewer @include(if: true) { __typename } node(id: "x") { id } user(id: $y) { id } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
  ])('to %.40s has status 200, or 400 for the GraphQL media type', async (query, code) => {
    const [plain, typed] = await Promise.all([
      nobody.query(query),
      nobody.with({ accept: 'application/graphql-response+json' }).query(query),
    ]);
    for (const response of [plain, typed]) {
      expect([response.data, codesOf(response)[0]]).toEqual([undefined, code]);
      expect(response.text).not.toMatch(/"stack|select /i);
    }
    expect([plain.status, typed.status]).toEqual([200, 400]);
    expect(typed.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
  });

  test('names variables of the wrong type', async () => {
    const response = await nobody.query('query A($id: ID!) { user(id: $id) { id } }', { id: true });
    expect([response.status, codesOf(response), response.data]).toEqual([200, ['BAD_USER_INPUT'], undefined]);
    expect(response.errors[0]?.message).toContain('$id');
  });

  test('never echoes variables in errors', async () => {
    const secret = 'hunter2-hunter2';
    const responses = await Promise.all([
      nobody.query(
        'query A($n: Int!) { node(id: "x") { id } viewer { ... on User { emails(first: $n) { totalCount } } } }',
        {
          n: secret,
        },
      ),
      nobody.query('mutation A($input: SetPasswordInput!) { setPassword(input: $input) { status } }', {
        input: { userId: 'user:1', newPassword: { text: secret }, [secret.replace('-', '_')]: 1 },
      }),
      nobody.query(
        'query A($at: DateTime) { viewer { ... on User { browserSessions(lastActive: { after: $at }) { totalCount } } } }',
        {
          at: secret,
        },
      ),
      nobody.query(
        'query A($kinds: [SecurityEventKind!]) { viewer { ... on User { securityEvents(kind: $kinds) { totalCount } } } }',
        {
          kinds: Array.from({ length: 1000 }, () => secret),
        },
      ),
    ]);
    for (const response of responses) {
      expect(codesOf(response)[0]).toBe('BAD_USER_INPUT');
      expect(response.text).not.toContain('hunter2');
    }
    expect(responses.map(({ errors }) => [errors.length, errors[0]?.message])).toEqual([
      [1, 'variable $n must be of type Int!'],
      [2, 'variable $input.newPassword must be of type String!'],
      [1, 'variable $at must be of type DateTime: DateTime must be a date with time and offset (RFC 3339).'],
      [20, 'variable $kinds.0 must be of type SecurityEventKind!'],
    ]);
  });

  test('truncates errors that would echo a long name', async () => {
    const response = await nobody.query(`{ ${'x'.repeat(60_000)} }`);
    expect(codesOf(response)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(response.text.length).toBeLessThan(1000);
  });

  test.each([
    ['application/json;q=0.5, application/graphql-response+json;q=0.5', 'application/graphql-response+json'],
    ['application/json, application/graphql-response+json;q=0.9', 'application/json'],
    ['text/html', 'application/json'],
    ['*/*', 'application/json'],
  ])('uses the type preferred by Accept: %s, without caching', async (accept, type) => {
    const { headers } = await nobody.with({ accept }).query('{ __typename }');
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect([headers.get('cache-control'), headers.get('vary'), headers.get('x-content-type-options')]).toEqual([
      'no-store',
      'Origin, Accept',
      'nosniff',
    ]);
  });

  test('accepts a string variable in place of an ID, with the same nullability', async () => {
    expect((await nobody.query('query A($id: String!) { user(id: $id) { id } }', { id: 'user:x' })).data).toEqual({
      user: null,
    });
    expect(codesOf(await nobody.query('query A($id: String) { user(id: $id) { id } }'))).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(codesOf(await nobody.query('query A($id: Int!) { user(id: $id) { id } }'))).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });
});

describe('cross-site requests (account-graphql 1.6, S-58)', () => {
  test.each([
    ['the page of the service', () => ({ origin, 'sec-fetch-site': 'same-origin' }), 'gita'],
    ['a program', () => ({}), 'gita'],
    ['another origin', () => ({ origin: 'https://evil.example' }), undefined],
    ['an opaque origin', () => ({ origin: 'null' }), undefined],
    ['another site', () => ({ 'sec-fetch-site': 'cross-site' }), undefined],
    ['a sibling of the host', () => ({ 'sec-fetch-site': 'same-site' }), undefined],
    ['the address bar', () => ({ 'sec-fetch-site': 'none' }), undefined],
  ])('with the cookie, %s', async (_, headers, username) => {
    const caller = gita.with(headers());
    expect((await caller.query(WHO)).data).toEqual({ viewer: username === undefined ? {} : { username } });
    expect(service.requestLines().at(-1)?.requester?.includes('gita')).toBe(username === undefined ? undefined : true);
    const mutation = await caller.query('mutation M { __typename }');
    expect(mutation.status).toBe(username === undefined ? 403 : 200);
    if (username === undefined) expect(codesOf(mutation)).toEqual(['CSRF_REJECTED']);
    expect(logged()).toBe('type=mutation name=M');
  });

  test('cannot change anything without a cookie either', async () => {
    const response = await nobody.with({ origin: 'https://evil.example' }).query('mutation { __typename }');
    expect(response.status).toBe(403);
    expect(service.logLines().findLast((line) => line.includes(' auth.refused '))).toContain(
      `cross-site mutation rejected code=cross_site_request expected=${origin}`,
    );
  });

  test('a query in the address bar is answered for the signed-in user', async () => {
    expect((await gita.with({ 'sec-fetch-site': 'none' }).get({ query: WHO })).data).toEqual({
      viewer: { username: 'gita' },
    });
  });
});

describe('a mutation that checks a secret or changes a factor (S-135)', () => {
  const INPUTS: Readonly<Record<string, string>> = {
    completeEmailAuthentication: '(input: { id: "x", code: "x" })',
    completePasskeyRegistration: '(input: { challengeId: "x", response: {} })',
    completeTotpEnrolment: '(input: { enrolmentId: "x", code: "x" })',
    deactivateUser: '(input: { hsErase: false })',
    regenerateRecoveryCodes: '',
    removeEmail: '(input: { userEmailId: "x" })',
    removePasskey: '(input: { passkeyId: "x" })',
    removeTotp: '',
    resendRecoveryEmail: '(input: { ticket: "x" })',
    setPassword: '(input: { userId: "x", newPassword: "x" })',
    setPasswordByRecovery: '(input: { ticket: "x", newPassword: "x" })',
    startEmailAuthentication: '(input: { email: "x" })',
    startPasskeyRegistration: '(input: {})',
    startTotpEnrolment: '',
    unlinkUpstreamAccount: '(input: { linkId: "x" })',
  };
  const OTHERS = [
    ...['addEmail', 'addUser', 'allowUserCrossSigningReset', 'createOauth2Session', 'endAllSessions'],
    ...['endBrowserSession', 'endCompatSession', 'endOauth2Session', 'lockUser', 'resendEmailAuthenticationCode'],
    ...['revokeApplication', 'revokeConsent', 'setCanRequestAdmin', 'setCompatSessionName', 'setDisplayName'],
    ...['setOauth2SessionName', 'setPasskeyName', 'setPrimaryEmail', 'setProfile', 'startDataExport'],
    'unlockUser',
  ];

  test.each(Object.entries(INPUTS))('is executed once per request: %s', async (name, input) => {
    for (const other of ['setPassword', name]) {
      const second = `${other}${INPUTS[other]}`;
      const response = await gita.query(`mutation { a: ${name}${input} { status } b: ${second} { status } }`);
      expect([codesOf(response), response.data]).toEqual([['QUERY_TOO_COMPLEX'], undefined]);
    }
  });

  test('every mutation is assigned', async () => {
    const { data } = await gita.query('{ __schema { mutationType { fields(includeDeprecated: true) { name } } } }');
    const { mutationType } = Object(Object(data).__schema);
    const names = mutationType.fields.map(({ name }: { readonly name: string }) => name);
    expect(names.toSorted()).toEqual([...Object.keys(INPUTS), ...OTHERS].toSorted());
  });
});

describe('document limits (account-graphql 1.7, S-134)', () => {
  const aliases = (count: number): string =>
    `{ viewer { __typename ${Array.from({ length: count }, (_, index) => `a${index}: __typename`).join(' ')} } }`;
  const nested = (depth: number): string => {
    const levels = Math.floor((depth - 2) / 2);
    const open = 'browserSessions(first: 0) { nodes { user { ... on User { '.repeat(levels);
    const rest = (depth - 2) % 2 === 0 ? 'username' : 'browserSessions(first: 0) { nodes { id } }';
    return `{ viewer { ... on User { ${open}${rest}${' } } } }'.repeat(levels)} } } }`;
  };
  const ofRoots = (count: number): string => `{ ${'__typename '.repeat(count)} }`;

  test.each([
    ['30 aliases', aliases(30), []],
    ['31 aliases', aliases(31), ['QUERY_TOO_COMPLEX']],
    ['12 levels', nested(12), []],
    ['13 levels', nested(13), ['QUERY_TOO_COMPLEX']],
    ['20 fields', ofRoots(20), []],
    ['21 fields', ofRoots(21), ['QUERY_TOO_COMPLEX']],
    ['11 fields of a mutation', `mutation { ${'__typename '.repeat(11)} }`, ['QUERY_TOO_COMPLEX']],
    [
      '50 directives',
      `{ __typename ${'@include(if: true) '.repeat(1)}viewer { ${'__typename @include(if: true) '.repeat(49)} } }`,
      [],
    ],
    ['51 directives', `{ viewer { ${'__typename @include(if: true) '.repeat(51)} } }`, ['QUERY_TOO_COMPLEX']],
    ['250 fields in a selection', `{ viewer { ${'__typename '.repeat(250)} } }`, []],
    ['251 fields in a selection', `{ viewer { ${'__typename '.repeat(251)} } }`, ['QUERY_TOO_COMPLEX']],
    [
      'many equal fields in several selections',
      `{ ${`viewer { ${'__typename '.repeat(240)} } `.repeat(15)} }`,
      ['QUERY_TOO_COMPLEX'],
    ],
    ['4,001 tokens', `{ ${'__typename '.repeat(3999)} }`, ['QUERY_TOO_COMPLEX']],
    ['more than 64 KiB', `{ __typename } #${'x'.repeat(65_536)}`, ['QUERY_TOO_COMPLEX']],
    ['1,300 levels', `${'{a'.repeat(1300)}${'}'.repeat(1300)}`, ['QUERY_TOO_COMPLEX']],
    [
      'a fragment of itself',
      '{ viewer { ...A } } fragment A on User { browserSessions { nodes { user { ...A } } } }',
      ['GRAPHQL_VALIDATION_FAILED'],
    ],
    [
      'fragments that double 20 times',
      `{ viewer { ...F0 } } ${Array.from({ length: 20 }, (_, index) => `fragment F${index} on User { ...F${index + 1} ...F${index + 1} }`).join(' ')} fragment F20 on User { id }`,
      ['QUERY_TOO_COMPLEX'],
    ],
    [
      'pages of 100 sessions with 3 objects each',
      '{ viewer { ... on User { browserSessions(first: 100) { nodes { user { id } userAgent { raw } lastAuthentication { id } } } } } }',
      [],
    ],
    [
      'nested pages',
      '{ viewer { ... on User { browserSessions(first: 40) { nodes { user { browserSessions(first: 30) { nodes { id } } } } } } } }',
      ['QUERY_TOO_COMPLEX'],
    ],
    ['pages of 101', '{ viewer { ... on User { browserSessions(first: 101) { nodes { id } } } } }', ['BAD_USER_INPUT']],
    [
      'pages of 2147483647',
      '{ viewer { ... on User { browserSessions(last: 2147483647) { nodes { id } } } } }',
      ['BAD_USER_INPUT'],
    ],
    ['pages of -1', '{ viewer { ... on User { browserSessions(first: -1) { nodes { id } } } } }', ['BAD_USER_INPUT']],
    [
      'pages from both ends',
      '{ viewer { ... on User { browserSessions(first: 1, last: 1) { nodes { id } } } } }',
      ['BAD_USER_INPUT'],
    ],
  ])('%s', async (_, document, codes) => {
    const response = await gita.query(document);
    expect([response.status, codesOf(response)]).toEqual([200, codes]);
    if (codes.length > 0) expect([response.data, service.requestLines().at(-1)?.queries]).toEqual([undefined, 2]);
  });

  test('ten operations with many equal fields each cost as much as one, and are rejected alike', async () => {
    const fields = `viewer { ${'__typename '.repeat(194)} } `.repeat(2);
    const document = Array.from({ length: 10 }, (_, index) => `query A${index} { ${fields} }`).join(' ');
    expect(codesOf(await gita.query(document, undefined, 'A0'))).toEqual(['QUERY_TOO_COMPLEX']);
  });
});

describe('introspection (account-graphql 1.7, S-136)', () => {
  const cpu = (): number => service.requestLines().at(-1)?.cpu ?? Number.NaN;

  test.each([
    ['graphql-js', {}],
    ['GraphiQL', { inputValueDeprecation: true, schemaDescription: false }],
    ['Apollo', { specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true }],
    ['urql', { descriptions: false, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true }],
  ])('the query of %s reads the schema, and its response is cached', async (_, options) => {
    const document = getIntrospectionQuery(options);
    const first = await nobody.query(document);
    const made = cpu();
    expect(first.errors).toEqual([]);
    const second = await gita.query(document);
    expect(second.text).toBe(first.text);
    expect(cpu()).toBeLessThan(made / 2);
  });

  test('caches responses by operation and variables', async () => {
    const document =
      'query A($of: String!) { __type(name: $of) { name } } query B($of: String!) { __type(name: $of) { kind } }';
    expect((await nobody.query(document, { of: 'User' }, 'A')).data).toEqual({ __type: { name: 'User' } });
    expect((await nobody.query(document, { of: 'Query' }, 'A')).data).toEqual({ __type: { name: 'Query' } });
    expect((await nobody.query(document, { of: 'User' }, 'B')).data).toEqual({ __type: { kind: 'OBJECT' } });
  });

  test.each([
    ['twenty aliases of the schema', `{ ${times(20, (n) => `a${n}: __schema { types { name } }`)} }`],
    [
      'two operations that ask for it',
      'query A { __schema { types { name } } } query B { __schema { types { name } } }',
    ],
  ])('%s: rejected before execution', async (_, document) => {
    const response = await nobody.query(document, undefined, document.startsWith('query') ? 'A' : undefined);
    expect([codesOf(response), response.data]).toEqual([['QUERY_TOO_COMPLEX'], undefined]);
  });

  test.each([
    [
      'twenty lists of all types',
      (n: number) => `a${n}: types { name fields { name description type { name kind } } }`,
    ],
    ['nullable fields', (n: number) => `a${n}: types { description fields { description args { description } } }`],
  ])('%s: aborted once the response is too large', async (_, part) => {
    for (const caller of [nobody, gita]) {
      const response = await caller.query(`{ __schema { ${times(25, part)} } }`);
      expect([response.status, codesOf(response), response.data]).toEqual([200, ['QUERY_TOO_COMPLEX'], null]);
      expect(response.text.length).toBeLessThan(1000);
    }
  });
});

describe('the operation name in the log (account-graphql 1.8, S-137)', () => {
  test.each([
    ['{', undefined, undefined],
    ['{ __typename }', undefined, 'type=query'],
    ['{ __typename }', 'A', undefined],
    ['{ __typename }', '', 'type=query'],
    ['query A { __typename }', undefined, 'type=query name=A'],
    ['query A { __typename }', 'A', 'type=query name=A'],
    ['query A { __typename }', 'B', undefined],
    ['query A { __typename } mutation B { __typename }', 'B', 'type=mutation name=B'],
    ['query A { __typename } mutation B { __typename }', undefined, undefined],
    ['query A { nothing }', undefined, 'type=query name=A'],
    ['subscription S { nothing }', undefined, 'type=subscription name=S'],
    ['fragment A on User { id }', undefined, undefined],
    [`query ${'A'.repeat(200)} { __typename }`, undefined, `type=query name=${'A'.repeat(200)}`],
    ['query A { __typename }', 'A requester=user:x\n2026', undefined],
  ])('%.50s with %j', async (query, name, expected) => {
    const lines = service.requestLines().length;
    await nobody.query(query, undefined, name);
    expect(service.requestLines().length).toBe(lines + 1);
    expect(logged()).toBe(expected);
  });
});

test('without introspection, neither the schema nor suggestions for misspelled fields are revealed (S-136)', async () => {
  const closed = await startService(
    { graphql: { introspection: false }, rate_limiting: { graphql: { anonymous: HIGH_LIMIT } } },
    { like: service, clock: new FakeClock() },
  );
  const caller = new GraphqlClient(closed);
  expect(codesOf(await caller.query('{ __schema { types { name } } }'))).toEqual(['INTROSPECTION_DISABLED']);
  const mistyped = await caller.query('{ viewr { __typename } }');
  expect(mistyped.errors[0]?.message).not.toContain('Did you mean');
  expect((await nobody.query('{ viewr { __typename } }')).errors[0]?.message).toContain('Did you mean "viewer"');
  expect((await caller.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  await closed.stop();
});

test('rate limits by session, or by IP address without a session', async () => {
  const small = { burst: 2, per_second: 0.1 };
  const clock = new FakeClock();
  // Refills the rate limits that earlier tests used up.
  clock.advanceSeconds(60);
  const counted = await startService(
    { rate_limiting: { graphql: { authenticated: small, anonymous: { burst: 1, per_second: 0.1 } } } },
    { clock, like: service },
  );
  const again = await GraphqlClient.signedIn(counted, 'gita', PASSWORD);
  const statuses = [];
  for (const caller of [again, again, again, new GraphqlClient(counted), new GraphqlClient(counted)]) {
    statuses.push((await caller.query(WHO)).status);
  }
  expect(statuses).toEqual([200, 200, 429, 200, 429]);
  const refused = await again.query(WHO);
  expect([codesOf(refused), refused.headers.get('retry-after')]).toEqual([['RATE_LIMITED'], '10']);
  // Callers over their limit cause no parsing, neither of the body nor of the document.
  expect((await again.post('{"query": ')).status).toBe(429);
  expect((await again.query('{ viewer {')).status).toBe(429);
  await counted.stop();
});
