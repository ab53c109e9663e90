/** Access and refresh tokens, introspection and revocation. */
import type { Protection } from './protection.ts';

export const TOKENS: readonly Protection[] = [
  {
    name: 'access-token-jwt-type',
    what: 'only JWTs of the type of access tokens pass for one',
    attack: 36,
    removals: [{ text: " || header?.['typ'] !== type" }],
    test: 'src/domain/signing-keys/signing-keys.test.ts',
    testName: 'of one type is not read as one of another',
  },
  {
    name: 'access-token-jwt-signature',
    what: 'a JWT counts as an access token only with a signature of this service',
    attack: 36,
    removals: [{ text: 'return isGenuine ? jsonOf(body) : undefined;', instead: 'return jsonOf(body);' }],
    test: 'test/journeys/jwt-access-tokens.test.ts',
    testName: 'ID tokens and JWTs of others',
  },
  {
    name: 'introspection-callers',
    what: 'a client sees the tokens of others only where the configuration lets it',
    attack: 44,
    removals: [
      {
        text: ' || !caller.maySee(fromUuid(row.client_id), row.dpop_jkt ?? undefined)) return undefined;',
        instead: ') return undefined;',
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: 'with introspection_callers',
  },
  {
    name: 'token-of-locked',
    what: 'a token of someone who is locked or gone is dead',
    attack: 45,
    removals: [
      {
        text: "sessionUserIsUsable('s', 'u')}`;\n\nconst SESSION_JOINS",
        instead: "oauthSessionIsLive('s')}`;\n\nconst SESSION_JOINS",
      },
    ],
    test: 'test/attacks/tokens.test.ts',
    testName: 'says of every dead token the same',
  },
  {
    name: 'revocation-own-client',
    what: 'a client revokes its own tokens',
    attack: 46,
    removals: [{ text: "  if (!row.is_own_client) return 'other-client';\n" }],
    test: 'test/attacks/tokens.test.ts',
    testName: 'by nobody, by another client',
  },
  {
    name: 'token-in-one-place',
    what: 'an access token comes in one place',
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
    what: 'an `id_token_hint` has the times that every ID token has, and answers of userinfo lack',
    attack: 36,
    removals: [{ text: "if (typeof iat !== 'number' || typeof exp !== 'number') return undefined;" }],
    test: 'test/attacks/tokens.test.ts',
    testName: 'is no hint of an ID token (S-36)',
  },
  {
    name: 'homeserver-secret',
    what: 'the homeserver proves its secret at introspection',
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
    what: 'admin scopes are judged again at introspection',
    attack: 178,
    removals: [{ text: 'scope: rights.remainingScope(row.scope, row),', instead: 'scope: row.scope,' }],
    test: 'test/attacks/lost-admin-rights.test.ts',
    testName: '(S-178)',
  },
  {
    name: 'admin-scope-at-refresh',
    what: 'admin scopes are judged again at refresh',
    attack: 178,
    removals: [
      {
        text: 'resourceRules.scopeAt(resources, rights.remainingScope(asked, holder));',
        instead: 'resourceRules.scopeAt(resources, asked);',
      },
      { text: 'scope: rights.remainingScope(issued.scope, holder) };', instead: 'scope: issued.scope };' },
    ],
    test: 'test/attacks/lost-admin-rights.test.ts',
    testName: '(S-178)',
  },
  {
    name: 'session-limit-user-lock',
    what: 'where sessions are limited, the user is held, so that each sign-in counts those before it',
    attack: 100,
    removals: [{ text: 'await transaction.first(holdUser, { userId: params.userId });' }],
    test: 'test/attacks/session-limit.test.ts',
    testName: 'codes that wait while the limit is reached',
  },
  {
    name: 'refresh-resource-granted',
    what: 'a refresh is for the resources of the session, and no others',
    attack: 27,
    removals: [{ text: '!request.resources.every((resource) => row.resources.includes(resource))', instead: 'false' }],
    test: 'test/journeys/resource-indicators.test.ts',
    testName: 'a resource that was not granted is invalid_target at refresh',
  },
];
