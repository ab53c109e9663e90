import { OWNER_OF_ROWS, type Protection } from './protection.ts';

const TEST = 'src/features/account-api/transport.test.ts';
const OWNERS_TEST = 'test/account-api/owners.test.ts';

export const GRAPHQL: readonly Protection[] = [
  {
    name: 'graphql-cross-site-mutation',
    what: 'a mutation from a page of another site is refused',
    attack: 58,
    removals: [{ text: "throw new LatchkeyError('cross_site_request');" }],
    test: TEST,
    testName: '(1.6, S-58)',
  },
  {
    name: 'graphql-cross-site-query',
    what: 'a query from a page of another site is answered as one of nobody',
    attack: 58,
    removals: [
      {
        text: 'ignoresCookie ? undefined : browser.viewers.cookie(context)',
        instead: 'browser.viewers.cookie(context)',
      },
    ],
    test: TEST,
    testName: '(1.6, S-58)',
  },
  {
    name: 'graphql-mutation-by-get',
    what: 'a mutation in an address is refused',
    attack: 138,
    removals: [{ text: "if (isMutation && context.method === 'GET') {", instead: 'if (context.method === "") {' }],
    test: TEST,
    testName: '(1.3, S-138)',
  },
  {
    name: 'graphql-document-limits',
    what: 'a document that is too large is refused before it is validated',
    attack: 134,
    removals: [{ text: "if (excess !== undefined) return [refusal('QUERY_TOO_COMPLEX', excess)];" }],
    test: TEST,
    testName: '(1.7, S-134)',
  },
  {
    name: 'graphql-compared-fields',
    what: 'a document with too many fields of one name is refused before they are compared',
    attack: 134,
    removals: [{ text: 'size.pairs > MAX_COMPARED_PAIRS', instead: 'size.pairs < 0' }],
    test: TEST,
    testName: '(1.7, S-134)',
  },
  {
    name: 'graphql-complexity',
    what: 'an operation that costs too much is refused before it runs',
    attack: 134,
    removals: [{ text: 'if (complexity <= maxComplexity) return [];', instead: 'if (complexity >= 0) return [];' }],
    test: TEST,
    testName: '(1.7, S-134)',
  },
  {
    name: 'graphql-batches',
    what: 'a list of requests is refused as such',
    attack: 135,
    removals: [{ text: "if (Array.isArray(body)) throw new LatchkeyError('batching_not_supported');" }],
    test: TEST,
    testName: '(account-graphql 1.2, S-135)',
  },
  {
    name: 'graphql-introspection',
    what: 'the schema is not told where introspection is switched off',
    attack: 136,
    removals: [{ text: 'hasIntrospection ? [] : [withoutIntrospection]', instead: '[]' }],
    test: TEST,
    testName: '(S-136)',
  },
  {
    name: 'graphql-operation-name',
    what: 'the name of an operation is cut in the log',
    attack: 137,
    removals: [{ text: 'name?.value.slice(0, MAX_NAME_CHARACTERS)', instead: 'name?.value' }],
    test: TEST,
    testName: '(1.8, S-137)',
  },
  {
    name: 'graphql-user-of-others',
    what: 'a person is shown to nobody but themselves and administrators',
    attack: 128,
    removals: [
      {
        text: "if (reads !== 'anybody' && reads !== id) return undefined;\n  if (caller.kind",
        instead: 'if (caller.kind',
      },
    ],
    test: OWNERS_TEST,
    testName: 'and others what it tells of objects that nobody has (S-84, S-128)',
  },
  {
    name: 'graphql-device-of-others',
    what: 'the session of a device is shown to nobody but its person and administrators',
    attack: 128,
    removals: [
      {
        text: "const id = idOf('User', userId);\n      if (reads !== 'anybody' && reads !== id) return undefined;",
        instead: "const id = idOf('User', userId);",
      },
    ],
    test: OWNERS_TEST,
    testName: 'and others what it tells of objects that nobody has (S-84, S-128)',
  },
  {
    name: 'graphql-browser-session-of-others',
    what: 'a browser session is found for its person alone',
    attack: 128,
    removals: [OWNER_OF_ROWS],
    test: OWNERS_TEST,
    testName: 'as one that nobody has',
  },
  {
    name: 'graphql-application-session-of-others',
    what: 'a session of an application or chat client is found for its person alone',
    attack: 128,
    removals: [OWNER_OF_ROWS],
    test: OWNERS_TEST,
    testName: 'does nothing to what belongs to others',
  },
  {
    name: 'graphql-timeout',
    what: 'a change that was answered as not done in time does not take effect afterwards',
    attack: 134,
    removals: [{ text: 'if (this.#isOver) throw tooLate();' }],
    test: 'src/features/account-api/timeout.test.ts',
    testName: 'does not take effect afterwards either (S-134)',
  },
  {
    name: 'graphql-one-code',
    what: 'one document checks one code',
    attack: 135,
    removals: [{ text: 'if (this.#guesses > 1) {', instead: 'if (this.#guesses > 100) {' }],
    test: 'src/features/account-api/emails.test.ts',
    testName: '(1.7, S-135)',
  },
];
