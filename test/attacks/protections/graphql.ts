import { OWNER_OF_ROWS, type Protection } from './protection.ts';

const TEST = 'src/features/account-api/transport.test.ts';
const OWNERS_TEST = 'test/account-api/owners.test.ts';

export const GRAPHQL: readonly Protection[] = [
  {
    name: 'graphql-cross-site-mutation',
    what: 'a mutation from a page of another site is refused',
    attack: 58,
    removals: [
      { text: "if (isForeign && isMutation) throw this.#crossSite('cross-site mutation rejected');" },
    ],
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
    removals: [
      { text: 'if (pairs > MAX_COMPARED_PAIRS) return TOO_MANY_COMPARISONS;' },
      { text: 'message === VALIDATION_ABORTED', instead: 'message === ""' },
    ],
    test: TEST,
    testName: '(1.7, S-134)',
  },
  {
    name: 'graphql-complexity',
    what: 'an operation that costs too much is refused before it runs',
    attack: 134,
    removals: [{ text: 'complexity <= maxComplexity', instead: 'complexity >= 0' }],
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
  {
    name: 'graphql-get-from-other-sites',
    what: 'another site cannot have its visitors read by GET',
    attack: 58,
    removals: [
      { text: "if (isForeign) throw this.#crossSite('cross-site GET query rejected');" },
    ],
    test: TEST,
    testName: 'is refused before anything is read or counted',
  },
  {
    name: 'graphql-charged-before-parsing',
    what: 'nothing is parsed for who has used up the limit',
    attack: 134,
    removals: [
      {
        text: 'const body = await this.#readJsonBody(rules.maxBytes);\n    await rules.beforeParsing?.();\n    return parseJson(body, rules);',
        instead:
          'const parsed = parseJson(await this.#readJsonBody(rules.maxBytes), rules);\n    await rules.beforeParsing?.();\n    return parsed;',
      },
    ],
    test: TEST,
    testName: 'requests are counted for each session',
  },
  {
    name: 'graphql-one-schema',
    what: 'a document reads the schema once',
    attack: 136,
    removals: [{ text: "if (schemas > 1) return 'a document may request __schema once';" }],
    test: TEST,
    testName: 'introspection (1.7, S-136)',
  },
  {
    name: 'graphql-introspection-cost',
    what: 'what is asked of the schema counts as other fields do',
    attack: 136,
    removals: [{ text: 'if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;' }],
    test: 'src/features/account-api/complexity.test.ts',
    testName: 'what is asked of the schema counts',
  },
  {
    name: 'graphql-introspection-kept',
    what: 'the schema is written once for all who ask in the same words',
    attack: 136,
    removals: [{ text: 'this.#introspections.keep(introspection, text);', instead: 'introspection.text.trim();' }],
    test: TEST,
    testName: 'introspection (1.7, S-136)',
  },
  {
    name: 'graphql-answer-size',
    what: 'a response that grows too large is ended',
    attack: 134,
    removals: [{ text: 'if (size.isExceeded) {', instead: 'if (size.isExceeded && field.name === "") {' }],
    test: 'src/features/account-api/context/answer-size.test.ts',
    testName: 'anonymous: ',
  },
  {
    name: 'graphql-variables-in-errors',
    what: 'errors do not repeat variables',
    attack: 134,
    removals: [{ text: 'isOurs || MISSING_FIELD.test(error.message)', instead: 'error.message !== ""' }],
    test: TEST,
    testName: 'variables are not repeated',
  },
];
