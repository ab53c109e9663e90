/**
 * What keeps an attack from succeeding, and the test that would notice its loss. `mutations.js` takes each
 * out of a copy of the tree and expects the test to fail; the page of attack tests lists them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Protection {
  /** For the command line. */
  readonly name: string;
  /** What is taken out. */
  readonly what: string;
  /** Number of the attack. */
  readonly attack: number;
  readonly removals: readonly Removal[];
  /** File of the test. */
  readonly test: string;
  /** Part of the name of the test, or of several. */
  readonly testName: string;
  /** The test runs the built program. */
  readonly isBuilt?: boolean;
}

export interface Removal {
  /** Found exactly once in the source, in whatever file. */
  readonly text: string;
  /** What takes its place; nothing unless given. */
  readonly instead?: string;
}

export const PROTECTIONS: readonly Protection[] = [
  {
    name: 'redirect-uri-exact',
    what: 'a redirect URI is compared whole, not by its beginning',
    attack: 1,
    removals: [
      {
        text: 'if (registered.includes(requested)) return true;',
        instead: 'if (registered.some((uri) => requested.startsWith(uri))) return true;',
      },
    ],
    test: 'test/attacks/authorization-endpoint.test.ts',
    testName: '(S-01)',
  },
  {
    name: 'pushed-request-single-use',
    what: 'the statement that makes a grant of a pushed request finds it unused',
    attack: 12,
    removals: [{ text: '.consumed_at is null)`;', instead: '.client_id is not null)`;' }],
    test: 'test/attacks/pushed-requests.test.ts',
    testName: 'used 300 times at once',
  },
  {
    name: 'pushed-request-own-client',
    what: 'a pushed request is used by the client that pushed it',
    attack: 12,
    removals: [
      {
        text: "if (fromUuid<'client'>(row.pushed_client_id) !== clientId) return { state: 'unknown' };",
      },
      { text: ' and pushed.client_id = :clientId::uuid and bounds', instead: ' and bounds' },
    ],
    test: 'test/attacks/pushed-requests.test.ts',
    testName: 'used by another client',
  },
  {
    name: 'pushed-request-expiry',
    what: 'a pushed request is good for 90 seconds',
    attack: 12,
    removals: [{ text: 'PUSHED_REQUEST_SECONDS = 90;', instead: 'PUSHED_REQUEST_SECONDS = 9000;' }],
    test: 'test/attacks/pushed-requests.test.ts',
    testName: 'used after its time',
  },
  {
    name: 'pushed-request-bound-resume',
    what: 'a used reference goes on only in the browser that used it',
    attack: 12,
    removals: [{ text: "context.method === 'GET' && isGrantBound(context, pushed.grantId, now)", instead: 'true' }],
    test: 'test/attacks/pushed-requests.test.ts',
    testName: 'used by a second browser',
  },
  {
    name: 'request-object-signature',
    what: 'a request object is signed with a key of its client',
    attack: 13,
    removals: [{ text: 'if (await isSignedBy(jws, key)) return', instead: 'if (key !== undefined) return' }],
    test: 'test/attacks/request-objects.test.ts',
    testName: 'changed after it was signed',
  },
  {
    name: 'request-object-audience',
    what: 'a request object names this service as its audience',
    attack: 13,
    removals: [{ text: "if (!audiences.includes(rules.issuer)) return 'must name the issuer as aud';" }],
    test: 'test/attacks/request-objects.test.ts',
    testName: 'is refused, and nothing is stored or fetched',
  },
  {
    name: 'request-object-client',
    what: 'a request object names the client that asks',
    attack: 13,
    removals: [
      {
        text: "if (typeof clientId !== 'string' || !rules.isClient(clientId)) return 'must have the client id as client_id';",
      },
    ],
    test: 'test/attacks/request-objects.test.ts',
    testName: 'is refused, and nothing is stored or fetched',
  },
  {
    name: 'request-object-expiry',
    what: 'a request object has an end',
    attack: 13,
    removals: [{ text: "if (exp <= seconds) return 'has expired';" }],
    test: 'test/attacks/request-objects.test.ts',
    testName: 'is refused, and nothing is stored or fetched',
  },
  {
    name: 'code-own-client',
    what: 'a code is redeemed by the client it was issued to',
    attack: 14,
    removals: [
      {
        text: "if (!row.is_own_client) return refuse('other-client');\n  if (row.exchanged_at",
        instead: 'if (row.exchanged_at',
      },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: '(S-14)',
  },
  {
    name: 'code-single-use',
    what: 'the update that redeems a code finds it unredeemed',
    attack: 17,
    removals: [{ text: '.exchanged_at is null)', instead: '.cancelled_at is null)' }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: '(S-17)',
  },
  {
    name: 'code-verifier',
    what: 'the PKCE verifier is compared with the challenge',
    attack: 18,
    removals: [
      { text: "if (!rules.verifierFits(request.codeVerifier, row.code_challenge)) return refuse('verifier-wrong');" },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: '(S-18)',
  },
  {
    name: 'bind-ticket-expiry',
    what: 'the ticket of a posted authorization request ends after a minute',
    attack: 24,
    removals: [
      {
        text: 'return opened !== undefined && now < Number(opened.toString());',
        instead: 'return opened !== undefined;',
      },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'opened by its ticket',
  },
  {
    name: 'grants-cookie-expiry',
    what: 'the list of requests made in this browser forgets each after an hour',
    attack: 24,
    removals: [{ text: '\n    .filter((entry) => epochSeconds(now) - entry.at < LIFETIME_SECONDS)' }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'made in this browser',
  },
  {
    name: 'device-code-single-use',
    what: 'the update that redeems a device code finds it unredeemed',
    attack: 115,
    removals: [{ text: '.exchanged_at is null\n', instead: '.fulfilled_at is not null\n' }],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'one token response',
  },
  {
    name: 'device-code-own-client',
    what: 'a device code is redeemed by the client it was issued to',
    attack: 115,
    removals: [
      {
        text: "if (!row.is_own_client) return refuse('other-client');\n  const { is_exchanged",
        instead: 'const { is_exchanged',
      },
    ],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'leave the code to its own',
  },
  {
    name: 'device-page-bound',
    what: 'the page of a device answers where its code was entered',
    attack: 117,
    removals: [
      { text: ' || id === undefined || !isGrantBound(context, id, now)) {', instead: ' || id === undefined) {' },
    ],
    test: 'test/attacks/device-grant.test.ts',
    testName: '(S-117)',
  },
  {
    name: 'user-code-charged-first',
    what: 'a try at a user code is charged before the code is looked up',
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
    what: 'of several polls at once each judges the time that the one before left',
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
    what: 'an address has a hundred device codes at most that led to nothing',
    attack: 179,
    removals: [{ text: 'const MAX_WAITING = 100;', instead: 'const MAX_WAITING = 1000;' }],
    test: 'test/attacks/device-grant.test.ts',
    testName: 'a hundred in all',
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
    name: 'form-origin',
    what: 'a form that another site sends is refused by its headers',
    attack: 57,
    removals: [
      { text: "    if (!this.#isSameOrigin(context.headers)) throw new LatchkeyError('cross_site_request');\n" },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-57)',
  },
  {
    name: 'form-expiry',
    what: 'a form ends an hour after it was rendered',
    attack: 57,
    removals: [{ text: "return cookie.exp > this.#now() ? 'valid' : 'expired';", instead: "return 'valid';" }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-57)',
  },
  {
    name: 'logout-proof',
    what: 'a client signs out without asking only the session that its ID token was issued in',
    attack: 67,
    removals: [{ text: '      and hinted.user_session_id = viewer_session.id\n' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-67)',
  },
  {
    name: 'logout-address',
    what: 'after a sign-out only a registered address of the client is gone to',
    attack: 67,
    removals: [{ text: '  return redirectUriMatches(owner, uri);', instead: '  return true;' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-67)',
  },
  {
    name: 'form-session',
    what: 'the token of a form belongs to one browser session',
    attack: 62,
    removals: [{ text: ' || cookie.session !== currentSession(context.cookies)' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-62)',
  },
  {
    name: 'doubled-cookies',
    what: 'of two cookies of one name that open, neither counts',
    attack: 62,
    removals: [
      {
        text: 'if (opened.length === 1) return opened[0]?.document;',
        instead: 'if (opened.length > 0) return opened[0]?.document;',
      },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-62)',
  },
  {
    name: 'session-key-rotation',
    what: 'a fresh confirmation replaces the key of the session',
    attack: 61,
    removals: [
      {
        text: 'key_hash = case when s.key_hash = :keyHash::bytea then :newKeyHash::bytea else s.key_hash end,',
        instead: 'key_hash = case when :newKeyHash::bytea is null then s.key_hash else s.key_hash end,',
      },
    ],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-61)',
  },
  {
    name: 'previous-session-key',
    what: 'the key before the last one fits for half a minute only',
    attack: 61,
    removals: [{ text: '    now - rotatedAt < PREVIOUS_KEY_FITS_MS &&\n' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-61)',
  },
  {
    name: 'embedding',
    what: 'a page is not served into an image, script or frame',
    attack: 68,
    removals: [{ text: "  throw new LatchkeyError('embedding_refused');\n" }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: '(S-68)',
  },
  {
    name: 'dummy-hash',
    what: 'a name that no account has costs a hash as well',
    attack: 79,
    removals: [
      { text: '      await this.#queue.run(() => this.#newest.verify(this.#newest.dummy, password), caller);\n' },
    ],
    test: 'test/attacks/enumeration.test.ts',
    testName: '(S-79)',
  },
  {
    name: 'fifth-confirmation',
    what: 'the fifth wrong confirmation in a row ends the session',
    attack: 87,
    removals: [{ text: 'const MAX_FAILURES = 5;', instead: 'const MAX_FAILURES = 5_000;' }],
    test: 'test/attacks/forms-cookies-sessions.test.ts',
    testName: 'at the fifth wrong one',
  },
  {
    name: 'ipv6-network',
    what: 'an IPv6 address is counted by its /64',
    attack: 87,
    removals: [{ text: 'parsed.parts.slice(0, 4)', instead: 'parsed.parts' }],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-87)',
  },
  {
    name: 'known-browser',
    what: 'tries from a browser that the account knows are counted apart',
    attack: 88,
    removals: [
      { text: '        where known.user_id = account.user_id limit 1', instead: '        where false limit 1' },
    ],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-88)',
  },
  {
    name: 'known-browser-nonce',
    what: 'each browser that the account knows is counted by itself',
    attack: 88,
    removals: [
      {
        text: "select 'login:known:' || subject.key || ':' || subject.nonce,",
        instead: "select 'login:known:' || subject.key,",
      },
    ],
    test: 'test/attacks/guessing.test.ts',
    testName: '(S-88)',
  },
  {
    name: 'pending-grants',
    what: 'one address, or one person, has at most 100 requests that led to nothing',
    attack: 95,
    removals: [{ text: 'const MAX_UNUSED = 100;', instead: 'const MAX_UNUSED = 1_000_000;' }],
    test: 'test/attacks/flows-begun.test.ts',
    testName: '(S-95)',
  },
  {
    name: 'registrations-of-address',
    what: 'one address begins only so many registrations',
    attack: 95,
    removals: [{ text: "  if (!charged.ok) return { ...charged, reason: 'rate-limited' };\n" }],
    test: 'test/attacks/flows-begun.test.ts',
    testName: '(S-95)',
  },
  {
    name: 'exchange-locks-user',
    what: 'the redemption of a code locks the user',
    attack: 102,
    removals: [
      {
        text: '       for share\n  ), sign_in as materialized (\n    select id from user_sessions',
        instead: '  ), sign_in as materialized (\n    select id from user_sessions',
      },
    ],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the redemption of a code',
  },
  {
    name: 'exchange-locks-session',
    what: 'the redemption of a code locks the browser session',
    attack: 102,
    removals: [{ text: '       for share\n  ), consumed as (', instead: '  ), consumed as (' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the redemption of a code',
  },
  {
    name: 'refresh-locks-session',
    what: 'a refresh locks the session',
    attack: 102,
    removals: [{ text: '\n     for share of s`;', instead: '`;' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of a refresh',
  },
  {
    name: 'fulfilment-locks-user',
    what: 'the making of a code locks the user',
    attack: 102,
    removals: [
      {
        text: '       for share\n  ), sign_in as materialized (\n    select id, authenticated_at',
        instead: '  ), sign_in as materialized (\n    select id, authenticated_at',
      },
    ],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the making of a code',
  },
  {
    name: 'fulfilment-locks-session',
    what: 'the making of a code locks the browser session',
    attack: 102,
    removals: [{ text: '       for share\n  ), fulfilled as (', instead: '  ), fulfilled as (' }],
    test: 'test/attacks/locks.test.ts',
    testName: 'of the making of a code',
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
  {
    name: 'idle-connections',
    what: 'a connection that asks nothing more is closed',
    attack: 139,
    removals: [{ text: 'keepAliveTimeout: limits.keepAliveTimeoutSeconds * 1000,', instead: 'keepAliveTimeout: 0,' }],
    test: 'test/attacks/slow-connections.test.ts',
    testName: '(S-139)',
  },
  {
    name: 'two-hashes',
    what: 'two hashes are computed at a time',
    attack: 143,
    removals: [
      {
        text: 'if (this.#running < this.#options.concurrency) this.#running += 1;',
        instead: 'if (this.#running < 4 * this.#options.concurrency) this.#running += 1;',
      },
    ],
    test: 'test/attacks/exhaustion.test.ts',
    testName: '(S-143)',
  },
  {
    name: 'linear-expressions',
    what: 'expressions read a text in linear time (a quadratic one is planted)',
    attack: 144,
    removals: [{ text: 'const PLAIN = /^[A-Za-z0-9', instead: 'const PLAIN = /^(?!.*\\.+-$)[A-Za-z0-9' }],
    test: 'test/attacks/exhaustion.test.ts',
    testName: '(S-144)',
  },
  {
    name: 'last-request',
    what: 'what follows the last request of a connection is not served',
    attack: 150,
    removals: [
      {
        text: '    if (connection === undefined || connection.isOver) return;\n    const task',
        instead: '    if (connection === undefined) return;\n    const task',
      },
    ],
    test: 'test/attacks/proxies-and-framing.test.ts',
    testName: '(S-150)',
  },
  {
    name: 'nul',
    what: 'a NUL in a field is refused',
    attack: 159,
    removals: [
      {
        text: "if (PLAIN.test(text)) return text;\n  try {\n    const decoded = decodeURIComponent(text.replaceAll('+', ' '));\n    return decoded.includes('\\0') ? undefined : decoded;",
        instead:
          "if (PLAIN.test(text)) return text;\n  try {\n    return decodeURIComponent(text.replaceAll('+', ' '));",
      },
    ],
    test: 'test/attacks/parsers.test.ts',
    testName: '(S-159)',
  },
  {
    name: 'pipelined-requests',
    what: 'at most 16 requests wait on a connection',
    attack: 175,
    removals: [
      {
        text: 'if (this.#waiting.length === MAX_PIPELINED) {',
        instead: 'if (this.#waiting.length === 1000 * MAX_PIPELINED) {',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-175)',
  },
  {
    name: 'unread-answers',
    what: 'the next request is served once the answer before it was taken',
    attack: 175,
    removals: [{ text: 'if (this.#previous?.isSent === false) {', instead: 'if (this.#previous === undefined) {' }],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-175)',
  },
  {
    name: 'reserved-names',
    what: 'the names of administrators are reserved',
    attack: 177,
    removals: [{ text: "if (policy.reservedUsernames.has(foldUsername(name))) problems.add('username-reserved');" }],
    test: 'test/attacks/registration.test.ts',
    testName: 'S-177',
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
    name: 'unknown-clients',
    what: 'ids that no client has share one counter',
    attack: 179,
    removals: [
      {
        text: 'origin: headers.origin }, client?.id);',
        instead: 'origin: headers.origin }, client?.id ?? claimed);',
      },
    ],
    test: 'test/attacks/random-client-ids.test.ts',
    testName: '(S-179)',
  },
  {
    name: 'unknown-clients-in-memory',
    what: 'few ids that no client has are remembered',
    attack: 179,
    removals: [{ text: '      dropOldest(this.#unknown, MAX_UNKNOWN);\n' }],
    test: 'test/attacks/random-client-ids.test.ts',
    testName: '(S-179)',
  },
  {
    name: 'failures-of-public-clients',
    what: 'failures of clients without a secret are not counted',
    attack: 182,
    removals: [
      { text: "if (hasSecret(presented) && client?.authMethod !== 'none')", instead: 'if (hasSecret(presented))' },
    ],
    test: 'src/features/token/client-authentication.test.ts',
    testName: '(S-182)',
  },
  {
    name: 'failures-by-foreign-pages',
    what: 'failures that a foreign page causes are not counted',
    attack: 182,
    removals: [{ text: '    if (source.origin !== undefined && source.origin !== origin) return;\n' }],
    test: 'src/features/token/client-authentication.test.ts',
    testName: '(S-182)',
  },
  {
    name: 'failures-by-address',
    what: 'failures shut a client for one address',
    attack: 182,
    removals: [{ text: 'addressKey(clientAddress)}`;', instead: 'typeof clientAddress}`;' }],
    test: 'src/features/token/client-authentication.test.ts',
    testName: '(S-182)',
  },
  {
    name: 'estimates-of-address',
    what: 'one address has one estimate at work',
    attack: 183,
    removals: [{ text: '      if (busy.has(address)) continue;\n' }],
    test: 'src/domain/accounts/passwords/strength-estimator.test.ts',
    testName: '(S-183)',
  },
  {
    name: 'estimates-waiting',
    what: 'few estimates of one address wait',
    attack: 183,
    removals: [
      {
        text: "    if (hasTooMany) throw overloaded('too many password estimates of one address are waiting');\n",
      },
    ],
    test: 'test/attacks/registration.test.ts',
    testName: 'sixteen passwords',
  },
  {
    name: 'loopback-port',
    what: 'only a public client varies the port of a loopback address',
    attack: 186,
    removals: [{ text: '  if (!client.isPublic) return false;\n' }],
    test: 'src/features/authorization/authorization.test.ts',
    testName: 'S-186',
  },
  {
    name: 'order-of-refusals',
    what: 'bytes that are not a request are answered in their turn',
    attack: 185,
    removals: [
      {
        text: 'connection.admit(new RawRefusal(connection, rejection.status));',
        instead: 'new RawRefusal(connection, rejection.status).start();',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-185)',
  },
  {
    name: 'silent-embedding',
    what: 'a frame is served only a question by prompt=none',
    attack: 181,
    removals: [
      { text: ' && isPossible' },
      {
        text: "if (headers['sec-fetch-dest'] === 'iframe' && !prompts.includes('none')) throw",
        instead: 'if (prompts.length > 99) throw',
      },
    ],
    test: 'src/features/authorization/embedding.test.ts',
    testName: 'a page of another site embeds',
  },
  {
    name: 'owner-of-files',
    what: 'a service that runs as root refuses files of other users',
    attack: 184,
    removals: [
      {
        text: 'if (account.uid === ROOT && status.uid !== ROOT) {',
        instead: 'if (account.uid !== ROOT && status.uid !== ROOT && status.uid !== account.uid) {',
      },
    ],
    test: 'src/app/data-directory/data-directory.test.ts',
    testName: 'S-184',
  },
  {
    name: 'bodies-take-no-place',
    what: 'a request takes a place among those in flight once its body is there',
    attack: 176,
    removals: [
      {
        text: '    this.#settings.inFlight.leave(this);\n    const bytes = await reading;',
        instead: '    const bytes = await reading;',
      },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-176)',
  },
  {
    name: 'kept-capacity',
    what: 'health, discovery, introspection and sign-in have places of their own',
    attack: 176,
    removals: [
      { text: 'if (this.isFull && !isKept) throw overloaded();', instead: 'if (this.isFull) throw overloaded();' },
    ],
    test: 'src/platform/http/limits.test.ts',
    testName: '(S-176)',
  },
  {
    name: 'connections-of-network',
    what: 'connections are counted by the /64 of an IPv6 address',
    attack: 180,
    removals: [
      {
        text: 'const counted = peer.isTrusted ? undefined : addressKey(peer.address);',
        instead: 'const counted = peer.isTrusted ? undefined : peer.address;',
      },
    ],
    test: 'test/attacks/connections.test.ts',
    testName: '(S-180)',
  },
  {
    name: 'descriptors',
    what: 'idle connections are closed when file descriptors run out',
    attack: 187,
    removals: [
      {
        text: 'return this.#bySocket.size < this.#descriptors.connections || this.#closeOne();',
        instead: 'return true;',
      },
      { text: '      if (!this.#closeOne()) return;\n' },
    ],
    test: 'test/attacks/process-limits.test.ts',
    testName: '(S-187)',
    isBuilt: true,
  },
  {
    name: 'public-suffixes',
    what: 'an address of a client lies on a domain that somebody owns',
    attack: 50,
    removals: [{ text: "return isPublicSuffix(hostname) ? 'is not using a valid domain' : undefined;" }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-50)',
  },
  {
    name: 'host-of-client',
    what: 'an address of a client has the host of its client_uri',
    attack: 50,
    removals: [
      {
        text: 'if (policy.allowHostMismatch) return undefined;',
        instead: 'if (host !== this.#host) return undefined;',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-50)',
  },
  {
    name: 'repeated-members',
    what: 'a JSON member that is repeated is refused',
    attack: 51,
    removals: [
      { text: 'if (countMembers(value, 1) !== countColons(text))', instead: 'if (countMembers(value, 1) < 0)' },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-51)',
  },
  {
    name: 'private-keys-of-clients',
    what: 'a client that shows a private key is told',
    attack: 53,
    removals: [
      {
        text: 'if (PRIVATE_MEMBERS.some((name) => members.has(name)))',
        instead: 'if (PRIVATE_MEMBERS.length === 0)',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-53)',
  },
  {
    name: 'clients-of-address',
    what: 'a client is stored only when its address has a token left',
    attack: 54,
    removals: [
      {
        text: ':metadataDigest::text, :metadata::jsonb, :now::timestamptz\n      from charged',
        instead: ':metadataDigest::text, :metadata::jsonb, :now::timestamptz\n      from wanted',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-54)',
  },
  {
    name: 'equal-registrations',
    what: 'equal registrations without a secret share one client',
    attack: 54,
    removals: [{ text: 'secret === undefined ? digestOf(registration) : null', instead: 'null' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-54)',
  },
  {
    name: 'outbound-addresses',
    what: 'only addresses that may be reached are connected to',
    attack: 52,
    removals: [{ text: 'addresses.filter(mayReach)', instead: 'addresses' }],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: 'a name with the address of',
  },
  {
    name: 'outbound-literals',
    what: 'an address in place of a host name is refused',
    attack: 52,
    removals: [{ text: "isIP(hostname.replace(/^\\[|\\]$/g, '')) === 0 &&" }],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: 'refused without a connection',
  },
  {
    name: 'outbound-ports',
    what: 'a client names only the ports of https',
    attack: 52,
    removals: [
      { text: "this.#options.allowedPorts.includes(port === '' ? 443 : Number(port))", instead: 'port !== undefined' },
    ],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: 'refused without a connection',
  },
  {
    name: 'outbound-pinned',
    what: 'a connection is made for each request, to an address that was looked up for it',
    attack: 52,
    removals: [{ text: "'https:': new HttpsAgent()", instead: "'https:': new HttpsAgent({ keepAlive: true })" }],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: 'changes its address',
  },
  {
    name: 'outbound-size',
    what: 'a body is cut off at its bound',
    attack: 52,
    removals: [{ text: 'if (size > MAX_BODY_BYTES) fail', instead: 'if (size < 0) fail' }],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: '256 KiB are read',
  },
  {
    name: 'outbound-decoded-size',
    what: 'a body is bounded after decoding too',
    attack: 52,
    removals: [{ text: '{ maxOutputLength: MAX_BODY_BYTES }', instead: '{}' }],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: 'that grows without bound',
  },
  {
    name: 'outbound-time',
    what: 'a request has an end',
    attack: 52,
    removals: [{ text: 'maxHeaderSize: MAX_HEAD_BYTES,\n        signal,', instead: 'maxHeaderSize: MAX_HEAD_BYTES,' }],
    test: 'src/platform/outbound-http/outbound-http.test.ts',
    testName: 'that never come',
  },
  {
    name: 'registration-token-of-client',
    what: 'a registration access token is for the client that got it',
    attack: 55,
    removals: [
      {
        text: 'registration_token_hash is not distinct from :tokenHash::bytea as is_token_of_client',
        instead: ':tokenHash::bytea is not null as is_token_of_client',
      },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'static-clients-unmanaged',
    what: 'a client of the configuration has no registration access token',
    attack: 55,
    removals: [{ text: "if (row?.is_static === true) return { ok: false, reason: 'static' };" }],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'secrets-of-service',
    what: 'a client cannot choose its secret',
    attack: 55,
    removals: [
      { text: 'if (secret === undefined || client.secret?.matches(secret) === true) return;', instead: 'return;' },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'client-id-kept',
    what: 'a client cannot take another ID',
    attack: 55,
    removals: [
      { text: "if (id !== client.id) throw invalidMetadata('client_id', 'must be the one of this address');" },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'managed-client-locked',
    what: 'changes of one client wait for each other',
    attack: 55,
    removals: [
      {
        text: "'lock-managed-client', `${byIdAndToken} for no key update`",
        instead: "'lock-managed-client', byIdAndToken",
      },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'logo-types',
    what: 'a logo is served only as the picture that its content is',
    attack: 74,
    removals: [{ text: 'if (!fetched.ok || contentType === undefined)', instead: 'if (!fetched.ok)' }],
    test: 'src/features/client-logos/client-logos.test.ts',
    testName: 'is a letter instead (S-74)',
  },
  {
    name: 'logo-policy',
    what: 'scripts in a drawing do not run on our origin',
    attack: 74,
    removals: [
      {
        text: "const caching = { 'cache-control': 'public, max-age=300', etag, ...POLICY };",
        instead: "const caching = { 'cache-control': 'public, max-age=300', etag };",
      },
    ],
    test: 'src/features/client-logos/client-logos.test.ts',
    testName: 'may not run scripts (S-74)',
  },
  {
    name: 'bound-token-needs-key',
    what: 'an access token that is bound to a key is live with that key alone',
    attack: 48,
    removals: [{ text: ' and t.dpop_jkt is not distinct from :tokenKey::text' }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'stolen is worth nothing as Bearer',
  },
  {
    name: 'proof-once',
    what: 'a DPoP proof is accepted once',
    attack: 48,
    removals: [{ text: 'if (await consumeOnce(database, oneTime(proof, now), now)) return;', instead: 'return;' }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'a proof is good once, on all instances (S-48)',
  },
  {
    name: 'session-needs-key',
    what: 'the session of a public client refreshes with its key alone',
    attack: 48,
    removals: [
      {
        text: "if (row.dpop_jkt !== null && row.dpop_jkt !== request.provenKey?.thumbprint) return { ok: false, reason: 'key' };",
      },
    ],
    test: 'test/attacks/dpop.test.ts',
    testName: 'refreshes with its key alone',
  },
  {
    name: 'code-needs-key',
    what: 'a code that is bound to a key is redeemed with that key alone',
    attack: 48,
    removals: [{ text: "if (!isKeyOf(row, request)) return refuse('key');" }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'is redeemed with that key alone',
  },
  {
    name: 'proof-needs-its-token',
    what: 'a proof holds the hash of the access token that it comes with',
    attack: 48,
    removals: [{ text: 'accessToken !== undefined && ath !==', instead: 'accessToken === null && ath !==' }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'without a proof, or with one that does not fit the request',
  },
  {
    name: 'proof-method',
    what: 'a proof is for one method',
    attack: 48,
    removals: [
      { text: "if (htm !== request.method) return 'the htm of the proof must be the method of the request';" },
    ],
    test: 'src/protocol/oauth/dpop-proof.test.ts',
    testName: 'for another method',
  },
  {
    name: 'proof-url',
    what: 'a proof is for one URL',
    attack: 48,
    removals: [{ text: "typeof htu !== 'string' || !isSameUrl(htu, request.url)", instead: "typeof htu !== 'string'" }],
    test: 'src/protocol/oauth/dpop-proof.test.ts',
    testName: 'for another host',
  },
  {
    name: 'proof-age',
    what: 'a proof is good for a minute',
    attack: 48,
    removals: [{ text: 'age > MAX_AGE_MS || age < -MAX_AHEAD_MS', instead: 'age < -MAX_AHEAD_MS' }],
    test: 'src/protocol/oauth/dpop-proof.test.ts',
    testName: '61 s old',
  },
  {
    name: 'proof-future',
    what: 'a proof is not made in advance',
    attack: 48,
    removals: [{ text: 'age > MAX_AGE_MS || age < -MAX_AHEAD_MS', instead: 'age > MAX_AGE_MS' }],
    test: 'src/protocol/oauth/dpop-proof.test.ts',
    testName: '11 s ahead',
  },
  {
    name: 'proof-signature',
    what: 'the signature of a proof is that of its key',
    attack: 48,
    removals: [
      {
        text: "if (!(await isSignedBy(jws, key.key))) return wrong('the signature of the proof does not fit its jwk');",
      },
    ],
    test: 'src/protocol/oauth/dpop-proof.test.ts',
    testName: 'with the key of another',
  },
  {
    name: 'proof-type',
    what: 'a JWT of another type is no proof',
    attack: 48,
    removals: [{ text: "if (jws.type !== 'dpop+jwt') return wrong('the typ of the proof must be dpop+jwt');" }],
    test: 'src/protocol/oauth/dpop-proof.test.ts',
    testName: 'of another type',
  },
  {
    name: 'proof-nonce',
    what: 'a nonce is one of this service',
    attack: 48,
    removals: [{ text: 'if (madeAt === undefined) return false;', instead: 'if (madeAt === undefined) return true;' }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'made up are refused',
  },
  {
    name: 'bound-clients',
    what: 'a client that takes only bound tokens gets no other',
    attack: 48,
    removals: [{ text: 'if (key !== undefined || !client.hasBoundTokens) return key;', instead: 'return key;' }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'registered for bound tokens gets nothing without a proof',
  },
  {
    name: 'backchannel-guard',
    what: 'the guard keeps logout tokens of clients that registered themselves off inner addresses',
    attack: 52,
    removals: [{ text: '{ isConfigured: session.is_static }', instead: '{ isConfigured: true }' }],
    test: 'src/features/logout/backchannel-logout.test.ts',
    testName: 'S-52',
  },
  {
    name: 'paths-as-received',
    what: 'fixed segments of a path are compared as received',
    attack: 152,
    removals: [{ text: 'if (!isSpelledAs(route.path, path)) return undefined;' }],
    test: 'src/platform/http/answers-over-http.test.ts',
    testName: '(security S-152)',
  },
  {
    name: 'next-key-waits',
    what: 'a key that is only published signs nothing',
    attack: 166,
    removals: [
      {
        text: 'if (key.isActive && !signers.has(key.algorithm))',
        instead: 'if (!signers.has(key.algorithm))',
      },
    ],
    test: 'src/domain/signing-keys/signing-keys.test.ts',
    testName: '(S-166)',
  },
  {
    name: 'former-root-needed',
    what: 'a start without a root key that rows are sealed under is refused',
    attack: 166,
    removals: [{ text: 'if (unknown.length > 0) {', instead: 'if (unknown.length === stored.length) {' }],
    test: 'src/domain/server-state/server-state.test.ts',
    testName: '(S-166',
  },
  {
    name: 'removed-key-verifies-nothing',
    what: 'a signing key that left the set verifies nothing more',
    attack: 167,
    removals: [{ text: 'this.#keys = other.#keys;', instead: 'this.#keys = [...this.#keys, ...other.#keys];' }],
    test: 'src/domain/signing-keys/signing-keys.test.ts',
    testName: '(S-167)',
  },
];

/** Where a text is in the source, or what is wrong with it. */
export function placeOf(root: string, text: string): { readonly file: string; readonly problem?: string } {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test(-support)?\.tsx?$/.test(name))
    .map((name) => join('src', name));
  const places = files.flatMap((file) =>
    new Array<string>(readFileSync(join(root, file), 'utf8').split(text).length - 1).fill(file),
  );
  const [file = ''] = places;
  if (places.length === 1) return { file };
  const found = places.length === 0 ? 'nowhere' : `${places.length} times`;
  return { file, problem: `found ${found} in the source: ${JSON.stringify(text)}` };
}
