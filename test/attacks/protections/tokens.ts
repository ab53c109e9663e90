/** Access and refresh tokens, introspection and revocation. */
import type { Protection } from './protection.ts';

export const TOKENS: readonly Protection[] = [
  {
    name: 'access-token-jwt-type',
    what: 'only JWTs of the access token type are accepted as access tokens',
    attack: 36,
    removals: [{ text: " || header?.['typ'] !== type" }],
    test: 'src/domain/keys/signing-keys.test.ts',
    testName: 'a JWT of one type is not accepted as another',
  },
  {
    name: 'access-token-jwt-signature',
    what: 'a JWT is accepted as an access token only if signed by this service',
    attack: 36,
    removals: [{ text: 'return isGenuine ? jsonOf(body) : undefined;', instead: 'return jsonOf(body);' }],
    test: 'test/journeys/jwt-access-tokens.test.ts',
    testName: 'ID tokens and foreign JWTs',
  },
  {
    name: 'introspection-callers',
    what: 'a client can only introspect tokens of others if the configuration allows it',
    attack: 44,
    removals: [
      {
        text: ' || !presented.maySee(fromUuid(row.client_id), row.dpop_jkt ?? undefined)) return undefined;',
        instead: ') return undefined;',
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: 'with introspection_callers',
  },
  {
    name: 'token-of-locked',
    what: 'tokens of locked or deactivated users are inactive',
    attack: 45,
    removals: [
      {
        text: "sessionUserIsUsable('s', 'u')}`;\n\nconst SESSION_JOINS",
        instead: "oauthSessionIsLive('s')}`;\n\nconst SESSION_JOINS",
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: 'gives the same empty answer for every dead token',
  },
  {
    name: 'revocation-own-client',
    what: 'a client can only revoke its own tokens',
    attack: 46,
    removals: [{ text: "  if (!row.is_own_client) return 'other-client';\n" }],
    test: 'test/attacks/tokens.test.ts',
    testName: 'without credentials, by another client',
  },
  {
    name: 'token-in-one-place',
    what: 'an access token must be sent in one place',
    attack: 47,
    removals: [
      {
        text: "  if (isFormType(context.headers['content-type']) && (await hasTokenInForm(context))) {",
        instead: "  if (isFormType(context.headers['content-type']) && !(await hasTokenInForm(context)) && false) {",
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: 'is refused in the query',
  },
  {
    name: 'one-authorization',
    what: 'a request has one `Authorization` header',
    attack: 47,
    removals: [{ text: '  return count > 1;\n}', instead: '  return count < 0;\n}' }],
    test: 'test/attacks/tokens.test.ts',
    testName: 'is refused in the query',
  },
  {
    name: 'scope-length',
    what: 'a scope has at most 2,048 characters',
    attack: 43,
    removals: [
      { text: '  if (text.length > MAX_CHARACTERS) return undefined;\n  const tokens', instead: '  const tokens' },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: '(S-43)',
  },
  {
    name: 'scope-count',
    what: 'a scope names at most 50 tokens',
    attack: 43,
    removals: [
      {
        text: 'if (tokens.length === 0 || tokens.length > MAX_SCOPES) return undefined;',
        instead: 'if (tokens.length === 0) return undefined;',
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: '(S-43)',
  },
  {
    name: 'hint-is-id-token',
    what: 'an `id_token_hint` must have the time claims of ID tokens, which userinfo responses lack',
    attack: 36,
    removals: [{ text: "if (typeof iat !== 'number' || typeof exp !== 'number') return undefined;" }],
    test: 'test/attacks/tokens.test.ts',
    testName: 'is not accepted as an ID token hint (S-36)',
  },
  {
    name: 'homeserver-secret',
    what: 'the homeserver must send its secret at introspection',
    attack: 44,
    removals: [
      {
        text: 'if (expected === undefined || expected.isEmpty || !expected.matches(secret)) {',
        instead: 'if (expected === undefined || expected.isEmpty) {',
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: '(S-44)',
  },
  {
    name: 'admin-scope-at-introspection',
    what: 'admin scopes are re-evaluated at introspection',
    attack: 178,
    removals: [{ text: 'scope: rights.remainingScope(row.scope, row),', instead: 'scope: row.scope,' }],
    test: 'test/attacks/lost-admin-rights.test.ts',
    testName: '(S-178)',
  },
  {
    name: 'admin-scope-at-refresh',
    what: 'admin scopes are re-evaluated at refresh',
    attack: 178,
    removals: [
      {
        text: 'resourceRules.scopeAt(resources, rights.remainingScope(requested, holder));',
        instead: 'resourceRules.scopeAt(resources, requested);',
      },
      { text: 'scope: rights.remainingScope(issued.scope, holder) };', instead: 'scope: issued.scope };' },
    ],
    test: 'test/attacks/lost-admin-rights.test.ts',
    testName: '(S-178)',
  },
  {
    name: 'session-limit-user-lock',
    what: 'with a session limit, the user is locked, so that concurrent sign-ins count each other',
    attack: 100,
    removals: [{ text: 'await transaction.first(holdUser, { userId: params.userId });' }],
    test: 'test/attacks/session-limit.test.ts',
    testName: 'codes issued before the limit is reached',
  },
  {
    name: 'refresh-resource-granted',
    what: 'a refresh is limited to the resources of the session',
    attack: 27,
    removals: [{ text: '!request.resources.every((resource) => row.resources.includes(resource))', instead: 'false' }],
    test: 'test/journeys/resource-indicators.test.ts',
    testName: 'a resource that was not granted is invalid_target at refresh',
  },
];
