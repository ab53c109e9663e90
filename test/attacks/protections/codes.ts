/** Authorization codes, PKCE and the browser that a grant is bound to. */
import type { Protection } from './protection.ts';

export const CODES: readonly Protection[] = [
  {
    name: 'code-own-client',
    what: 'a code can only be redeemed by the client that it was issued to',
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
    what: 'the update that redeems a code checks that it is unused',
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
    what: 'the ticket of a posted authorization request expires after a minute',
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
    what: 'the list of requests started in this browser forgets each after an hour',
    attack: 24,
    removals: [{ text: '\n    .filter((entry) => epochSeconds(now) - entry.at < LIFETIME_SECONDS)' }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'made in this browser',
  },
  {
    name: 'code-lifetime',
    what: 'a code is valid for a minute',
    attack: 15,
    removals: [
      { text: "  if (!isRecent(row.fulfilled_at, rules.lifetimeSeconds * 1000, now)) return refuse('expired');\n" },
      { text: 'new Date(redeeming.presentedAt - authorizationCodeTtlSeconds * 1000)', instead: 'new Date(0)' },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: '(S-15)',
  },
  {
    name: 'code-reuse-late',
    what: 'late reuse of a code ends its session',
    attack: 16,
    removals: [{ text: 'const DOUBLE_SEND_MS = 20_000;', instead: 'const DOUBLE_SEND_MS = 20_000_000;' }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'after 25 s',
  },
  {
    name: 'code-reuse-proof',
    what: 'reuse of a code without its proof ends its session',
    attack: 16,
    removals: [
      {
        text: 'isRecent(row.exchanged_at, DOUBLE_SEND_MS, now) && provesTheSame(row, request, rules)',
        instead: 'now - row.exchanged_at <= DOUBLE_SEND_MS || provesTheSame(row, request, rules)',
      },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'is not a double send',
  },
  {
    name: 'verifier-once',
    what: 'a wrong verifier invalidates the code',
    attack: 18,
    removals: [
      { text: "(reason === 'verifier-wrong' || reason === 'sign-in-gone')", instead: "reason === 'sign-in-gone'" },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'yields no tokens (S-18)',
  },
  {
    name: 'challenge-stripped',
    what: 'a verifier without a challenge is rejected',
    attack: 19,
    removals: [{ text: "if (request.codeVerifier !== undefined) return refuse('verifier-unexpected');" }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: '(S-19)',
  },
  {
    name: 'challenge-required',
    what: 'public clients must send a challenge',
    attack: 20,
    removals: [{ text: '    return isRequired\n', instead: '    return isRequired && false\n' }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'before anyone signs in',
  },
  {
    name: 'challenge-s256',
    what: 'the challenge method must be S256',
    attack: 20,
    removals: [
      {
        text: '  if (method !== CODE_CHALLENGE_METHOD) return',
        instead: "  if (method !== CODE_CHALLENGE_METHOD && method === '') return",
      },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'before anyone signs in',
  },
  {
    name: 'code-redirect-uri',
    what: 'a code must be redeemed with its redirect URI',
    attack: 22,
    removals: [{ text: "  if (!redirectUriFits(row, request.redirectUri)) return refuse('redirect-uri');\n" }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: '(S-22)',
  },
  {
    name: 'decision-of-session',
    what: 'a pending decision is only executed for the session that made it',
    attack: 24,
    removals: [
      { text: 'decision: isOwn(grant, viewer) ? grant.decision : undefined,', instead: 'decision: grant.decision,' },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'is not carried out in another (S-24)',
  },
  {
    name: 'consent-in-its-browser',
    what: 'consent is only skipped in the browser that started the request',
    attack: 24,
    removals: [{ text: '  if (!isBound) return true;\n' }],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'opened in another browser',
  },
  {
    name: 'grant-once',
    what: 'a request is completed once',
    attack: 25,
    removals: [
      { text: "  if (state !== 'pending' && state !== 'expired') {", instead: "  if (state === 'cancelled') {" },
      { text: 'grantIsUndecided(grant)} and', instead: 'grant}.id is not null and' },
    ],
    test: 'test/attacks/codes-and-pkce.test.ts',
    testName: 'never shows its code again',
  },
  {
    name: 'code-resource-granted',
    what: 'a code can only be exchanged for the granted resources',
    attack: 14,
    removals: [
      {
        text: "return request.resources.some((resource) => !row.resources.includes(resource)) ? 'resource' : undefined;",
        instead: 'return undefined;',
      },
    ],
    test: 'test/journeys/resource-indicators.test.ts',
    testName: 'what was not granted at /authorize is invalid_target at exchange',
  },
];
